/**
 * The follower's side of replication: what it takes from its leader, and what it says to it (§5.3).
 *
 * An ack claims only what appends of this session verified **and** what is durable here. Nothing at or below
 * the commit index is ever cut.
 */
import { commitUpTo } from "./commit.ts";
import { noteTruncation } from "./disk.ts";
import { invariant } from "./invariant.ts";
import { appendEntry, lastIndexOfTermAtMost, termAt, truncateLog } from "./log.ts";
import type { AppendRequest, Heartbeat } from "./messages.ts";
import { post } from "./outbox.ts";
import { becomeFollower } from "./roles.ts";
import { isPending } from "./snapshots.ts";
import { createFollowing, type RaftState } from "./state.ts";
import { armElectionTimer } from "./timers.ts";
import { asIndex, type Entry, type Index, type MemberId, type Term } from "./types.ts";

/** The term of the request is our own. */
export function onAppendRequest(state: RaftState, from: MemberId, request: AppendRequest): void {
  hearLeader(state, from);
  if (!enterSession(state, request.session) || !isWellFormed(request)) return;
  if (isPending(state.snapshots.incoming)) return; // the log stands still
  const { prevIndex, prevTerm, entries } = request;
  // Below the commit index the leader's log is ours, whatever this old message says of it (openraft#511).
  if (prevIndex >= state.commitIndex && termAt(state.log, prevIndex) !== prevTerm) {
    reject(state, prevIndex, prevTerm);
    return;
  }
  state.snapshots.incoming = undefined; // we are helped without
  storeEntries(state, entries);
  const end = Math.max(prevIndex + entries.length, state.commitIndex);
  const { following } = state;
  if (end > following.verified) following.verified = asIndex(end);
  commitUpTo(state, asIndex(Math.min(request.commitIndex, end)));
  // With entries on their way to the disk, the ack of their write says more. The first one of a session goes
  // at once: it ends the leader's probing.
  if (end <= state.disk.durableIndex || following.acked < 0) following.ackOwed = true;
}

/**
 * Answered at once: the disk must not depose a leader. It commits no more than appends of this session
 * verified.
 */
export function onHeartbeat(state: RaftState, from: MemberId, heartbeat: Heartbeat): void {
  hearLeader(state, from);
  const { session, token, commitIndex } = heartbeat;
  post(state, from, { kind: "heartbeatResponse", term: state.currentTerm, session, token });
  if (!enterSession(state, session)) return;
  const { verified } = state.following;
  commitUpTo(state, asIndex(Math.min(commitIndex, verified)));
  // The leader believes in more than we know of: we were restarted since. Let it probe, or we never learn
  // what commits.
  if (commitIndex > Math.max(verified, state.commitIndex)) reject(state, commitIndex, state.currentTerm);
}

export function hearLeader(state: RaftState, from: MemberId): void {
  const isNews = state.role !== "follower" || state.leader === undefined;
  invariant(state.role !== "leader" && (isNews || state.leader === from), "a term has one leader", {
    term: state.currentTerm,
    leader: state.leader,
    from,
  });
  if (isNews) becomeFollower(state, state.currentTerm, from);
  state.election.leaderHeardMs = state.nowMs;
  armElectionTimer(state);
}

/** False for a message of a session that the leader has left. */
export function enterSession(state: RaftState, session: number): boolean {
  if (session > state.following.session) state.following = { ...createFollowing(), session };
  return session === state.following.session;
}

/**
 * Entries that follow one another, in terms that the leader can have. Anything else is no append and gets no
 * answer.
 */
function isWellFormed(request: AppendRequest): boolean {
  let index: number = request.prevIndex;
  let term: Term = request.prevTerm;
  for (const entry of request.entries) {
    index += 1;
    if (entry.index !== index || entry.term < term) return false;
    term = entry.term;
  }
  return term <= request.term;
}

function storeEntries(state: RaftState, entries: readonly Entry[]): void {
  const { log, commitIndex } = state;
  let at = 0;
  while (at < entries.length && isHeld(state, entries[at]!)) at += 1;
  const first = entries[at];
  if (first === undefined) return;
  if (first.index <= log.lastIndex) {
    invariant(first.index > commitIndex, "a leader never contradicts a committed entry", {
      index: first.index,
      term: first.term,
      commitIndex,
    });
    truncateLog(log, first.index);
    noteTruncation(state.disk, first.index);
  }
  for (; at < entries.length; at += 1) appendEntry(log, entries[at]!);
}

/** Before the boundary everything is committed, though its terms are forgotten. */
function isHeld(state: RaftState, entry: Entry): boolean {
  return entry.index < state.log.boundary.index || termAt(state.log, entry.index) === entry.term;
}

/** Says where the logs may still agree, so that the leader skips a whole term at a time. */
function reject(state: RaftState, rejectedIndex: Index, prevTerm: Term): void {
  const { log, currentTerm: term, leader, following } = state;
  if (leader === undefined) return;
  const hintIndex = lastIndexOfTermAtMost(log, rejectedIndex, prevTerm);
  const hintTerm = termAt(log, hintIndex);
  invariant(hintTerm !== undefined, "a hint lies in the log", { hintIndex });
  const result = { kind: "rejected", rejectedIndex, hintIndex, hintTerm } as const;
  post(state, leader, { kind: "appendResponse", term, session: following.session, result });
}

/** The end of a follower's turn: one ack for all appends of it, once the term may be spoken of. */
export function flushFollower(state: RaftState): void {
  const { following, disk, leader, currentTerm: term } = state;
  if (!following.ackOwed || leader === undefined || disk.durable.term < term) return;
  const matchIndex = asIndex(Math.min(following.verified, disk.durableIndex));
  following.ackOwed = false;
  following.acked = matchIndex;
  const result = { kind: "matched", matchIndex } as const;
  post(state, leader, { kind: "appendResponse", term, session: following.session, result });
}

/** More of what was verified is durable. */
export function oweAck(state: RaftState): void {
  const { following, disk } = state;
  if (Math.min(following.verified, disk.durableIndex) > following.acked && following.verified > 0) {
    following.ackOwed = true;
  }
}
