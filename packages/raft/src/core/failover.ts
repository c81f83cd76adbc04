/**
 * Fast failover: a process that dies closes its connections, and whoever was connected to it need not wait for its
 * silence.
 *
 * A lost connection is a hint about one link and no proof of a death. It therefore only brings a pre-vote forward, and
 * whoever still hears the leader refuses that: when just one link broke, nothing comes of it.
 */
import { lastTerm } from "./log.ts";
import type { PreVoteRequest } from "./messages.ts";
import { nextBetween } from "./random.ts";
import { becomeFollower, mayCampaign } from "./roles.ts";
import type { RaftState } from "./state.ts";
import { armElectionTimer } from "./timers.ts";
import type { MemberId } from "./types.ts";

/** All followers lose a dead leader at the same moment: they start apart, by less than an election takes anyway. */
const maxJitterMs = 20;

/** The peer closed its connection with us, or its process died. Never told of our own close, nor of silence. */
export function onPeerLost(state: RaftState, peer: MemberId): void {
  if (state.role !== "follower" || state.leader !== peer) return;
  becomeFollower(state, state.currentTerm, undefined);
  if (!mayCampaign(state)) return;
  const { election, random, nowMs } = state;
  election.deadlineMs = Math.min(election.deadlineMs, nowMs + nextBetween(random, 0, maxJitterMs));
  election.isBroughtForward = true;
}

/**
 * We granted a pre-vote: who granted needs no start of its own so soon. Of two that asked each other at the same
 * moment one goes on, the same in the eyes of both, since the request that each sent arrives before its grant.
 */
export function yieldTo(state: RaftState, from: MemberId, request: PreVoteRequest): void {
  if (!state.election.isBroughtForward) return;
  switch (state.role) {
    case "follower":
      armElectionTimer(state);
      break;
    case "preCandidate":
      if (isPreferred(state, from, request)) becomeFollower(state, state.currentTerm, undefined);
      break;
    case "candidate":
    case "leader":
      break;
  }
}

/** We grant only to a log that is no older than ours: a newer one goes first, and of equal ones the lower name. */
function isPreferred(state: RaftState, from: MemberId, request: PreVoteRequest): boolean {
  const { log, options } = state;
  const isEqual = request.lastIndex === log.lastIndex && request.lastTerm === lastTerm(log);
  return !isEqual || from < options.self;
}
