/**
 * What is committed and applied: the commit rule, agreement, order of indexes, and state-machine safety.
 */
import {
  asIndex,
  configurationOf,
  type Event,
  type MemberId,
  type RaftState,
  termAt,
  votersOf,
} from "@quorate/raft";
import type { ChainLink, Committed, History, MemberHistory } from "./history.ts";
import { committedConfiguration } from "./membership.ts";
import { isQuorum } from "./quorums.ts";

/** After every step of a member. */
export function checkCommit(history: History, member: MemberHistory, state: RaftState, event: Event): void {
  checkOrder(history, member, state);
  if (event.kind === "received" && event.message.kind === "appendResponse") {
    checkMatch(history, member, state, event.from);
  }
  const before = member.seenCommit;
  checkKept(history, member, state);
  const after = state.commitIndex;
  if (after === before) return;
  if (after < before) {
    history.fail("commit index only rises", `${member.member} fell from commit ${before} to ${after}`);
    return;
  }
  member.seenCommit = after;
  if (state.role === "leader") {
    checkCommitRule(history, member, state, after);
    markCommit(history, state, before);
  } else checkFollowerBound(history, member, state, event);
  for (let index = before + 1; index <= after; index += 1) agree(history, member, state, index);
}

/** Nothing at or below the commit index that a member knew is truncated or replaced (CCF CommittedLogAppendOnly). */
function checkKept(history: History, member: MemberHistory, state: RaftState): void {
  const committed = history.committed[member.seenCommit - 1];
  // What is compacted away is in a snapshot, which has a check of its own.
  if (committed === undefined || member.seenCommit < state.log.boundary.index) return;
  const term = termAt(state.log, asIndex(member.seenCommit));
  if (term === committed.term) return;
  history.fail(
    "commit agreement",
    `${member.member} gave up the entry at ${member.seenCommit} of term ${committed.term}, which it knew to be ` +
      `committed; there is now ${term === undefined ? "nothing" : `one of term ${term}`}`,
  );
}

function checkOrder(history: History, member: MemberHistory, state: RaftState): void {
  const { appliedIndex, commitIndex, log, leading } = state;
  if (!(log.boundary.index <= appliedIndex && appliedIndex <= commitIndex && commitIndex <= log.lastIndex)) {
    history.fail(
      "index order",
      `${member.member}: boundary ${log.boundary.index}, applied ${appliedIndex}, commit ${commitIndex}, ` +
        `last ${log.lastIndex}`,
    );
  }
  if (leading === undefined) return;
  for (const peer of leading.peers.values()) {
    if (peer.match < peer.next && peer.match <= log.lastIndex) continue;
    history.fail(
      "index order",
      `${member.member} has match ${peer.match}, next ${peer.next} for ${peer.id}, last ${log.lastIndex}`,
    );
  }
}

/** Within one session of one term, what a leader knows of a follower never falls. */
function checkMatch(history: History, member: MemberHistory, state: RaftState, from: MemberId): void {
  const peer = state.leading?.peers.get(from);
  if (peer === undefined) return;
  const { session, match } = peer;
  const earlier = member.matches.get(from);
  if (earlier !== undefined && earlier.session === session && earlier.match > match) {
    history.fail(
      "index order",
      `${member.member} knew ${earlier.match} entries of ${from} to be equal, and now ${match}, in session ${session}`,
    );
  }
  if (earlier?.session !== session || earlier.match !== match) member.matches.set(from, { session, match });
}

function markCommit(history: History, state: RaftState, before: number): void {
  const first = termAt(state.log, asIndex(before + 1));
  if (first !== undefined && first < state.currentTerm) history.mark("older entry committed indirectly");
  if (state.disk.durableIndex < state.commitIndex) history.mark("committed before the leader's own disk");
}

/**
 * A leader commits only an entry of its own term, and only when a quorum of the configuration in force holds it
 * durably: a majority of each list while it is joint. A step may commit by the configuration that it begins with, and
 * by the one that it appends then; a later configuration may count otherwise.
 */
function checkCommitRule(history: History, member: MemberHistory, state: RaftState, index: number): void {
  const leader = state.options.self;
  const term = termAt(state.log, asIndex(index));
  if (term !== state.currentTerm) {
    history.fail(
      "commit rule",
      `${leader} of term ${state.currentTerm} commits entry ${index} of term ${term} by counting`,
    );
    return;
  }
  const holds = (id: MemberId): boolean => history.hasHeld(history.of(id), index, term);
  const inForce = configurationOf(state.log);
  if (isQuorum(inForce, holds)) return;
  const before = member.inForce?.configuration;
  if (before !== undefined && before !== inForce && isQuorum(before, holds)) return;
  const voters = votersOf(inForce);
  const holding = voters.filter(({ id }) => holds(id));
  history.fail(
    "commit rule",
    `${leader} commits entry ${index} of term ${term}, durable on ${holding.length} of ${voters.length} voters only`,
  );
}

/** A follower takes commit only from what the message in hand verified (CCF#8172). */
function checkFollowerBound(history: History, member: MemberHistory, state: RaftState, event: Event): void {
  if (event.kind !== "received") return;
  const { message } = event;
  if (message.kind !== "appendRequest" && message.kind !== "heartbeat") return;
  if (message.kind === "heartbeat") history.mark("commit learnt from a heartbeat");
  const verified =
    message.kind === "appendRequest" ? message.prevIndex + message.entries.length : message.commitIndex;
  const bound = Math.min(message.commitIndex, verified);
  if (state.commitIndex <= bound) return;
  history.fail(
    "follower commit bound",
    `${member.member} commits up to ${state.commitIndex} on a ${message.kind} that verifies no more than ${bound}`,
  );
}

/**
 * The first report that an entry is committed fixes it; every later one must name the same. Of entries that came in a
 * snapshot the last one is looked at.
 */
function agree(history: History, member: MemberHistory, state: RaftState, index: number): void {
  if (index < state.log.boundary.index && history.committed[index - 1] !== undefined) return;
  const term = termAt(state.log, asIndex(index));
  const known = history.committed[index - 1];
  if (known !== undefined && known.term === term) return; // of one index and term there is one link
  const link: ChainLink | undefined = term === undefined ? undefined : history.link(index, term);
  if (link === undefined) {
    history.fail("commit agreement", `${member.member} commits entry ${index}, which it does not hold`);
  } else if (known === undefined) {
    const committed: Committed = { ...link, commitTerm: state.currentTerm };
    history.committed.push(committed);
    const upTo = history.committedIn.get(state.currentTerm) ?? 0;
    history.committedIn.set(state.currentTerm, Math.max(upTo, index));
    committedConfiguration(history, member, state, index);
  } else if (known.hash !== link.hash) {
    history.fail(
      "commit agreement",
      `${member.member} commits an entry of term ${link.term} at ${index}, where one of term ${known.term} was ` +
        "committed",
    );
  }
}
