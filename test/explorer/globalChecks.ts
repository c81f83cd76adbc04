/**
 * What only all nodes together show: one leader a term, matching logs, commits by quorum, agreement, completeness.
 *
 * Checked where it is established, against all that every node ever did.
 */
import { entryText, type LocalState } from "./localState.ts";
import { logTexts, must, type Outcome } from "./transition.ts";

export function checkOutcome(
  nodes: readonly LocalState[],
  at: number,
  { next, becameLeader, committedAs }: Outcome,
): void {
  const { core: state, memory } = next;
  const term = state.currentTerm;
  const others = nodes.filter((_, other) => other !== at);
  if (becameLeader) {
    must(!others.some((other) => other.memory.ledTerms.includes(term)), `S1: one leader in term ${term}`);
    checkCompleteness(nodes, logTexts(next), term);
  }
  if (committedAs === "leader") checkCommitRule(others, next);
  if (committedAs !== undefined) {
    for (const other of others) {
      for (const [index, entry] of other.memory.committed.entries()) {
        const mine = memory.committed[index];
        must(mine === undefined || mine.text === entry.text, `S9: all commit the same at ${index + 1}`);
      }
    }
  }
  checkMatching(others, next);
}

function checkCompleteness(nodes: readonly LocalState[], log: readonly string[], term: number): void {
  for (const { memory } of nodes) {
    for (const [index, entry] of memory.committed.entries()) {
      if (entry.commitTerm >= term) continue;
      must(log[index] === entry.text, `S10: the leader of term ${term} holds ${index + 1}`);
    }
  }
}

/** S8: an entry of the leader's own term, durable on a quorum. */
function checkCommitRule(others: readonly LocalState[], leader: LocalState): void {
  const { commitIndex, currentTerm } = leader.core;
  const text = logTexts(leader)[commitIndex - 1]!;
  must(text.startsWith(`${currentTerm}`), "S8: a leader counts entries of its own term only");
  const durable = [leader, ...others].filter(({ stored }) => {
    const entry = stored.entries[commitIndex - 1];
    return entry !== undefined && entryText(entry) === text;
  });
  must(durable.length * 2 > others.length + 1, `S8: ${commitIndex} is durable on a quorum`);
}

/** S7: where two logs hold the same term at an index, they are equal up to it. */
function checkMatching(others: readonly LocalState[], node: LocalState): void {
  const mine = logTexts(node);
  for (const other of others) {
    const theirs = logTexts(other);
    let at = Math.min(mine.length, theirs.length) - 1;
    while (at >= 0 && termOf(mine[at]!) !== termOf(theirs[at]!)) at -= 1;
    for (; at >= 0; at -= 1) must(mine[at] === theirs[at], `S7: the logs match up to ${at + 1}`);
  }
}

function termOf(text: string): number {
  return Number.parseInt(text, 10);
}
