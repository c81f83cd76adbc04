/**
 * The log in memory: the terms of all entries as runs, the last entries themselves, and the configurations.
 *
 * No cost here grows with the length of the log. Entries that left the tail are in the log store. This file
 * knows nothing of the disk, of commitment or of roles: who truncates has checked that it may.
 */
import { decodeConfiguration } from "./configuration.ts";
import type { RestoredState } from "./contract.ts";
import { invariant } from "./invariant.ts";
import {
  asIndex,
  type Boundary,
  type Configuration,
  type ConfigurationAt,
  type Entry,
  type Index,
  type SnapshotHeader,
  type Term,
  type TermRun,
} from "./types.ts";

export interface LogState {
  boundary: Boundary;
  lastIndex: Index;
  /** Ascending in both fields. */
  runs: TermRun[];
  /** The entries in memory, consecutive up to `lastIndex`, from position `head` on; before it there is nothing. */
  tail: (Entry | undefined)[];
  /** What lies before it was let go of; cut off now and then, so that letting go costs next to nothing. */
  head: number;
  /** What the entries in memory take of it: see `heldBytes`. */
  tailBytes: number;
  /** Ascending; the last one is in force. Never empty. */
  configurations: ConfigurationAt[];
}

/**
 * What an entry takes of memory besides its data: the objects that it consists of, and its place in lists. A log of
 * small entries is mostly this.
 */
export const entryOverheadBytes = 160;

function heldBytes({ data }: Entry): number {
  return entryOverheadBytes + data.length;
}

export function createLog(restored: RestoredState): LogState {
  invariant(restored.configurations.length > 0, "a restored log has a configuration", {});
  return {
    boundary: restored.boundary,
    lastIndex: restored.lastIndex,
    runs: [...restored.termRuns],
    tail: [],
    head: 0,
    tailBytes: 0,
    configurations: [...restored.configurations],
  };
}

/** The configuration in force: the newest in the log, committed or not (Dissertation §4.1). */
export function configurationOf(log: LogState): Configuration {
  return newestConfiguration(log).configuration;
}

export function newestConfiguration(log: LogState): ConfigurationAt {
  return log.configurations[log.configurations.length - 1]!;
}

/**
 * The configurations that decide together while it is open which of the newest ones commit: the last one at or before
 * `commitIndex` and all after it.
 */
export function openConfigurations(log: LogState, commitIndex: Index): readonly ConfigurationAt[] {
  let from = log.configurations.length - 1;
  while (from > 0 && log.configurations[from]!.index > commitIndex) from -= 1;
  return log.configurations.slice(from);
}

export function lastTerm(log: LogState): Term {
  return log.runs.length === 0 ? log.boundary.term : log.runs[log.runs.length - 1]!.term;
}

/** The term of the entry at `index`, the boundary's included; undefined when the log does not hold it. */
export function termAt(log: LogState, index: Index): Term | undefined {
  if (index === log.boundary.index) return log.boundary.term;
  if (index < log.boundary.index || index > log.lastIndex) return undefined;
  return log.runs[runAt(log, index)]!.term;
}

/** The position of the run that holds `index`, which lies after the boundary and not after the end. */
function runAt(log: LogState, index: Index): number {
  let low = 0;
  let high = log.runs.length - 1;
  if (log.runs[high]!.firstIndex <= index) return high;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (log.runs[middle]!.firstIndex <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The last index at or before `index` whose term is at most `term`: where two logs may still agree. Both
 * sides of a rejected append use it, so that a probe skips a whole term (§5.3, last paragraphs).
 */
export function lastIndexOfTermAtMost(log: LogState, index: Index, term: Term): Index {
  let found = Math.min(index, log.lastIndex);
  for (let at = log.runs.length - 1; at >= 0 && log.runs[at]!.term > term; at -= 1) {
    found = Math.min(found, log.runs[at]!.firstIndex - 1);
  }
  return asIndex(Math.max(found, log.boundary.index));
}

export function appendEntry(log: LogState, entry: Entry): void {
  invariant(entry.index === log.lastIndex + 1, "entries are consecutive", {
    index: entry.index,
    lastIndex: log.lastIndex,
  });
  const term = lastTerm(log);
  invariant(entry.term >= term, "terms rise along the log", { index: entry.index, term: entry.term });
  if (entry.term > term || log.runs.length === 0) {
    log.runs.push({ firstIndex: entry.index, term: entry.term });
  }
  log.lastIndex = entry.index;
  log.tail.push(entry);
  log.tailBytes += heldBytes(entry);
  if (entry.kind === "configuration") {
    const configuration = decodeConfiguration(entry.data);
    invariant(configuration !== undefined, "an entry of kind configuration holds one", {
      index: entry.index,
    });
    log.configurations.push({ index: entry.index, configuration });
  }
}

/** Removes every entry from `from` on, and with them the configurations that they set. */
export function truncateLog(log: LogState, from: Index): void {
  invariant(from > log.boundary.index, "the boundary is never truncated", { from, boundary: log.boundary });
  while (log.tail.length > log.head && log.lastIndex >= from) {
    log.tailBytes -= heldBytes(log.tail.pop()!);
    log.lastIndex = asIndex(log.lastIndex - 1);
  }
  if (log.lastIndex >= from) log.lastIndex = asIndex(from - 1);
  while (log.runs.length > 0 && log.runs[log.runs.length - 1]!.firstIndex >= from) log.runs.pop();
  const { configurations } = log;
  while (configurations.length > 1 && configurations[configurations.length - 1]!.index >= from) {
    configurations.pop();
  }
}

/** The configuration in force at `index`, which is at or after that of the first one known. */
export function configurationAt(log: LogState, index: Index): ConfigurationAt {
  let at = log.configurations.length - 1;
  while (at > 0 && log.configurations[at]!.index > index) at -= 1;
  return log.configurations[at]!;
}

/** Moves the boundary up to `index`: what it stands for is in a snapshot. */
export function compactLog(log: LogState, index: Index): void {
  const term = termAt(log, index);
  invariant(term !== undefined, "the log is compacted up to an entry that it holds", { index });
  while (log.runs.length > 1 && log.runs[1]!.firstIndex <= index + 1) log.runs.shift();
  if (index === log.lastIndex) log.runs = [];
  else if (log.runs[0]!.firstIndex <= index) {
    log.runs[0] = { firstIndex: asIndex(index + 1), term: log.runs[0]!.term };
  }
  trimCache(log, index, -1);
  while (log.configurations.length > 1 && log.configurations[1]!.index <= index) log.configurations.shift();
  log.boundary = { index, term };
}

/** The log is what the snapshot stands for, and nothing after it. */
export function replaceLog(log: LogState, { boundary, configuration }: SnapshotHeader): void {
  log.boundary = boundary;
  log.lastIndex = boundary.index;
  log.runs = [];
  log.tail = [];
  log.head = 0;
  log.tailBytes = 0;
  log.configurations = [configuration];
}

/**
 * The last index before the newest `maxEntries` entries up to `end`, or before fewer of them where those are more than
 * `maxBytes`, as `heldBytes` counts them. What is not in memory counts by number alone.
 */
export function tailBefore(log: LogState, end: Index, maxEntries: number, maxBytes: number): Index {
  const first = firstCachedIndex(log);
  const from = Math.max(end - maxEntries, 0);
  let bytes = 0;
  for (let index: number = end; index > from && index >= first; index -= 1) {
    bytes += heldBytes(log.tail[log.head + (index - first)]!);
    if (bytes > maxBytes) return asIndex(index);
  }
  return asIndex(from);
}

/** The first entry in memory; one past the end when there is none. */
export function firstCachedIndex(log: LogState): Index {
  return asIndex(log.lastIndex + 1 - (log.tail.length - log.head));
}

/**
 * Entries `from`..`to` (inclusive), at most `maxBytes` of data but at least one; fewer where the log ends.
 * Undefined when `from` is no longer in memory.
 */
export function cachedFrom(
  log: LogState,
  from: Index,
  to: Index,
  maxBytes: number,
): readonly Entry[] | undefined {
  if (from > to || from > log.lastIndex) return [];
  const first = firstCachedIndex(log);
  if (from < first) return undefined;
  const start = log.head + (from - first);
  const limit = Math.min(log.tail.length, start + (to - from) + 1);
  let end = start + 1;
  let bytes = log.tail[start]!.data.length;
  while (end < limit) {
    bytes += log.tail[end]!.data.length;
    if (bytes > maxBytes) break;
    end += 1;
  }
  return log.tail.slice(start, end) as Entry[];
}

/** Bytes of data of entries `from`..`to` (inclusive); undefined when `from` is no longer in memory. */
export function cachedBytes(log: LogState, from: Index, to: Index): number | undefined {
  const first = firstCachedIndex(log);
  if (from < first) return undefined;
  let bytes = 0;
  for (let index: number = from; index <= to; index += 1)
    bytes += log.tail[log.head + (index - first)]!.data.length;
  return bytes;
}

/**
 * Lets go of entries up to `limit` while more than `maxBytes` are in memory. The caller knows that they are
 * durable.
 */
export function trimCache(log: LogState, limit: Index, maxBytes: number): void {
  let first = firstCachedIndex(log) as number;
  while (log.tailBytes > maxBytes && first <= limit) {
    log.tailBytes -= heldBytes(log.tail[log.head]!);
    log.tail[log.head] = undefined; // or it would stay in memory until the list is cut
    log.head += 1;
    first += 1;
  }
  if (log.head > 1024 && log.head * 2 > log.tail.length) {
    log.tail = log.tail.slice(log.head);
    log.head = 0;
  }
}
