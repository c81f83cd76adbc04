/**
 * Reads the whole log and verifies every link of its chain, from the boundary to the place where a state
 * record says that it ends.
 *
 * LevelDB may have lost any batches in silence, so nothing is taken for granted: an entry may be missing,
 * damaged, an older one that a lost batch had overwritten, or one that a lost batch had deleted. Reading
 * changes nothing.
 */
import { asIndex, type BatchStore, type Entry, type Index, type Term, type TermRun } from "@quorate/raft";
import { decodeEntry } from "./entryRecord.ts";
import { entriesEnd, entryKey, indexOfKey } from "./keys.ts";
import type { Position } from "./stateRecord.ts";
import { Tail } from "./tail.ts";

/** Pairs asked for at once: fewer where entries are large, so that a chunk stays near `chunkBytes`. */
const maxChunkPairs = 512;
const chunkBytes = 4 * 1024 * 1024;

export interface Scan {
  /** Recent positions, up to the last entry that verified. */
  readonly tail: Tail;
  readonly termRuns: readonly TermRun[];
  /** The entries of kind `configuration`. */
  readonly configurations: readonly Entry[];
  /** The first thing that is wrong, as a clause; undefined when the log ends exactly where it should. */
  readonly fault: string | undefined;
  /** Something lies beyond the place where the log ends. */
  readonly surplus: boolean;
}

interface Progress {
  readonly tail: Tail;
  readonly termRuns: TermRun[];
  readonly configurations: Entry[];
}

export async function scanLog(batches: BatchStore, boundary: Position, last: Position): Promise<Scan> {
  const progress: Progress = { tail: new Tail(boundary), termRuns: [], configurations: [] };
  const fault = (await verifyUpTo(batches, progress, last)) ?? endFault(progress.tail, last);
  const beyond = await batches.range(entryKey(asIndex(last.index + 1)), entriesEnd, 1);
  return { ...progress, fault, surplus: beyond.length > 0 };
}

async function verifyUpTo(
  batches: BatchStore,
  progress: Progress,
  last: Position,
): Promise<string | undefined> {
  const { tail } = progress;
  const end = entryKey(asIndex(last.index + 1));
  let pairs = maxChunkPairs;
  while (tail.last.index < last.index) {
    const next = asIndex(tail.last.index + 1);
    const chunk = await batches.range(entryKey(next), end, pairs);
    if (chunk.length === 0) return `entry ${next} is missing`;
    let bytes = 0;
    for (const [key, value] of chunk) {
      const fault = take(progress, key, value);
      if (fault !== undefined) return fault;
      bytes += value.length;
    }
    pairs = Math.max(4, Math.min(maxChunkPairs, Math.floor((chunkBytes * chunk.length) / bytes)));
  }
  return undefined;
}

function take(progress: Progress, key: Uint8Array, value: Uint8Array): string | undefined {
  const { tail, termRuns, configurations } = progress;
  const { index: previousIndex, chain: previous } = tail.last;
  const index = asIndex(previousIndex + 1);
  if (indexOfKey(key) !== index) return `entry ${index} is missing`;
  const stored = decodeEntry(value);
  if (stored === undefined || stored.entry.index !== index) return `entry ${index} is damaged`;
  if (stored.previous !== previous) return `entry ${index} does not continue entry ${previousIndex}`;
  const { term, kind } = stored.entry;
  if (termRuns.at(-1)?.term !== term) termRuns.push({ firstIndex: index, term });
  if (kind === "configuration") configurations.push(copyOf(stored.entry));
  tail.push({ index, term, chain: stored.chain });
  return undefined;
}

/** Its data may alias a chunk of megabytes. */
function copyOf(entry: Entry): Entry {
  return { ...entry, data: Uint8Array.from(entry.data) };
}

function endFault(tail: Tail, last: Position): string | undefined {
  const { index, term, chain } = tail.last;
  if (chain === last.chain && term === last.term) return undefined;
  return `entry ${index} is not the one that was written last`;
}

/**
 * How much of a faulty log is kept: a verified prefix that does not itself reach the floor. What verifies
 * may still be an old entry whose replacement was lost, and only a leader's append may carry a mute node
 * over its floor.
 */
export function keptEnd(scan: Scan, floorIndex: Index, floorTerm: Term, boundary: Position): Index {
  let index = Math.min(scan.tail.last.index, floorIndex - 1);
  for (const run of scan.termRuns) {
    if (run.term > floorTerm) index = Math.min(index, run.firstIndex - 1);
  }
  return asIndex(Math.max(index, boundary.index));
}
