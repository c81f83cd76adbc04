/**
 * What is on disk, what is on its way there, and what the next write has to carry.
 *
 * At most one write is out. A truncation cuts the claims of the write that is out as well, so that its
 * completion never marks an overwritten entry durable (the ABA case of asynchronous storage writes).
 */
import type { Persist } from "./contract.ts";
import { invariant } from "./invariant.ts";
import { cachedFrom, type LogState } from "./log.ts";
import type { RaftState } from "./state.ts";
import { asIndex, type Entry, type Floor, type Index, type MemberId, type Term } from "./types.ts";

export interface HardState {
  readonly term: Term;
  readonly vote: MemberId | undefined;
  readonly floor: Floor | undefined;
}

export interface OutstandingWrite {
  readonly sequence: number;
  readonly hardState: HardState;
  readonly sinceMs: number;
  /** Entries up to here are durable once it completes; lowered when they are overwritten meanwhile. */
  upTo: Index;
}

export interface DiskState {
  /** Of the last write that was handed out. */
  sequence: number;
  outstanding: OutstandingWrite | undefined;
  durable: HardState;
  /** The log on disk equals the log in memory up to here. */
  durableIndex: Index;
  /** Entries up to here were handed to a write. */
  handedIndex: Index;
  /** Where the next write has to cut the log on disk. */
  truncateFrom: Index | undefined;
  /** Reads were asked for since then and none was answered; undefined: none is under way. */
  readingSinceMs: number | undefined;
}

export function createDisk(durable: HardState, lastIndex: Index): DiskState {
  return {
    sequence: 0,
    outstanding: undefined,
    durable,
    durableIndex: lastIndex,
    handedIndex: lastIndex,
    truncateFrom: undefined,
    readingSinceMs: undefined,
  };
}

/** Something is read for a follower. */
export function noteRead(disk: DiskState, nowMs: number): void {
  disk.readingSinceMs ??= nowMs;
}

/** The disk has answered: what else is under way counts from when it is asked for again. */
export function noteReadDone(disk: DiskState): void {
  disk.readingSinceMs = undefined;
}

/** How long the disk has owed an answer to a write or a read; 0 where it owes none. */
export function stalledMs({ outstanding, readingSinceMs }: DiskState, nowMs: number): number {
  return nowMs - Math.min(outstanding?.sinceMs ?? nowMs, readingSinceMs ?? nowMs);
}

/** The log in memory was cut: nothing from `from` on counts as written any more. */
export function noteTruncation(disk: DiskState, from: Index): void {
  const kept = asIndex(from - 1);
  if (from <= disk.handedIndex) {
    disk.truncateFrom = from; // of two cuts before a write, the second is always the deeper one
    disk.handedIndex = kept;
  }
  if (disk.durableIndex > kept) disk.durableIndex = kept;
  if (disk.outstanding !== undefined && disk.outstanding.upTo > kept) disk.outstanding.upTo = kept;
}

/** The next write, if none is out and something changed: everything that gathered since the last one. */
export function nextWrite({
  disk,
  currentTerm: term,
  vote,
  floor,
  log,
  snapshots,
  nowMs: sinceMs,
}: RaftState): Persist | undefined {
  if (disk.outstanding !== undefined || snapshots.incoming?.phase === "installing") return undefined;
  const stands = term === disk.durable.term && vote === disk.durable.vote && floor === disk.durable.floor;
  if (stands && disk.truncateFrom === undefined && disk.handedIndex === log.lastIndex) return undefined;
  const from = asIndex(disk.handedIndex + 1);
  const entries = unwritten(log, from);
  const persist = {
    sequence: disk.sequence + 1,
    term,
    vote,
    floor,
    truncateFrom: disk.truncateFrom,
    entries,
  };
  disk.sequence = persist.sequence;
  const { sequence } = persist;
  disk.outstanding = { sequence, hardState: { term, vote, floor }, sinceMs, upTo: log.lastIndex };
  disk.handedIndex = log.lastIndex;
  disk.truncateFrom = undefined;
  return persist;
}

function unwritten(log: LogState, from: Index): readonly Entry[] {
  const entries = cachedFrom(log, from, log.lastIndex, Number.POSITIVE_INFINITY);
  invariant(entries !== undefined, "entries stay in memory until they are durable", { from });
  return entries;
}

/** All of the log in memory is on the disk, and nothing else follows it there. */
export function isLogDurable({ durableIndex, truncateFrom }: DiskState, { lastIndex }: LogState): boolean {
  return durableIndex === lastIndex && truncateFrom === undefined;
}

/** A write is done. False for one that was reported before. */
export function completeWrite(disk: DiskState, sequence: number): boolean {
  const write = disk.outstanding;
  invariant(sequence <= disk.sequence, "only writes that were handed out complete", { sequence });
  if (write === undefined || sequence < write.sequence) return false;
  disk.outstanding = undefined;
  disk.durable = write.hardState;
  if (write.upTo > disk.durableIndex) disk.durableIndex = write.upTo;
  return true;
}

/** The write that makes `term`, and with `withVote` also `vote`, durable; 0 when they are. */
export function writeThatHolds(
  disk: DiskState,
  term: Term,
  vote: MemberId | undefined,
  withVote: boolean,
): number {
  if (holds(disk.durable, term, vote, withVote)) return 0;
  if (disk.outstanding !== undefined && holds(disk.outstanding.hardState, term, vote, withVote)) {
    return disk.outstanding.sequence;
  }
  return disk.sequence + 1;
}

function holds(hardState: HardState, term: Term, vote: MemberId | undefined, withVote: boolean): boolean {
  return hardState.term === term && (!withVote || hardState.vote === vote);
}
