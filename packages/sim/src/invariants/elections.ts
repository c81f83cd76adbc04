/**
 * Who leads and who votes: election safety, one vote a term, terms that only rise, leader completeness, and what a
 * leader never does to its own log.
 */
import { asIndex, type RaftState, termAt } from "@quorate/raft";
import type { History, MemberHistory } from "./history.ts";
import { checkElected } from "./membership.ts";

/** After every step of a member. */
export function checkRole(history: History, member: MemberHistory, state: RaftState): void {
  if (state.currentTerm < member.seenTerm) {
    history.fail(
      "terms only rise",
      `${member.member} fell from term ${member.seenTerm} to ${state.currentTerm}`,
    );
  }
  member.seenTerm = state.currentTerm;
  if (state.role === "preCandidate" && state.election.isBroughtForward) history.mark("fast failover");
  if (state.role !== "leader") {
    member.leadsTerm = -1;
    return;
  }
  if (member.leadsTerm !== state.currentTerm) becameLeader(history, member, state);
  else checkAppendOnly(history, member, state);
  member.leaderLastIndex = state.log.lastIndex;
  member.leaderLastTerm = termAt(state.log, state.log.lastIndex);
}

/** Election safety: at most one leader in a term, over all of history and not only at one instant. */
export function checkLeader(history: History, member: MemberHistory, term: number): void {
  const known = history.leaders.get(term);
  if (known === undefined) history.leaders.set(term, member.member);
  else if (known !== member.member) {
    history.fail("election safety", `${member.member} leads term ${term}, which ${known} leads or led`);
  }
}

function becameLeader(history: History, member: MemberHistory, state: RaftState): void {
  const term = state.currentTerm;
  if (member.leadsTerm === -1) history.mark("leader elected");
  member.leadsTerm = term;
  member.matches.clear();
  checkLeader(history, member, term);
  checkOwnVote(history, member, term);
  checkCompleteness(history, member, state);
  checkElected(history, member, state);
}

/** It asked for votes before its own was durable; nobody leads before it is. */
function checkOwnVote(history: History, member: MemberHistory, term: number): void {
  history.require(
    member.term === term && member.vote === member.member,
    "persisted before sent",
    () => `${member.member} leads term ${term}, but its disk holds term ${member.term}, vote ${member.vote}`,
  );
}

/**
 * Leader completeness: whatever was committed **in an earlier term** is in the log of every later leader. What counts
 * is the term in which an entry was committed, not its own: a stale leader may lack an entry of an older term that was
 * committed in a newer one (the published specification that says otherwise is wrong, CCF#7968).
 */
function checkCompleteness(history: History, member: MemberHistory, state: RaftState): void {
  let upTo = 0;
  for (const [commitTerm, index] of history.committedIn) {
    if (commitTerm < state.currentTerm) upTo = Math.max(upTo, index);
  }
  const committed = history.committed[upTo - 1];
  // All before the boundary is committed, and in the snapshot.
  if (committed === undefined || upTo < state.log.boundary.index) return;
  const term = termAt(state.log, asIndex(upTo));
  if (term === committed.term) return;
  const held = term === undefined ? "no entry" : `an entry of term ${term}`;
  history.fail(
    "leader completeness",
    `${member.member} leads term ${state.currentTerm} with ${held} at ${upTo}, where one of term ${committed.term} ` +
      `was committed in term ${committed.commitTerm}`,
  );
}

/** A leader never overwrites or deletes an entry of its own log. */
function checkAppendOnly(history: History, member: MemberHistory, state: RaftState): void {
  const { leaderLastIndex } = member;
  if (leaderLastIndex < state.log.boundary.index) return; // compacted since
  const isKept =
    state.log.lastIndex >= leaderLastIndex &&
    termAt(state.log, asIndex(leaderLastIndex)) === member.leaderLastTerm;
  if (isKept) return;
  history.fail(
    "leader appends only",
    `${member.member}, leader of term ${member.leadsTerm}, changed its log at or before ${leaderLastIndex}`,
  );
}

/** One vote a term, over crashes and changes of role. */
export function checkVote(
  history: History,
  member: MemberHistory,
  term: number,
  vote: string | undefined,
): void {
  const earlier = member.votes.get(term);
  if (vote === earlier) return;
  if (earlier === undefined) member.votes.set(term, vote as MemberHistory["member"]);
  else if (vote === undefined) {
    history.fail(
      "one vote per term",
      `${member.member} forgot in term ${term} that it had voted for ${earlier}`,
    );
  } else {
    history.fail(
      "one vote per term",
      `${member.member} voted in term ${term} for ${vote}, after ${earlier} in the same term`,
    );
  }
}
