/**
 * Reads entries back from the store and verifies each: its own checksum, its index, and its link to the one
 * before.
 *
 * A fault is an answer here, not an exception: whoever asked decides what it means.
 */
import { asIndex, type BatchStore, type Entry, type Index } from "@quorate/raft";
import { decodeEntry } from "./entryRecord.ts";
import { entryKey, indexOfKey } from "./keys.ts";
import type { Position } from "./stateRecord.ts";
import type { Tail } from "./tail.ts";

const chunkPairs = 64;

export type ReadResult =
  | { readonly kind: "entries"; readonly entries: readonly Entry[] }
  /** What is wrong, as a clause. */
  | { readonly kind: "fault"; readonly fault: string };

/** Entries `from`..`to` (inclusive), at most `maxBytes` of data but at least one. */
export async function readEntries(
  batches: BatchStore,
  tail: Tail,
  from: Index,
  to: Index,
  maxBytes: number,
): Promise<ReadResult> {
  const entries: Entry[] = [];
  if (from > to) return { kind: "entries", entries };
  let previous = tail.at(asIndex(from - 1))?.chain;
  let bytes = 0;
  for (let next = from; next <= to; ) {
    const limit = Math.min(chunkPairs, to - next + 1);
    const chunk = await batches.range(entryKey(next), entryKey(asIndex(to + 1)), limit);
    if (chunk.length === 0) return missing(next);
    for (const [key, value] of chunk) {
      if (indexOfKey(key) !== next) return missing(next);
      const stored = decodeEntry(value);
      if (stored === undefined || stored.entry.index !== next) return damaged(next);
      if (previous !== undefined && stored.previous !== previous) return unchained(next);
      bytes += stored.entry.data.length;
      if (bytes > maxBytes && entries.length > 0) return { kind: "entries", entries };
      entries.push(stored.entry);
      previous = stored.chain;
      next = asIndex(next + 1);
    }
  }
  const known = tail.at(to)?.chain;
  return known === undefined || known === previous ? { kind: "entries", entries } : unchained(to);
}

/** The position of an entry that the tail no longer holds. */
export async function positionAt(
  batches: BatchStore,
  tail: Tail,
  index: Index,
): Promise<Position | undefined> {
  const held = tail.at(index);
  if (held !== undefined) return held;
  const bytes = await batches.get(entryKey(index));
  const stored = bytes === undefined ? undefined : decodeEntry(bytes);
  if (stored === undefined || stored.entry.index !== index) return undefined;
  return { index, term: stored.entry.term, chain: stored.chain };
}

function missing(index: Index): ReadResult {
  return { kind: "fault", fault: `entry ${index} is missing` };
}

function damaged(index: Index): ReadResult {
  return { kind: "fault", fault: `entry ${index} is damaged` };
}

function unchained(index: Index): ReadResult {
  return { kind: "fault", fault: `entry ${index} is not the one that was written` };
}
