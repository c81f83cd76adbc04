/**
 * The answering side of an election. An answer depends on term, log, liveness of the leader and muteness
 * alone, not on who is in our configuration, for we may be the one who has not heard of a change.
 *
 * Every refusal is said, with our own term, so that whoever lags behind catches up (etcd#8243).
 */
import { endAwaiting } from "./awaitedLeader.ts";
import { goInstead, yieldTo } from "./failover.ts";
import { type LogState, lastTerm } from "./log.ts";
import type { PreVoteRequest, VoteRequest } from "./messages.ts";
import { post } from "./outbox.ts";
import { becomeFollower } from "./roles.ts";
import type { RaftState } from "./state.ts";
import { hasLiveLeader } from "./timers.ts";
import type { Index, MemberId, Term } from "./types.ts";

/** Changes neither term nor vote nor timer. */
export function onPreVoteRequest(state: RaftState, from: MemberId, request: PreVoteRequest): void {
  const isTimely = request.term > state.currentTerm && !hasLiveLeader(state, from);
  const granted = isTimely && mayVoteFor(state, request);
  const term = granted ? request.term : state.currentTerm;
  if (granted) yieldTo(state, from, request);
  post(state, from, { kind: "preVoteResponse", term, granted });
  if (isTimely && !granted) goInstead(state, from);
}

export function onVoteRequest(state: RaftState, from: MemberId, request: VoteRequest): void {
  const disturbs = request.term > state.currentTerm && !request.transfer && hasLiveLeader(state, from);
  if (!disturbs && request.term > state.currentTerm) becomeFollower(state, request.term, undefined);
  const granted = request.term === state.currentTerm && isFree(state, from) && mayVoteFor(state, request);
  if (granted) giveVote(state, from);
  post(state, from, { kind: "voteResponse", term: state.currentTerm, granted });
}

/** Whoever waits here for a leader is better off where it is likely to be. */
function giveVote(state: RaftState, candidate: MemberId): void {
  state.vote = candidate;
  endAwaiting(state);
}

/** One vote a term, first come, first served; the same candidate may ask again. */
function isFree(state: RaftState, candidate: MemberId): boolean {
  return state.vote === candidate || (state.vote === undefined && state.leader === undefined);
}

function mayVoteFor(state: RaftState, candidate: { lastIndex: Index; lastTerm: Term }): boolean {
  return state.floor === undefined && isUpToDate(state.log, candidate);
}

/** The later last term wins; of equal ones, the longer log (§5.4.1). */
function isUpToDate(log: LogState, candidate: { lastIndex: Index; lastTerm: Term }): boolean {
  const ownTerm = lastTerm(log);
  if (candidate.lastTerm !== ownTerm) return candidate.lastTerm > ownTerm;
  return candidate.lastIndex >= log.lastIndex;
}
