/**
 * Linearizable reads by ReadIndex (Dissertation §6.4).
 *
 * A round is confirmed by a quorum that answers a token which the leader made after the round's reads had
 * arrived. The token rises with each round of a term and is never taken from a request, so that no late or
 * repeated answer can confirm a read that came after it (etcd#20418).
 */
import type { RefusalReason } from "./contract.ts";
import { configurationOf } from "./log.ts";
import type { ReadIndexRequest, ReadIndexResponse } from "./messages.ts";
import { post } from "./outbox.ts";
import { hasQuorum } from "./quorum.ts";
import { isBehind } from "./snapshots.ts";
import type { LeaderRead, LeadingState, RaftState } from "./state.ts";
import { asIndex, type MemberId } from "./types.ts";

export function requestRead(state: RaftState, id: number): void {
  const { leading, forwarding, leader } = state;
  if (leading !== undefined) admitRead(state, leading, { kind: "local", id });
  else if (leader === undefined) refuseRead(state, id, "notLeader");
  else if (isBehind(state)) refuseRead(state, id, "elsewhere");
  else if (forwardedReads(state) >= state.options.maxPendingReads) refuseRead(state, id, "overloaded");
  else forwarding.waiting.push(id);
}

function refuseRead(state: RaftState, id: number, reason: RefusalReason): void {
  state.outbox.reads.push({ kind: "refused", id, reason });
}

// --- as leader

export function onReadIndexRequest(state: RaftState, from: MemberId, request: ReadIndexRequest): void {
  const read: LeaderRead = { kind: "remote", from, requestId: request.requestId };
  if (state.leading !== undefined && request.term === state.currentTerm)
    admitRead(state, state.leading, read);
  else answerRefused(state, read, "notLeader");
}

function admitRead(state: RaftState, leading: LeadingState, read: LeaderRead): void {
  const pending = leading.readsWaiting.length + (leading.readRound?.reads.length ?? 0);
  if (pending >= state.options.maxPendingReads) answerRefused(state, read, "overloaded");
  else leading.readsWaiting.push(read);
}

function answerRefused(state: RaftState, read: LeaderRead, reason: RefusalReason): void {
  if (read.kind === "local") refuseRead(state, read.id, reason);
  else respond(state, read.from, read.requestId, -1);
}

function respond(
  state: RaftState,
  to: MemberId,
  requestId: ReadIndexResponse["requestId"],
  readIndex: number,
): void {
  post(state, to, { kind: "readIndexResponse", term: state.currentTerm, requestId, readIndex });
}

/**
 * At the end of a turn: all reads that wait become one round, unless one is under way or nothing of this term
 * is committed yet, for until then the leader may not know the newest commit index (etcd#7331).
 */
export function startReadRound(state: RaftState, leading: LeadingState): void {
  if (leading.readRound !== undefined || leading.readsWaiting.length === 0) return;
  if (state.commitIndex < leading.noopIndex) return;
  leading.token += 1;
  leading.readRound = { token: leading.token, index: state.commitIndex, reads: leading.readsWaiting };
  leading.readsWaiting = [];
  leading.heartbeatOwed = true;
  confirmReads(state, leading); // a sole voter is its own quorum
}

/** Answers the round's reads once a quorum of voters has answered its token or a newer one. */
export function confirmReads(state: RaftState, leading: LeadingState): void {
  const round = leading.readRound;
  if (round === undefined) return;
  const answered = (id: MemberId): boolean =>
    id === state.options.self || (leading.peers.get(id)?.token ?? 0) >= round.token;
  if (!hasQuorum(configurationOf(state.log), answered)) return;
  leading.readRound = undefined;
  const { index } = round;
  const term = state.currentTerm;
  for (const read of round.reads) {
    if (read.kind === "remote") respond(state, read.from, read.requestId, index);
    else state.outbox.reads.push({ kind: "confirmed", id: read.id, index, term, asLeader: true });
  }
}

/** After a pause, answers that were given before it confirm nothing: the reads wait for a new token. */
export function restartReadRound(leading: LeadingState): void {
  if (leading.readRound === undefined) return;
  leading.readsWaiting = [...leading.readRound.reads, ...leading.readsWaiting];
  leading.readRound = undefined;
}

/** Leadership goes, at once and for all its reads. `state` is already what comes after it. */
export function refuseLeaderReads(state: RaftState, leading: LeadingState): void {
  for (const read of leading.readRound?.reads ?? []) answerRefused(state, read, "notLeader");
  for (const read of leading.readsWaiting) answerRefused(state, read, "notLeader");
}

// --- as follower

function forwardedReads(state: RaftState): number {
  let count = state.forwarding.waiting.length;
  for (const round of state.forwarding.rounds) count += round.ids.length;
  return count;
}

/** At the end of a turn: one request for all reads that came in it. */
export function forwardReads(state: RaftState): void {
  const { forwarding, leader } = state;
  if (forwarding.waiting.length === 0 || leader === undefined) return;
  forwarding.counter += 1;
  const { counter } = forwarding;
  const deadlineMs = state.nowMs + state.options.electionTimeoutMaxMs;
  forwarding.rounds.push({ counter, ids: forwarding.waiting, deadlineMs });
  forwarding.waiting = [];
  const requestId = { boot: state.boot, counter };
  post(state, leader, { kind: "readIndexRequest", term: state.currentTerm, requestId });
}

export function onReadIndexResponse(state: RaftState, from: MemberId, response: ReadIndexResponse): void {
  const { forwarding } = state;
  if (from !== state.leader || response.requestId.boot !== state.boot) return;
  const at = forwarding.rounds.findIndex((round) => round.counter === response.requestId.counter);
  if (at < 0) return;
  const [round] = forwarding.rounds.splice(at, 1);
  const index = response.readIndex;
  for (const id of round!.ids) {
    if (index < 0) refuseRead(state, id, "notLeader");
    else confirmForwarded(state, id, index);
  }
}

function confirmForwarded(state: RaftState, id: number, index: number): void {
  state.outbox.reads.push({
    kind: "confirmed",
    id,
    index: asIndex(index),
    term: state.currentTerm,
    asLeader: false,
  });
}

/** Whoever was asked may no longer answer, or we could not read up to what it answers. */
export function refuseForwardedReads(state: RaftState, reason: RefusalReason): void {
  const { forwarding } = state;
  for (const round of forwarding.rounds) for (const id of round.ids) refuseRead(state, id, reason);
  for (const id of forwarding.waiting) refuseRead(state, id, reason);
  forwarding.rounds = [];
  forwarding.waiting = [];
}

export function expireForwardedReads(state: RaftState): void {
  const { rounds } = state.forwarding;
  while (rounds.length > 0 && rounds[0]!.deadlineMs <= state.nowMs) {
    for (const id of rounds.shift()!.ids) refuseRead(state, id, "notLeader");
  }
}
