/**
 * What each kept revision changed, oldest first. Watches are told from it, and reads of the past undo it.
 *
 * A record refers to the pairs before and after; it copies nothing. It is cut in `apply` alone, by the replicated
 * limits, so that every node has the same history. Records lie in blocks that change only at their end, so a view of
 * the whole costs one reference a block.
 */
import {
  type ByteString,
  pairOverheadBytes,
  type StoredPair,
  type StoreLimits,
} from "@quorate/client/protocol";

export interface PairChange {
  readonly key: ByteString;
  /** Undefined: the key was absent. */
  readonly before: StoredPair | undefined;
  /** Undefined: it was deleted. */
  readonly after: StoredPair | undefined;
}

export interface RevisionRecord {
  readonly revision: number;
  readonly changes: readonly PairChange[];
  /** What keeping it costs: see `historyBytes` of the limits. */
  readonly bytes: number;
}

export interface History {
  /** The oldest revision that can be read: that of the newest record cut away, or 0. */
  floor: number;
  /** Records kept. */
  size: number;
  bytes: number;
  /** None is empty. */
  blocks: Block[];
}

interface Block {
  readonly records: RevisionRecord[];
  /** Its first records that were cut away. */
  cut: number;
  bytes: number;
}

/** What was cut away stays in memory for as long as its block does, so blocks are small in bytes too. */
const maxBlockRecords = 256;
const maxBlockBytes = 262_144;

export function createHistory(floor: number = 0): History {
  return { floor, size: 0, bytes: 0, blocks: [] };
}

export function recordOf(revision: number, changes: readonly PairChange[]): RevisionRecord {
  let bytes = 0;
  for (const { key, before } of changes)
    bytes += pairOverheadBytes + key.length + (before?.value.length ?? 0);
  return { revision, changes, bytes };
}

/** Its revision is above all that are there. */
export function addRecord(history: History, record: RevisionRecord): void {
  let block = history.blocks.at(-1);
  if (block === undefined || block.records.length >= maxBlockRecords || block.bytes >= maxBlockBytes) {
    block = { records: [], cut: 0, bytes: 0 };
    history.blocks.push(block);
  }
  block.records.push(record);
  block.bytes += record.bytes;
  history.size += 1;
  history.bytes += record.bytes;
}

/** The newest record is always kept, however large it is. */
export function cutHistory(history: History, limits: StoreLimits): void {
  let emptied = 0;
  for (const block of history.blocks) {
    while (block.cut < block.records.length && isAbove(history, limits)) {
      const record = block.records[block.cut] as RevisionRecord;
      block.cut += 1;
      history.size -= 1;
      history.bytes -= record.bytes;
      history.floor = record.revision;
    }
    if (block.cut < block.records.length) break;
    emptied += 1;
  }
  if (emptied > 0) history.blocks.splice(0, emptied);
}

function isAbove({ size, bytes }: History, limits: StoreLimits): boolean {
  return size > 1 && (size > limits.historyRevisions || bytes > limits.historyBytes);
}

/** The records after `revision`, oldest first, as they are kept while the caller takes them: in one turn. */
export function* recordsAfter(history: History, revision: number): Generator<RevisionRecord, void> {
  const { blocks } = history;
  for (let at = lastBlockFrom(blocks, revision + 1); at < blocks.length; at += 1) {
    const { records, cut } = blocks[at] as Block;
    const first = Math.max(cut, firstAfter(records, revision));
    for (let n = first; n < records.length; n += 1) yield records[n] as RevisionRecord;
  }
}

/** All of them, newest first. */
export function* recordsBackwards({ blocks }: History): Generator<RevisionRecord, void> {
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    const { records, cut } = blocks[at] as Block;
    for (let n = records.length - 1; n >= cut; n -= 1) yield records[n] as RevisionRecord;
  }
}

/** All of it as it is now, for as long as its holder likes. */
export function historyView({ floor, size, bytes, blocks }: History): History {
  const last = blocks.at(-1);
  const view: History = { floor, size, bytes, blocks: blocks.map((block) => ({ ...block })) };
  if (last !== undefined) view.blocks[blocks.length - 1] = { ...last, records: last.records.slice() };
  return view;
}

/** The last block that begins at or before `revision`; the first where none does. */
function lastBlockFrom(blocks: readonly Block[], revision: number): number {
  let [low, high] = [0, blocks.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle]?.records[0]?.revision ?? 0) <= revision) low = middle;
    else high = middle;
  }
  return low;
}

function firstAfter(records: readonly RevisionRecord[], revision: number): number {
  let [low, high] = [0, records.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle]?.revision ?? 0) > revision) high = middle;
    else low = middle + 1;
  }
  return low;
}
