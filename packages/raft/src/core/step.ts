/**
 * One event in, effects out. This page is the whole of the control flow: who is asked about what, in which
 * order.
 *
 * `step` only changes the state; whatever is to leave is gathered, and `takeEffects` hands it out once a
 * turn.
 */
import { expireAwaiting } from "./awaitedLeader.ts";
import type { Effects, Event, MembershipView, RoleChange } from "./contract.ts";
import { nextWrite, noteReadDone } from "./disk.ts";
import { onElectionTimeout, onPreVoteResponse, onVoteResponse } from "./election.ts";
import { onPeerLost } from "./failover.ts";
import { flushFollower, onAppendRequest, onHeartbeat } from "./follower.ts";
import { invariant, unreachable } from "./invariant.ts";
import { configurationOf, newestConfiguration, trimCache } from "./log.ts";
import { continueMembership, requestMembership } from "./membership.ts";
import { isSameView, membershipView } from "./membershipView.ts";
import type { AppendRequest, Heartbeat, Message, SnapshotChunk } from "./messages.ts";
import { post } from "./outbox.ts";
import { onPersisted } from "./persisted.ts";
import { membersOf, reachedByQuorum } from "./quorum.ts";
import {
  expireForwardedReads,
  forwardReads,
  onReadIndexRequest,
  onReadIndexResponse,
  requestRead,
  restartReadRound,
} from "./reads.ts";
import { flushLeader, onAppendResponse, onHeartbeatResponse, onLoaded, propose } from "./replication.ts";
import { becomeFollower } from "./roles.ts";
import { checkOwnDisk } from "./sickLeader.ts";
import {
  nextInstall,
  onChunkStored,
  onSnapshotChunk,
  onSnapshotInstalled,
  onSnapshotReceived,
} from "./snapshotReceiving.ts";
import { onChunkLoaded, onSnapshotResponse } from "./snapshotSending.ts";
import { nextCompaction, onSnapshotTaken } from "./snapshots.ts";
import type { LeadingState, Outbox, RaftState } from "./state.ts";
import { advanceClock, nextDeadlineMs, restartTimers } from "./timers.ts";
import { expireTransfer, flushTransfer, onTargetLost, onTimeoutNow, requestTransfer } from "./transfer.ts";
import { asIndex, asTerm, type Index, type MemberId } from "./types.ts";
import { onPreVoteRequest, onVoteRequest } from "./vote.ts";

export function step(state: RaftState, event: Event, nowMs: number): void {
  if (advanceClock(state, nowMs)) {
    restartTimers(state);
    if (state.leading !== undefined) restartReadRound(state.leading);
  }
  switch (event.kind) {
    case "tick":
      onTick(state);
      break;
    case "received":
      receive(state, event.from, event.message);
      break;
    case "proposed":
      propose(state, event.id, event.entry, event.data);
      break;
    case "membershipRequested":
      requestMembership(state, event.id, event.changes, event.ifIndex);
      break;
    case "readRequested":
      requestRead(state, event.id);
      break;
    case "persisted":
      onPersisted(state, event.sequence);
      break;
    case "loaded":
      noteReadDone(state.disk);
      if (state.leading !== undefined) onLoaded(state, state.leading, event.load, event.entries);
      break;
    case "applied":
      onApplied(state, event.upTo);
      break;
    case "peerLost":
      if (state.leading !== undefined) onTargetLost(state, state.leading, event.peer);
      else onPeerLost(state, event.peer);
      break;
    case "transferRequested":
      requestTransfer(state, event.id, event.target);
      break;
    case "snapshotTaken":
      onSnapshotTaken(state, event.header, event.compactableTo);
      break;
    case "chunkLoaded":
      noteReadDone(state.disk);
      if (state.leading !== undefined) onChunkLoaded(state, state.leading, event.load, event.data);
      break;
    case "chunkStored":
      onChunkStored(state, event.chunk, event.offset);
      break;
    case "snapshotReceived":
      onSnapshotReceived(state, event.header);
      break;
    case "snapshotInstalled":
      onSnapshotInstalled(state, event.header);
      break;
    default:
      unreachable(event);
  }
}

function onTick(state: RaftState): void {
  expireForwardedReads(state);
  expireAwaiting(state);
  if (state.leading !== undefined) onLeaderTick(state, state.leading);
  else if (state.nowMs >= state.election.deadlineMs) onElectionTimeout(state);
}

/**
 * A leader that a quorum has not answered for an election timeout keeps nobody waiting for it
 * (openraft#2080).
 */
function onLeaderTick(state: RaftState, leading: LeadingState): void {
  const { nowMs, options } = state;
  if (nowMs >= leading.quorumCheckMs) {
    const heardMs = reachedByQuorum(configurationOf(state.log), (id) =>
      id === options.self ? nowMs : (leading.peers.get(id)?.heardMs ?? Number.NEGATIVE_INFINITY),
    );
    leading.quorumCheckMs = heardMs + options.electionTimeoutMaxMs;
    if (nowMs >= leading.quorumCheckMs) {
      becomeFollower(state, state.currentTerm, undefined);
      return;
    }
  }
  expireTransfer(state, leading);
  checkOwnDisk(state, leading);
  if (nowMs >= leading.heartbeatDueMs) leading.heartbeatOwed = true;
}

function onApplied(state: RaftState, upTo: Index): void {
  invariant(upTo <= state.commitIndex, "only what is committed is applied", {
    upTo,
    commitIndex: state.commitIndex,
  });
  if (upTo > state.appliedIndex) state.appliedIndex = upTo;
}

function receive(state: RaftState, from: MemberId, message: Message): void {
  if (from === state.options.self) return;
  if (message.term > state.currentTerm && teachesTerm(message))
    becomeFollower(state, message.term, undefined);
  const isStale = message.term < state.currentTerm;
  const { leading } = state;
  switch (message.kind) {
    case "preVoteRequest":
      onPreVoteRequest(state, from, message);
      break;
    case "preVoteResponse":
      onPreVoteResponse(state, from, message);
      break;
    case "voteRequest":
      onVoteRequest(state, from, message);
      break;
    case "voteResponse":
      if (!isStale) onVoteResponse(state, from, message);
      break;
    case "appendRequest":
      if (isStale) refuseAppend(state, from, message);
      else onAppendRequest(state, from, message);
      break;
    case "appendResponse":
      if (!isStale && leading !== undefined) onAppendResponse(state, leading, from, message);
      break;
    case "heartbeat":
      if (isStale) refuseHeartbeat(state, from, message);
      else onHeartbeat(state, from, message);
      break;
    case "heartbeatResponse":
      if (!isStale && leading !== undefined) onHeartbeatResponse(state, leading, from, message);
      break;
    case "timeoutNow":
      if (!isStale) onTimeoutNow(state, from, message);
      break;
    case "snapshotChunk":
      if (isStale) refuseHeartbeat(state, from, message);
      else onSnapshotChunk(state, from, message);
      break;
    case "snapshotResponse":
      if (!isStale && leading !== undefined) onSnapshotResponse(state, leading, from, message);
      break;
    case "readIndexRequest":
      onReadIndexRequest(state, from, message);
      break;
    case "readIndexResponse":
      if (!isStale) onReadIndexResponse(state, from, message);
      break;
    default:
      unreachable(message);
  }
}

/**
 * Whoever hears of a higher term follows in it (§5.1). Not so for a term that is only proposed, nor for a
 * request for votes, which a node that hears its leader refuses untouched.
 */
function teachesTerm(message: Message): boolean {
  if (message.kind === "preVoteResponse") return !message.granted;
  return message.kind !== "preVoteRequest" && message.kind !== "voteRequest";
}

/** A leader of an older term learns ours and steps down: so it, or we, come back. */
function refuseAppend(state: RaftState, to: MemberId, request: AppendRequest): void {
  const { session, prevIndex: rejectedIndex } = request;
  const result = { kind: "rejected", rejectedIndex, hintIndex: asIndex(0), hintTerm: asTerm(0) } as const;
  post(state, to, { kind: "appendResponse", term: state.currentTerm, session, result });
}

function refuseHeartbeat(state: RaftState, to: MemberId, heartbeat: Heartbeat | SnapshotChunk): void {
  const { session } = heartbeat;
  post(state, to, { kind: "heartbeatResponse", term: state.currentTerm, session, token: 0 });
}

/** Ends the turn: sends what is due, starts a write if none is out, and hands everything over. */
export function takeEffects(state: RaftState): Effects {
  if (state.leading !== undefined) continueMembership(state, state.leading);
  const { leading } = state;
  if (leading !== undefined) {
    flushTransfer(state, leading);
    flushLeader(state, leading);
  } else {
    flushFollower(state);
    forwardReads(state);
  }
  const { outbox } = state;
  state.toldDeadlineMs = nextDeadlineMs(state);
  const persist = nextWrite(state);
  const effects: Effects = {
    persist,
    send: handedOver(outbox.sendNow),
    loads: handedOver(outbox.loads),
    chunkLoads: handedOver(outbox.chunkLoads),
    chunks: handedOver(outbox.chunks),
    install: nextInstall(state),
    compactTo: nextCompaction(state),
    snapshots: handedOver(outbox.snapshots),
    snapshotWanted: outbox.snapshotWanted,
    commitIndex: state.commitIndex,
    proposals: handedOver(outbox.proposals),
    reads: handedOver(outbox.reads),
    memberships: handedOver(outbox.memberships),
    membership: membershipChange(state),
    transfers: handedOver(outbox.transfers),
    roleChange: roleChange(state),
    nextDeadlineMs: state.toldDeadlineMs,
  };
  emptyOutbox(outbox, effects);
  trimMemory(state);
  return effects;
}

function emptyOutbox(outbox: Outbox, effects: Effects): void {
  if (effects.send.length > 0) outbox.sendNow = [];
  if (effects.loads.length > 0) outbox.loads = [];
  if (effects.chunkLoads.length > 0) outbox.chunkLoads = [];
  if (effects.chunks.length > 0) outbox.chunks = [];
  if (effects.snapshots.length > 0) outbox.snapshots = [];
  if (effects.proposals.length > 0) outbox.proposals = [];
  if (effects.reads.length > 0) outbox.reads = [];
  if (effects.memberships.length > 0) outbox.memberships = [];
  if (effects.transfers.length > 0) outbox.transfers = [];
  outbox.snapshotWanted = false;
}

/** Most lists of most turns are empty: those stay with the outbox, and nothing is made for them. */
function handedOver<T>(gathered: readonly T[]): readonly T[] {
  return gathered.length > 0 ? gathered : nothing;
}

/** Not frozen: that would be another kind of array, and slow down whoever goes through the lists. */
const nothing: readonly never[] = [];

function roleChange(state: RaftState): RoleChange | undefined {
  const { role, currentTerm: term, leader, outbox } = state;
  const { toldRole: told } = outbox;
  if (told.role === role && told.term === term && told.leader === leader) return undefined;
  outbox.toldRole = { role, term, leader };
  return outbox.toldRole;
}

/** Looked at only while something of it is open or new, for this is asked at every turn. */
function membershipChange({ log, commitIndex, leading, outbox }: RaftState): MembershipView | undefined {
  const { toldMembership: told } = outbox;
  const isSettled = membersOf(told.inForce.configuration).length === told.linked.length;
  if (isSettled && newestConfiguration(log) === told.inForce) return undefined;
  const view = membershipView(log, commitIndex, leading?.leaving);
  if (isSameView(told, view)) return undefined;
  outbox.toldMembership = view;
  return view;
}

/**
 * Applied entries go first. A state machine that lags reads from the log store rather than fill the memory.
 */
function trimMemory(state: RaftState): void {
  const { maxCachedBytes, maxUncommittedBytes } = state.options;
  const settled = Math.min(state.disk.durableIndex, state.commitIndex);
  trimCache(state.log, asIndex(Math.min(settled, state.appliedIndex)), maxCachedBytes);
  trimCache(state.log, asIndex(settled), maxCachedBytes + maxUncommittedBytes);
}
