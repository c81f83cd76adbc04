/**
 * Fast failover: a process that dies closes its connections, and whoever was connected to it need not wait for its
 * silence.
 *
 * A lost connection is a hint about one link and no proof of a death. It therefore only brings a pre-vote forward, and
 * whoever still hears the leader refuses that: when just one link broke, nothing comes of it.
 *
 * Nobody waits for others to notice: the last one that does is granted what the first ones were refused.
 */
import { awaitLeader, isLeaderAwaited } from "./awaitedLeader.ts";
import { onElectionTimeout } from "./election.ts";
import { configurationOf, lastTerm } from "./log.ts";
import type { PreVoteRequest } from "./messages.ts";
import { votersOf } from "./quorum.ts";
import { nextBetween } from "./random.ts";
import { becomeFollower, mayCampaign } from "./roles.ts";
import type { RaftState } from "./state.ts";
import { armElectionTimer } from "./timers.ts";
import type { MemberId } from "./types.ts";

/**
 * All followers lose a dead leader at the same moment. Two of them ask each other, and one yields. Of more than two,
 * some could win the pre-votes of the others before they hear of one another: those start apart, by a little for each.
 */
const spreadMsPerVoter = 4;
const alwaysTogether = 3;

/** The peer closed its connection with us, or its process died. Never told of our own close, nor of silence. */
export function onPeerLost(state: RaftState, peer: MemberId): void {
  if (state.role !== "follower" || state.leader !== peer) return;
  becomeFollower(state, state.currentTerm, undefined);
  awaitLeader(state);
  if (!mayCampaign(state)) return;
  const { election, nowMs } = state;
  election.isBroughtForward = true;
  const spreadMs = drawnSpreadMs(state);
  if (spreadMs === 0) onElectionTimeout(state);
  else election.deadlineMs = Math.min(election.deadlineMs, nowMs + spreadMs);
}

function drawnSpreadMs({ log, random }: RaftState): number {
  const others = votersOf(configurationOf(log)).length - alwaysTogether;
  return others > 0 ? nextBetween(random, 0, others * spreadMsPerVoter) : 0;
}

/**
 * A pre-vote is refused since our log is newer. Our own round may have come to nothing, for the asker still heard the
 * leader then: where that is gone, it is our turn now and not after a timeout, since without us the asker may not win.
 */
export function goInstead(state: RaftState, asker: MemberId): void {
  const { role, election } = state;
  const isIdle = role === "follower" || (role === "preCandidate" && election.votes.get(asker) === false);
  if (!isIdle || !isLeaderAwaited(state) || !mayCampaign(state)) return;
  election.isBroughtForward = true;
  onElectionTimeout(state);
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
