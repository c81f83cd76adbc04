/**
 * The next leader is milliseconds away: the process of the last one died a moment ago, or we stand for election.
 *
 * Proposals that come meanwhile are held: appended together with the no-op where we are the successor, else refused as
 * soon as there is another one to be named, which is when it gets our vote. For an election timeout at most, so that a
 * node that is cut off keeps nobody.
 */
import { type HeldProposals, refuse, release } from "./heldProposals.ts";
import type { RaftState } from "./state.ts";

export function awaitLeader({ election, nowMs, options }: RaftState): void {
  election.awaitedUntilMs = nowMs + options.electionTimeoutMaxMs;
}

export function isLeaderAwaited({ election, leader, nowMs }: RaftState): boolean {
  return leader === undefined && nowMs < election.awaitedUntilMs;
}

/** Where a proposal waits; undefined where nothing is about to be decided. */
export function heldForLeader(state: RaftState): HeldProposals | undefined {
  return isLeaderAwaited(state) ? state.election.held : undefined;
}

/** There is a leader, or one that we want, or none came in time. */
export function endAwaiting(state: RaftState): void {
  state.election.awaitedUntilMs = 0;
  refuse(state, release(state.election.held), "notLeader");
}

export function expireAwaiting(state: RaftState): void {
  const { awaitedUntilMs, held } = state.election;
  if (held.items.length > 0 && state.nowMs >= awaitedUntilMs) endAwaiting(state);
}
