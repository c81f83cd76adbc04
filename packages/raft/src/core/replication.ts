/**
 * The leader's side of replication: what it sends to each follower, and what it learns from the answers
 * (§5.3).
 *
 * Nothing is sent while events are taken in; `flushLeader` sends once at the end of a turn, so that all
 * proposals of a turn share one append a peer. Whatever may be lost on the way is found out again by the next
 * heartbeat.
 */
import { heldForLeader } from "./awaitedLeader.ts";
import { commitByCount } from "./commit.ts";
import type { Load, RefusalReason } from "./contract.ts";
import { noteRead } from "./disk.ts";
import { hold } from "./heldProposals.ts";
import { invariant } from "./invariant.ts";
import { cachedFrom, firstCachedIndex, lastIndexOfTermAtMost, termAt } from "./log.ts";
import type { AppendResponse, AppendResult, HeartbeatResponse } from "./messages.ts";
import { post } from "./outbox.ts";
import {
  beginSession,
  clearInflight,
  enterProbe,
  hasRoom,
  isOverdue,
  noteAnswer,
  type Progress,
  raiseMatch,
  recordSent,
} from "./progress.ts";
import { confirmReads, startReadRound } from "./reads.ts";
import { appendOwn } from "./roles.ts";
import {
  abandonTransfer,
  beginTransfer,
  continueTransfer,
  needsSnapshot,
  onMatchRaised,
} from "./snapshotSending.ts";
import type { LeadingState, RaftState } from "./state.ts";
import { asIndex, type Entry, type EntryKind, type MemberId } from "./types.ts";

export function propose(state: RaftState, id: number, kind: EntryKind, data: Uint8Array): void {
  const { leading } = state;
  const holder = leading === undefined ? heldForLeader(state) : leading.transfer?.held;
  if (holder !== undefined) {
    hold(state, holder, { id, kind, data });
    return;
  }
  const reason = leading === undefined ? "notLeader" : overload(state, leading, data.length);
  if (leading === undefined || reason !== undefined) {
    state.outbox.proposals.push({ kind: "refused", id, reason: reason ?? "notLeader" });
    return;
  }
  invariant(kind !== "configuration", "membership does not change", { id });
  const term = state.currentTerm;
  const index = appendOwn(state.log, term, kind, data);
  leading.uncommittedBytes += data.length;
  state.outbox.proposals.push({ kind: "appended", id, index, term });
}

/** The no-op counts for nothing; one entry larger than the limit may go when nothing else is uncommitted. */
function overload(state: RaftState, leading: LeadingState, bytes: number): RefusalReason | undefined {
  const { maxUncommittedBytes, maxUncommittedEntries } = state.options;
  const entries = state.log.lastIndex - Math.max(state.commitIndex, leading.noopIndex);
  const fits = entries === 0 || leading.uncommittedBytes + bytes <= maxUncommittedBytes;
  return entries < maxUncommittedEntries && fits ? undefined : "overloaded";
}

// --- answers

export function onAppendResponse(
  state: RaftState,
  leading: LeadingState,
  from: MemberId,
  response: AppendResponse,
): void {
  const peer = leading.peers.get(from);
  if (peer === undefined) return;
  noteAnswer(peer, state.nowMs);
  if (response.session !== peer.session) return;
  const { result } = response;
  if (result.kind === "rejected") onRejected(state, leading, peer, result);
  else if (result.matchIndex <= state.log.lastIndex && raiseMatch(peer, result.matchIndex)) {
    onMatchRaised(state, peer);
    commitByCount(state, leading);
  }
}

function onRejected(
  state: RaftState,
  leading: LeadingState,
  peer: Progress,
  result: Extract<AppendResult, { kind: "rejected" }>,
): void {
  const { rejectedIndex, hintIndex, hintTerm } = result;
  if (rejectedIndex === 0) return; // index 0 is equal in every log
  if (rejectedIndex <= peer.match) {
    // Late, or the follower lost what it had acknowledged. A new session tells: in it, nothing old is
    // believed.
    leading.session += 1;
    abandonTransfer(state, peer);
    beginSession(peer, leading.session);
    return;
  }
  if (peer.mode === "snapshot") return; // answers what was sent before
  if (peer.mode === "probe" && rejectedIndex !== peer.next - 1) return; // answers an earlier probe
  // Before our log begins nothing is known of terms: a snapshot will have to do.
  const isCompacted = hintIndex < state.log.boundary.index;
  const agreed = isCompacted ? hintIndex : lastIndexOfTermAtMost(state.log, hintIndex, hintTerm);
  const next = Math.max(peer.match, Math.min(rejectedIndex - 1, agreed)) + 1;
  enterProbe(peer, asIndex(next));
}

/** A follower that answers heartbeats but not appends has lost some. */
export function onHeartbeatResponse(
  state: RaftState,
  leading: LeadingState,
  from: MemberId,
  response: HeartbeatResponse,
): void {
  const peer = leading.peers.get(from);
  if (peer === undefined) return;
  noteAnswer(peer, state.nowMs);
  if (response.token > peer.token && response.token <= leading.token) {
    peer.token = response.token;
    confirmReads(state, leading);
  }
  if (response.session !== peer.session) return;
  if (!isOverdue(peer, state.nowMs, state.options.heartbeatMs)) return;
  if (peer.mode === "probe") clearInflight(peer);
  else peer.emptyOwed = true;
}

export function onLoaded(
  state: RaftState,
  leading: LeadingState,
  load: Load,
  entries: readonly Entry[],
): void {
  const peer = leading.peers.get(load.peer);
  if (peer?.load === undefined || load.term !== state.currentTerm) return;
  if (load.session !== peer.session || load.from !== peer.load.from) return;
  if (!areOurs(state, load, entries)) return; // asked for again after a while
  peer.load = undefined;
  if (needsSnapshot(state, peer)) return; // what it was read for was compacted meanwhile
  if (peer.mode === "replicate" && peer.next === load.from) sendAppend(state, peer, entries);
}

/** Read outside of a turn: believed only when it is still what our log says. */
function areOurs(state: RaftState, load: Load, entries: readonly Entry[]): boolean {
  let index = load.from as number;
  for (const entry of entries) {
    if (entry.index !== index || termAt(state.log, entry.index) !== entry.term) return false;
    index += 1;
  }
  return entries.length > 0;
}

// --- sending

/** The end of a leader's turn. */
export function flushLeader(state: RaftState, leading: LeadingState): void {
  startReadRound(state, leading);
  if (leading.heartbeatOwed) sendHeartbeats(state, leading);
  for (const peer of leading.peers.values()) sendAppends(state, peer);
}

/** The one kind of message that also says that we are there: a round of them puts the next one off. */
function sendHeartbeats(state: RaftState, leading: LeadingState): void {
  leading.heartbeatOwed = false;
  leading.heartbeatDueMs = state.nowMs + state.options.heartbeatMs;
  const { currentTerm: term } = state;
  for (const peer of leading.peers.values()) {
    const commitIndex = asIndex(Math.min(peer.match, state.commitIndex));
    const { session } = peer;
    post(state, peer.id, { kind: "heartbeat", term, session, commitIndex, token: leading.token });
    if (commitIndex > peer.sentCommit) peer.sentCommit = commitIndex;
  }
}

function sendAppends(state: RaftState, peer: Progress): void {
  if (needsSnapshot(state, peer)) beginTransfer(state, peer);
  if (peer.mode === "snapshot") {
    continueTransfer(state, peer);
    return;
  }
  if (needsSnapshot(state, peer)) return; // it is not there, or there is none yet
  if (peer.mode === "probe") {
    if (peer.inflight.length === 0) sendAppend(state, peer, nextEntries(state, peer) ?? []);
    return;
  }
  let sent = false;
  while (peer.next <= state.log.lastIndex && hasRoom(peer, state.options)) {
    const entries = nextEntries(state, peer);
    if (entries === undefined) {
      askForEntries(state, peer);
      break;
    }
    sendAppend(state, peer, entries);
    sent = true;
  }
  const tellsCommit = peer.sentCommit < Math.min(state.commitIndex, peer.next - 1);
  if (!sent && (peer.emptyOwed || tellsCommit)) sendAppend(state, peer, []);
  peer.emptyOwed = false;
}

function nextEntries(state: RaftState, peer: Progress): readonly Entry[] | undefined {
  return cachedFrom(state.log, peer.next, state.log.lastIndex, state.options.maxAppendBytes);
}

function sendAppend(state: RaftState, peer: Progress, entries: readonly Entry[]): void {
  const prevIndex = asIndex(peer.next - 1);
  const prevTerm = termAt(state.log, prevIndex);
  invariant(prevTerm !== undefined, "an append follows an entry that the log knows", {
    prevIndex,
    boundary: state.log.boundary,
  });
  const lastIndex = asIndex(prevIndex + entries.length);
  const { currentTerm: term, commitIndex } = state;
  const { session } = peer;
  post(state, peer.id, { kind: "appendRequest", term, session, prevIndex, prevTerm, commitIndex, entries });
  peer.sentCommit = asIndex(Math.max(peer.sentCommit, Math.min(commitIndex, lastIndex)));
  if (entries.length === 0 && peer.mode === "replicate") return;
  let bytes = 0;
  for (const entry of entries) bytes += entry.data.length;
  recordSent(peer, lastIndex, bytes, state.nowMs);
}

/** One load at a time; one that is never answered is asked for again. */
function askForEntries(state: RaftState, peer: Progress): void {
  const patienceMs = state.options.electionTimeoutMaxMs;
  if (peer.load !== undefined && state.nowMs - peer.loadSentMs < patienceMs) return;
  peer.load = {
    peer: peer.id,
    term: state.currentTerm,
    session: peer.session,
    from: peer.next,
    to: asIndex(firstCachedIndex(state.log) - 1),
    maxBytes: state.options.maxAppendBytes,
  };
  peer.loadSentMs = state.nowMs;
  state.outbox.loads.push(peer.load);
  noteRead(state.disk, state.nowMs);
}
