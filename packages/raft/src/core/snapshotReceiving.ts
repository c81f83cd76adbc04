/**
 * The follower's side of a snapshot: what it takes, and how it comes to stand on it.
 *
 * Only what is newer than everything committed here is taken. The log stands still from the moment at which all chunks
 * are here until store, machine and core begin at the snapshot together; nothing is acknowledged in between.
 */
import { commitUpTo } from "./commit.ts";
import type { ReceivedChunk } from "./contract.ts";
import { enterSession, hearLeader } from "./follower.ts";
import { invariant } from "./invariant.ts";
import { compactLog, lastTerm, replaceLog } from "./log.ts";
import type { SnapshotChunk } from "./messages.ts";
import { post } from "./outbox.ts";
import { refuseForwardedReads } from "./reads.ts";
import { isHeld, isPending } from "./snapshots.ts";
import { clearReachedFloor, type RaftState } from "./state.ts";
import { asIndex, type MemberId, type SnapshotHeader } from "./types.ts";

/** The term of the chunk is our own. */
export function onSnapshotChunk(state: RaftState, from: MemberId, message: SnapshotChunk): void {
  hearLeader(state, from);
  if (!enterSession(state, message.session)) return;
  const { header } = message;
  const { snapshots } = state;
  if (isPending(snapshots.incoming)) {
    answerPending(state, from, message);
    return;
  }
  if (isHeld(state, header.boundary)) {
    snapshots.incoming = undefined;
    acknowledge(state, header);
    return;
  }
  snapshots.incoming = { header, phase: "receiving", heardMs: state.nowMs };
  refuseForwardedReads(state, "elsewhere");
  state.outbox.chunks.push({ from, message });
}

/** What it stands for is committed and in our log, as far as that goes: the leader need not send it. */
function acknowledge(state: RaftState, { boundary }: SnapshotHeader): void {
  const { following } = state;
  const end = Math.max(boundary.index, state.commitIndex);
  if (end > following.verified && end <= state.log.lastIndex) following.verified = asIndex(end);
  commitUpTo(state, asIndex(Math.min(boundary.index, state.log.lastIndex)));
  following.ackOwed = true;
}

function answerPending(state: RaftState, from: MemberId, message: SnapshotChunk): void {
  const { incoming } = state.snapshots;
  if (incoming?.header.checksum === message.header.checksum && isSame(incoming.header, message.header)) {
    respond(state, from, message, message.header.bytes);
  }
}

function isSame(one: SnapshotHeader, other: SnapshotHeader): boolean {
  return one.boundary.index === other.boundary.index && one.boundary.term === other.boundary.term;
}

export function onChunkStored(state: RaftState, { from, message }: ReceivedChunk, offset: number): void {
  if (message.term !== state.currentTerm || state.leader !== from) return;
  if (message.session === state.following.session) respond(state, from, message, offset);
}

function respond(state: RaftState, to: MemberId, message: SnapshotChunk, offset: number): void {
  const { session, header, offset: answers } = message;
  const { index } = header.boundary;
  post(state, to, { kind: "snapshotResponse", term: state.currentTerm, session, index, answers, offset });
}

/** One that we do without by now is left where it is; the next one takes its place. */
export function onSnapshotReceived(state: RaftState, header: SnapshotHeader): void {
  const { snapshots } = state;
  const { incoming } = snapshots;
  if (incoming === undefined || isPending(incoming) || !isSame(incoming.header, header)) return;
  if (isHeld(state, header.boundary)) {
    snapshots.incoming = undefined;
    acknowledge(state, header);
  } else incoming.phase = "received";
}

/** At the end of a turn, once log and disk are equal: only then can the store see what of the log is to be kept. */
export function nextInstall({ snapshots, disk }: RaftState): SnapshotHeader | undefined {
  const { incoming } = snapshots;
  if (incoming?.phase !== "received" || disk.outstanding !== undefined) return undefined;
  incoming.phase = "installing";
  return incoming.header;
}

export function onSnapshotInstalled(state: RaftState, header: SnapshotHeader): void {
  const { snapshots, log, disk, following } = state;
  const { index } = header.boundary;
  invariant(snapshots.incoming?.phase === "installing", "only what was to be installed is", { index });
  invariant(index > state.commitIndex, "a snapshot is installed over older state only", {
    index,
    commitIndex: state.commitIndex,
  });
  snapshots.incoming = undefined;
  snapshots.newest = header;
  snapshots.isDoubtful = false;
  snapshots.compactableTo = index;
  if (isHeld(state, header.boundary)) compactLog(log, index);
  else replaceLog(log, header);
  invariant(lastTerm(log) <= state.currentTerm, "no entry is of a term that was never reached", { index });
  disk.durableIndex = log.lastIndex;
  disk.handedIndex = log.lastIndex;
  state.commitIndex = index;
  state.appliedIndex = index;
  clearReachedFloor(state);
  if (index > following.verified) following.verified = index;
  if (state.leader !== undefined && following.session > 0) following.ackOwed = true;
}
