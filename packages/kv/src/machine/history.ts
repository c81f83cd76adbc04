/**
 * What each kept revision changed, oldest first. Watches are told from it, and reads of the past undo it.
 *
 * Kept is what each change replaced, packed into blocks. What it put is what the key's next change replaced, or the
 * present pair. The history is cut in `apply` alone, by the replicated limits, so that every node has the same one.
 * Blocks only grow at their end, so a view of the whole costs one reference a block.
 */
import type { ByteString, StoredPair, StoreLimits } from "@quorate/client/protocol";
import {
  addChange,
  beforeAt,
  blockAfter,
  type ChangeBlock,
  changeBytesAt,
  closedBlock,
  isFull,
  isOfKey,
  keyAt,
  leavesPair,
  nextOf,
  revisionAt,
  setNext,
} from "./changeBlock.ts";
import type { PairMap } from "./pairMap.ts";

export interface PairChange {
  readonly key: ByteString;
  /** Undefined: the key was absent. */
  readonly before: StoredPair | undefined;
  /** Undefined: it was deleted. */
  readonly after: StoredPair | undefined;
}

/** A change as it is added. */
export interface NewChange {
  readonly key: ByteString;
  readonly before: StoredPair | undefined;
  /** False: it deletes the key. */
  readonly puts: boolean;
}

export interface RevisionRecord {
  readonly revision: number;
  readonly changes: readonly PairChange[];
}

export interface History {
  /** The oldest revision that can be read: that of the newest record cut away, or 0. */
  floor: number;
  /** Revisions kept. */
  size: number;
  /** What keeping them costs: see `historyBytes` of the limits. */
  bytes: number;
  /** None is empty. */
  blocks: ChangeBlock[];
  /** How many changes there ever were, since this history began: the number of the next one, from 1. */
  nextChange: number;
}

export function createHistory(floor: number = 0): History {
  return { floor, size: 0, bytes: 0, blocks: [], nextChange: 1 };
}

/** The revision is above all that are there. Changes of one revision are of different keys. */
export function addRecord(history: History, revision: number, changes: readonly NewChange[]): void {
  let block = history.blocks.at(-1);
  if (block === undefined || isFull(block)) {
    block = blockAfter(history.nextChange, block);
    history.blocks.push(block);
  }
  for (let at = 0; at < changes.length; at += 1) {
    const { key, before, puts } = changes[at] as NewChange;
    if (before !== undefined) linkTo(history, key, before.modRevision);
    addChange(block, revision, key, before, puts);
    history.bytes += changeBytesAt(block, block.count - 1);
    history.nextChange += 1;
  }
  history.size += 1;
}

/** The newest record is always kept, however large it is. */
export function cutHistory(history: History, limits: StoreLimits): void {
  let emptied = 0;
  for (const block of history.blocks) {
    while (block.cut < block.count && isAbove(history, limits)) cutRecord(history, block);
    if (block.cut < block.count) break;
    emptied += 1;
  }
  if (emptied > 0) history.blocks.splice(0, emptied);
}

function cutRecord(history: History, block: ChangeBlock): void {
  const revision = revisionAt(block, block.cut);
  while (block.cut < block.count && revisionAt(block, block.cut) === revision) {
    history.bytes -= changeBytesAt(block, block.cut);
    block.cut += 1;
  }
  history.size -= 1;
  history.floor = revision;
}

function isAbove({ size, bytes }: History, limits: StoreLimits): boolean {
  return size > 1 && (size > limits.historyRevisions || bytes > limits.historyBytes);
}

/** The records after `revision`, oldest first, as they are kept while the caller takes them: in one turn. */
export function* recordsAfter(
  history: History,
  pairs: PairMap,
  revision: number,
): Generator<RevisionRecord, void> {
  let found: { revision: number; changes: PairChange[] } | undefined;
  for (const change of changesAfter(history, revision)) {
    const of = revisionAt(change.block, change.at);
    if (found !== undefined && found.revision !== of) {
      yield found;
      found = undefined;
    }
    found ??= { revision: of, changes: [] };
    const key = keyAt(change.block, change.at);
    const before = beforeAt(change.block, change.at);
    found.changes.push({ key, before, after: afterOf(history, pairs, change, key) });
  }
  if (found !== undefined) yield found;
}

/** A kept change. The same object is given again and again, with another place. */
export interface ChangePlace {
  block: ChangeBlock;
  at: number;
}

/** The changes after `revision`, oldest first, in one turn. */
export function* changesAfter({ blocks }: History, revision: number): Generator<ChangePlace, void> {
  const first = Math.max(
    0,
    lastBlock(blocks, (block) => revisionAt(block, 0) <= revision),
  );
  for (let n = first; n < blocks.length; n += 1) {
    const block = blocks[n] as ChangeBlock;
    const place: ChangePlace = { block, at: 0 };
    for (let at = Math.max(block.cut, firstAfter(block, revision)); at < block.count; at += 1) {
      place.at = at;
      yield place;
    }
  }
}

/** All of them, the newest revision first, and the changes of each in their order. */
export function* changesBackwards({ blocks }: History): Generator<ChangePlace, void> {
  for (let n = blocks.length - 1; n >= 0; n -= 1) {
    const block = blocks[n] as ChangeBlock;
    const place: ChangePlace = { block, at: 0 };
    for (let end = block.count; end > block.cut; ) {
      let from = end - 1;
      while (from > block.cut && revisionAt(block, from - 1) === revisionAt(block, end - 1)) from -= 1;
      for (place.at = from; place.at < end; place.at += 1) yield place;
      end = from;
    }
  }
}

/** All of it as it is now, for as long as its holder likes. */
export function historyView({ floor, size, bytes, blocks, nextChange }: History): History {
  return { floor, size, bytes, blocks: blocks.map(closedBlock), nextChange };
}

/** What the change put. */
function afterOf(
  history: History,
  pairs: PairMap,
  { block, at }: ChangePlace,
  key: ByteString,
): StoredPair | undefined {
  if (!leavesPair(block, at)) return undefined;
  const next = nextOf(block, at);
  // A view shares its blocks with a state that goes on: changes after its own are none.
  if (next === 0 || next >= history.nextChange) return pairs.get(key);
  const found = blockOf(history, next);
  const before = found && isOfKey(found, next - found.first, key) && beforeAt(found, next - found.first);
  if (before && before.modRevision === revisionAt(block, at)) return before;
  // Two states that go on from one share them, and each has its own next change.
  for (const later of changesAfter(history, revisionAt(block, at))) {
    if (isOfKey(later.block, later.at, key)) return beforeAt(later.block, later.at);
  }
  return pairs.get(key);
}

/** The change that put what is replaced now learns by which one. */
function linkTo(history: History, key: ByteString, modRevision: number): void {
  if (modRevision <= history.floor) return;
  const { blocks, nextChange } = history;
  // One that was begun for this very change is empty yet.
  const block = blocks[lastBlock(blocks, (one) => one.count > 0 && revisionAt(one, 0) <= modRevision)];
  if (block === undefined) return;
  for (let at = firstAfter(block, modRevision - 1); at < block.count; at += 1) {
    if (revisionAt(block, at) !== modRevision) return;
    if (isOfKey(block, at, key)) {
      setNext(block, at, nextChange);
      return;
    }
  }
}

function blockOf({ blocks }: History, change: number): ChangeBlock | undefined {
  const block = blocks[lastBlock(blocks, ({ first }) => first <= change)];
  return block !== undefined && change < block.first + block.count ? block : undefined;
}

/** The last block of which it is true; -1: of none. It is true of the first ones. */
function lastBlock(blocks: readonly ChangeBlock[], isTrue: (block: ChangeBlock) => boolean): number {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(blocks[middle] as ChangeBlock)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The first of the block's changes that is of a revision above. */
function firstAfter(block: ChangeBlock, revision: number): number {
  let [low, high] = [0, block.count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (revisionAt(block, middle) > revision) high = middle;
    else low = middle + 1;
  }
  return low;
}
