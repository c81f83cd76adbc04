/**
 * The asking side of an election: from the election timeout over the pre-vote to the vote (§5.2, Dissertation
 * §9.6).
 *
 * A candidate's own vote counts like any other: once it is durable. It asks for the others' meanwhile.
 */
import { awaitLeader } from "./awaitedLeader.ts";
import { release } from "./heldProposals.ts";
import { configurationOf, lastTerm } from "./log.ts";
import type { PreVoteResponse, VoteResponse } from "./messages.ts";
import { post } from "./outbox.ts";
import { hasQuorum, votersOf } from "./quorum.ts";
import { propose } from "./replication.ts";
import { becomeCandidate, becomeFollower, becomeLeader, becomePreCandidate, mayCampaign } from "./roles.ts";
import type { RaftState } from "./state.ts";
import { armElectionTimer } from "./timers.ts";
import { asTerm, type MemberId } from "./types.ts";

/**
 * No leader was heard for an election timeout, or the candidacy came to nothing. While term or vote wait for
 * a slow disk no new round starts: the last one has not begun yet (RATIS-980).
 */
export function onElectionTimeout(state: RaftState): void {
  const { durable } = state.disk;
  if (durable.term !== state.currentTerm || durable.vote !== state.vote) armElectionTimer(state);
  else if (mayCampaign(state) && state.nowMs >= state.backoff.untilMs) campaign(state);
  else {
    becomeFollower(state, state.currentTerm, undefined);
    armElectionTimer(state);
  }
}

function campaign(state: RaftState): void {
  const { isBroughtForward } = state.election;
  becomePreCandidate(state);
  state.election.isBroughtForward = isBroughtForward;
  const request = {
    kind: "preVoteRequest",
    term: asTerm(state.currentTerm + 1),
    lastIndex: state.log.lastIndex,
    lastTerm: lastTerm(state.log),
  } as const;
  for (const { id } of votersOf(configurationOf(state.log))) {
    if (id !== state.options.self) post(state, id, request);
  }
  countVote(state, state.options.self, true);
}

/** `transfer`: the leader told us to, and whoever hears it need not refuse us for that. */
export function standForElection(state: RaftState, transfer: boolean): void {
  becomeCandidate(state);
  awaitLeader(state);
  const request = {
    kind: "voteRequest",
    term: state.currentTerm,
    lastIndex: state.log.lastIndex,
    lastTerm: lastTerm(state.log),
    transfer,
  } as const;
  for (const { id } of votersOf(configurationOf(state.log))) {
    if (id !== state.options.self) post(state, id, request);
  }
}

/** Our term and vote are durable. A candidate's time begins now: before, it could not win. */
export function countOwnVote(state: RaftState): void {
  armElectionTimer(state);
  countVote(state, state.options.self, true);
}

/** A refusal's higher term was adopted before. */
export function onPreVoteResponse(state: RaftState, from: MemberId, response: PreVoteResponse): void {
  if (state.role !== "preCandidate") return;
  if (response.granted && response.term !== state.currentTerm + 1) return;
  countVote(state, from, response.granted);
}

/** The term of the response is our own. */
export function onVoteResponse(state: RaftState, from: MemberId, response: VoteResponse): void {
  if (state.role === "candidate") countVote(state, from, response.granted);
}

/** The first answer of each voter counts; one that the configuration does not name never does. */
function countVote(state: RaftState, from: MemberId, granted: boolean): void {
  const { votes } = state.election;
  if (votes.has(from)) return;
  votes.set(from, granted);
  const configuration = configurationOf(state.log);
  if (hasQuorum(configuration, (id) => votes.get(id) === true)) {
    if (state.role === "preCandidate") standForElection(state, false);
    else if (votes.has(state.options.self)) takeOffice(state); // else it waits for its own, needed or not
  } else if (!hasQuorum(configuration, (id) => votes.get(id) !== false)) {
    loseElection(state);
  }
}

/** What waited for the election goes into the log behind the no-op, in the same write. */
function takeOffice(state: RaftState): void {
  becomeLeader(state);
  for (const { id, kind, data } of release(state.election.held)) propose(state, id, kind, data);
}

/**
 * It cannot be won any more. The timer runs on: the next round begins no sooner than without the refusals.
 */
function loseElection(state: RaftState): void {
  const { deadlineMs } = state.election;
  becomeFollower(state, state.currentTerm, undefined);
  state.election.deadlineMs = deadlineMs;
}
