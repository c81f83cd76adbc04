/**
 * The leader's side of a snapshot: to a follower whose next entry is compacted away it sends the newest one, chunk by
 * chunk, one under way, and no faster than is allowed.
 *
 *     ask how much is there ──▶ load ──▶ send ──▶ answered ──▶ … ──▶ all there ──▶ the follower matches the boundary
 *                                  └── no answer: asked again, later each time ──┘
 *
 * A transfer ends with the term, the session or the follower. What the follower has of it stays there, and the next
 * one of the same snapshot goes on from it.
 */
import type { ChunkLoad, SnapshotProgress } from "./contract.ts";
import { noteRead } from "./disk.ts";
import { invariant } from "./invariant.ts";
import { termAt } from "./log.ts";
import type { SnapshotResponse } from "./messages.ts";
import { post } from "./outbox.ts";
import { enterProbe, noteAnswer, type Progress, type SnapshotTransfer } from "./progress.ts";
import type { LeadingState, RaftState } from "./state.ts";
import { asIndex, type MemberId } from "./types.ts";

const noData = new Uint8Array(0);

/** In longest election timeouts, doubled for each attempt without an answer. */
const longestPatience = 16;
const maxAttempts = 8;
/** So often a follower may find the whole content damaged. */
const maxRestarts = 2;

/** The entry before the follower's next one is compacted away: nothing but a snapshot helps it. */
export function needsSnapshot({ log }: RaftState, peer: Progress): boolean {
  return peer.mode !== "snapshot" && peer.next <= log.boundary.index;
}

/** Asks nothing of a follower that is not there: it is found out when it is heard again. */
export function beginTransfer(state: RaftState, peer: Progress): void {
  const { snapshots, nowMs, options, log } = state;
  const header = snapshots.newest;
  if (header === undefined || snapshots.isDoubtful) return;
  if (nowMs - peer.heardMs > options.electionTimeoutMaxMs) return;
  invariant(header.boundary.index >= log.boundary.index, "the log reaches back to the newest snapshot", {
    boundary: log.boundary,
    snapshot: header.boundary,
  });
  enterProbe(peer, asIndex(header.boundary.index + 1));
  peer.mode = "snapshot";
  peer.transfer = {
    header,
    offset: 0,
    isAnswered: false,
    asked: undefined,
    load: undefined,
    attempts: 0,
    restarts: 0,
    dueMs: nowMs,
    notBeforeMs: nowMs,
  };
  peer.hold = { from: header.boundary.index, newer: 0 };
  tell(state, peer, "begun");
}

/** At the end of a turn: the next step that is due. */
export function continueTransfer(state: RaftState, peer: Progress): void {
  const { transfer } = peer;
  if (transfer === undefined || state.nowMs < transfer.dueMs) return;
  if (transfer.attempts >= maxAttempts) {
    endTransfer(state, peer, "aborted");
    return;
  }
  const patienceMs = Math.min(2 ** transfer.attempts, longestPatience) * state.options.electionTimeoutMaxMs;
  transfer.attempts += 1;
  transfer.dueMs = state.nowMs + patienceMs;
  if (transfer.isAnswered && transfer.offset < transfer.header.bytes) loadChunk(state, peer, transfer);
  else sendChunk(state, peer, transfer, noData);
}

function loadChunk(state: RaftState, peer: Progress, { header, offset }: SnapshotTransfer): void {
  const load: ChunkLoad = {
    peer: peer.id,
    term: state.currentTerm,
    session: peer.session,
    header,
    offset,
    bytes: Math.min(state.options.snapshotChunkBytes, header.bytes - offset),
  };
  peer.transfer!.load = load;
  state.outbox.chunkLoads.push(load);
  noteRead(state.disk, state.nowMs);
}

export function onChunkLoaded(
  state: RaftState,
  leading: LeadingState,
  load: ChunkLoad,
  data: Uint8Array | undefined,
): void {
  const peer = leading.peers.get(load.peer);
  const transfer = peer?.transfer;
  if (peer === undefined || transfer === undefined || !isSame(transfer.load, load)) return;
  transfer.load = undefined;
  if (data === undefined || data.length === 0) doubt(state, peer, transfer);
  else sendChunk(state, peer, transfer, data);
}

function isSame(awaited: ChunkLoad | undefined, load: ChunkLoad): boolean {
  return awaited?.term === load.term && awaited.session === load.session && awaited.offset === load.offset;
}

function sendChunk(state: RaftState, peer: Progress, transfer: SnapshotTransfer, data: Uint8Array): void {
  const { currentTerm: term, nowMs, options } = state;
  const { session } = peer;
  const { header, offset } = transfer;
  transfer.asked = { offset };
  transfer.notBeforeMs = nowMs + (data.length * 1_000) / options.maxSnapshotBytesPerSecond;
  post(state, peer.id, { kind: "snapshotChunk", term, session, header, offset, data });
}

export function onSnapshotResponse(
  state: RaftState,
  leading: LeadingState,
  from: MemberId,
  response: SnapshotResponse,
): void {
  const peer = leading.peers.get(from);
  if (peer === undefined) return;
  noteAnswer(peer, state.nowMs);
  const { transfer } = peer;
  if (transfer === undefined || response.session !== peer.session) return;
  const { header } = transfer;
  if (response.index !== header.boundary.index || response.offset > header.bytes) return;
  if (transfer.asked?.offset !== response.answers) return; // answers an earlier chunk
  const wasWhole = transfer.isAnswered && response.answers + state.options.snapshotChunkBytes >= header.bytes;
  transfer.asked = undefined;
  transfer.isAnswered = true;
  transfer.attempts = 0;
  transfer.offset = response.offset;
  if (response.offset === 0 && response.answers > 0 && wasWhole) transfer.restarts += 1;
  if (transfer.restarts > maxRestarts) doubt(state, peer, transfer);
  // Once all is there, the follower installs it: it is asked now and then whether it still is there itself.
  else if (response.offset === header.bytes)
    transfer.dueMs = state.nowMs + state.options.electionTimeoutMaxMs;
  else transfer.dueMs = Math.max(state.nowMs, transfer.notBeforeMs);
}

/** Our own file seems to be damaged, or is gone. */
function doubt(state: RaftState, peer: Progress, { header }: SnapshotTransfer): void {
  if (state.snapshots.newest === header) state.snapshots.isDoubtful = true;
  state.outbox.snapshotWanted = true;
  endTransfer(state, peer, "aborted");
}

/** The follower acknowledged more. What it has may be more than the snapshot, or enough for it to do without. */
export function onMatchRaised(state: RaftState, peer: Progress): void {
  const newest = state.snapshots.newest?.boundary.index ?? 0;
  if (peer.hold !== undefined && peer.match >= newest) peer.hold = undefined;
  const { transfer } = peer;
  if (transfer === undefined) return;
  // The answer to the last chunk may come late, or never.
  const isWhole =
    transfer.isAnswered && transfer.offset + state.options.snapshotChunkBytes >= transfer.header.bytes;
  if (peer.match >= transfer.header.boundary.index) endTransfer(state, peer, isWhole ? "sent" : "overtaken");
  else if (termAt(state.log, peer.match) !== undefined) endTransfer(state, peer, "overtaken");
}

/** Whatever comes next is found out by a probe, from what the follower has. */
function endTransfer(state: RaftState, peer: Progress, how: SnapshotProgress["kind"]): void {
  tell(state, peer, how);
  if (how === "aborted") peer.hold = undefined;
  enterProbe(peer, asIndex(peer.match + 1));
}

/** A session or an office ends, or the follower goes. */
export function abandonTransfer(state: RaftState, peer: Progress): void {
  tell(state, peer, "aborted");
}

function tell({ outbox }: RaftState, { id, transfer }: Progress, kind: SnapshotProgress["kind"]): void {
  if (transfer !== undefined) outbox.snapshots.push({ kind, peer: id, header: transfer.header });
}

export function nextTransferMs(leading: LeadingState): number {
  let dueMs = Number.POSITIVE_INFINITY;
  for (const { transfer } of leading.peers.values()) {
    if (transfer !== undefined && transfer.dueMs < dueMs) dueMs = transfer.dueMs;
  }
  return dueMs;
}
