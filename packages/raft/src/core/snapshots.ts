/**
 * What a core knows of snapshots: the newest one of its own, how far the log may be compacted, and the one that is on
 * its way to it.
 *
 * Plain data and its bookkeeping. Content never comes here: it goes from file to wire to file.
 */
import { compactLog, tailBefore, termAt } from "./log.ts";
import type { LeadingState, RaftState } from "./state.ts";
import { asIndex, type Boundary, type Index, type SnapshotHeader } from "./types.ts";

export interface SnapshotsState {
  /** Good for others, and for the next start. */
  newest: SnapshotHeader | undefined;
  /** It could not be read, or those who got it found it damaged: it is sent to nobody. */
  isDoubtful: boolean;
  /** Up to here the log may be compacted, as far as this node itself goes. */
  compactableTo: Index;
  incoming: IncomingSnapshot | undefined;
}

/**
 *     receiving ──▶ received ──▶ installing ──▶ the log begins at it
 *
 * The first may end at any time, with the term, the leader or the session. From `received` on the log stands still.
 */
export interface IncomingSnapshot {
  readonly header: SnapshotHeader;
  phase: "receiving" | "received" | "installing";
  heardMs: number;
}

export function createSnapshots(newest: SnapshotHeader | undefined, boundary: Index): SnapshotsState {
  return { newest, isDoubtful: false, compactableTo: boundary, incoming: undefined };
}

/** In longest election timeouts: how long a transfer that goes silent keeps reads away. */
const patience = 10;

/** A snapshot is on its way: what is committed cannot be applied before it is here. */
export function isBehind({ snapshots, nowMs, options }: RaftState): boolean {
  const { incoming } = snapshots;
  if (incoming === undefined) return false;
  return isPending(incoming) || nowMs - incoming.heardMs < patience * options.electionTimeoutMaxMs;
}

/** It will be installed, whatever else happens. */
export function isPending(incoming: IncomingSnapshot | undefined): boolean {
  return incoming !== undefined && incoming.phase !== "receiving";
}

/** What the snapshot stands for is in our log: then it is committed, and there is nothing to install. */
export function isHeld({ commitIndex, log }: RaftState, { index, term }: Boundary): boolean {
  return index <= commitIndex || termAt(log, index) === term;
}

/** A snapshot of our own. An older one than we have by now, of a peer, changes nothing. */
export function onSnapshotTaken(
  state: RaftState,
  header: SnapshotHeader,
  compactableTo: Index | undefined,
): void {
  const { snapshots, log, options, leading } = state;
  if (header.boundary.index < log.boundary.index) return;
  snapshots.newest = header;
  snapshots.isDoubtful = false;
  const { compactionTailBytes, compactionTailEntries } = options;
  const tail = tailBefore(log, header.boundary.index, compactionTailEntries, compactionTailBytes);
  snapshots.compactableTo = asIndex(Math.min(tail, compactableTo ?? 0));
  if (leading === undefined) return;
  for (const peer of leading.peers.values()) if (peer.hold !== undefined) peer.hold.newer += 1;
}

/**
 * At the end of a turn. The core counts the entries as gone before the disk deletes them, so that nobody asks for them
 * any more. Undefined: nothing is to be done.
 */
export function nextCompaction(state: RaftState): Index | undefined {
  const { log, snapshots, leading } = state;
  let upTo: number = snapshots.compactableTo;
  if (upTo <= log.boundary.index) return undefined;
  if (leading !== undefined) upTo = heldBack(leading, upTo);
  if (upTo <= log.boundary.index || isPending(snapshots.incoming)) return undefined;
  compactLog(log, asIndex(upTo));
  return log.boundary.index;
}

/** So many newer snapshots may be taken while the log is kept for a follower. */
const maxNewer = 4;

/**
 * A follower that was sent a snapshot needs what follows it, or it is sent the next one, and never comes out of that
 * (hashicorp/raft#697). It is given the time of a few snapshots of our own, which bounds the log in entries and in
 * bytes.
 */
function heldBack(leading: LeadingState, upTo: number): number {
  let least = upTo;
  for (const { hold, match } of leading.peers.values()) {
    if (hold !== undefined && hold.newer <= maxNewer) least = Math.min(least, Math.max(hold.from, match));
  }
  return least;
}
