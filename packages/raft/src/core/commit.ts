/**
 * The commit index: how it rises, on a leader by counting, on a follower by what it was told and has
 * verified.
 *
 * It never falls within a start, and never passes the end of the log.
 */
import { invariant } from "./invariant.ts";
import { cachedBytes, configurationOf, termAt } from "./log.ts";
import { reachedByQuorum } from "./quorum.ts";
import type { LeadingState, RaftState } from "./state.ts";
import { asIndex, type Index, type MemberId } from "./types.ts";

/**
 * Commits what a quorum holds durably, provided that it is of this leader's own term: entries of older terms
 * commit with it, never by count (§5.4.2, Figure 8). The leader counts itself like any other, by its own
 * disk.
 */
export function commitByCount(state: RaftState, leading: LeadingState): void {
  const matchOf = (id: MemberId): number =>
    id === state.options.self ? state.disk.durableIndex : (leading.peers.get(id)?.match ?? 0);
  const index = asIndex(reachedByQuorum(configurationOf(state.log), matchOf));
  if (index <= state.commitIndex || termAt(state.log, index) !== state.currentTerm) return;
  releaseUncommitted(state, leading, index);
  commitUpTo(state, index);
}

function releaseUncommitted(state: RaftState, leading: LeadingState, index: Index): void {
  const from = asIndex(Math.max(state.commitIndex, leading.noopIndex) + 1);
  const bytes = cachedBytes(state.log, from, index);
  invariant(bytes !== undefined, "uncommitted entries stay in memory", { from, index });
  leading.uncommittedBytes -= bytes;
}

export function commitUpTo(state: RaftState, index: Index): void {
  if (index <= state.commitIndex) return;
  invariant(index <= state.log.lastIndex, "what commits is in the log", {
    index,
    lastIndex: state.log.lastIndex,
  });
  state.commitIndex = index;
}
