/**
 * Some hundred changes of the history, packed: of each its revision, the number of the key's next change, and the pair
 * that it replaced. A block grows at its end; what was cut away of it stays in memory for as long as it does, so it is
 * small in bytes too. It begins as large as the one before became: what is too much of it, or was let go of as it grew,
 * is memory for nothing.
 *
 *   revision, next change    8 bytes each, as doubles; next: 0 where there is none yet
 *   flags (8 bytes)          it replaced a pair; it put one
 *   pair                     as in a slab; of a key that was absent, one without a value
 */
import { type ByteString, type KeyRange, pairOverheadBytes, type StoredPair } from "@quorate/client/protocol";
import { compareKeyAt } from "./packedKey.ts";
import {
  contentBytesAt,
  createSlab,
  hasKeyAt,
  modRevisionAt,
  packedBytes,
  packedKeyAt,
  packPair,
  type Slab,
  unpackPair,
} from "./packedPair.ts";

export interface ChangeBlock {
  /** The number of its first change. */
  readonly first: number;
  slab: Slab;
  /** Where each change begins. */
  readonly starts: number[];
  count: number;
  /** Its first changes that were cut away. */
  cut: number;
  end: number;
  /** It does not grow any more. */
  readonly isClosed: boolean;
}

export const maxBlockChanges = 256;
const maxBlockBytes = 262_144;
const minBlockBytes = 1_024;
/** Of its bytes: what a block has more room for than the one before needed, and by how much it grows beyond that. */
const marginPart = 16;
const growthPart = 4;

const headerBytes = 24;
const hasBefore = 1;
const hasAfter = 2;

const noBytes = new Uint8Array(0);

/** With room for so many bytes. */
export function createBlock(first: number, room: number): ChangeBlock {
  return { first, slab: createSlab(room), starts: [], count: 0, cut: 0, end: 0, isClosed: false };
}

/** What comes after `block`, which is full, will take about as much. */
export function blockAfter(first: number, block: ChangeBlock | undefined): ChangeBlock {
  const { count, end } = block ?? { count: 1, end: 0 };
  const likely = (end * maxBlockChanges) / count;
  const room = Math.min(maxBlockBytes, Math.max(minBlockBytes, likely + likely / marginPart));
  return createBlock(first, Math.ceil(room));
}

/** As it is now. It shares the memory, where more may come after its end. */
export function closedBlock(block: ChangeBlock): ChangeBlock {
  return { ...block, isClosed: true };
}

export function isFull({ isClosed, count, end }: ChangeBlock): boolean {
  return isClosed || count >= maxBlockChanges || end >= maxBlockBytes;
}

/** What a change takes of a block. */
export function neededBytes(key: ByteString, before: StoredPair | undefined): number {
  return headerBytes + packedBytes(key, before?.value ?? noBytes, before?.session);
}

export function addChange(
  block: ChangeBlock,
  revision: number,
  key: ByteString,
  before: StoredPair | undefined,
  puts: boolean,
): void {
  const bytes = neededBytes(key, before);
  reserve(block, bytes);
  const { slab, end } = block;
  slab.view.setFloat64(end, revision);
  slab.view.setFloat64(end + 8, 0);
  slab.view.setUint32(end + 16, (before === undefined ? 0 : hasBefore) + (puts ? hasAfter : 0));
  packPair(slab, end + headerBytes, before ?? nothingOf(key));
  block.starts[block.count] = end;
  block.count += 1;
  block.end += bytes;
}

function nothingOf(key: ByteString): StoredPair {
  return { key, value: noBytes, format: "bytes", createRevision: 0, modRevision: 0, version: 0 };
}

function reserve(block: ChangeBlock, bytes: number): void {
  const { slab, end } = block;
  if (end + bytes <= slab.bytes.length) return;
  const larger = createSlab(Math.max(end + bytes, Math.ceil(slab.bytes.length * (1 + 1 / growthPart))));
  larger.bytes.set(slab.bytes.subarray(0, end));
  block.slab = larger;
}

export function revisionAt({ slab, starts }: ChangeBlock, at: number): number {
  return slab.view.getFloat64(starts[at] as number);
}

export function nextOf({ slab, starts }: ChangeBlock, at: number): number {
  return slab.view.getFloat64((starts[at] as number) + 8);
}

export function setNext({ slab, starts }: ChangeBlock, at: number, change: number): void {
  slab.view.setFloat64((starts[at] as number) + 8, change);
}

/** It put a pair. */
export function leavesPair({ slab, starts }: ChangeBlock, at: number): boolean {
  return (slab.view.getUint32((starts[at] as number) + 16) & hasAfter) !== 0;
}

export function keyAt({ slab, starts }: ChangeBlock, at: number): ByteString {
  return packedKeyAt(slab, (starts[at] as number) + headerBytes);
}

export function isOfKey({ slab, starts }: ChangeBlock, at: number, key: ByteString): boolean {
  return hasKeyAt(slab, (starts[at] as number) + headerBytes, key);
}

/** As `isInRange`, of its key, without making a string of that. */
export function isOfRange({ slab, starts }: ChangeBlock, at: number, { from, to }: KeyRange): boolean {
  const start = (starts[at] as number) + headerBytes;
  return compareKeyAt(slab, start, from) >= 0 && (to === "" || compareKeyAt(slab, start, to) < 0);
}

/** It replaced a pair: the key was there. */
export function replacesPair({ slab, starts }: ChangeBlock, at: number): boolean {
  return (slab.view.getUint32((starts[at] as number) + 16) & hasBefore) !== 0;
}

/** What it replaced was written after `revision`: then another change after that was the key's first. */
export function replacesLater({ slab, starts }: ChangeBlock, at: number, revision: number): boolean {
  const start = starts[at] as number;
  const isReplacing = (slab.view.getUint32(start + 16) & hasBefore) !== 0;
  return isReplacing && modRevisionAt(slab, start + headerBytes) > revision;
}

/** Undefined: the key was absent. */
export function beforeAt(block: ChangeBlock, at: number): StoredPair | undefined {
  if (!replacesPair(block, at)) return undefined;
  const { slab, starts } = block;
  const start = starts[at] as number;
  return unpackPair(slab, start + headerBytes, packedKeyAt(slab, start + headerBytes));
}

/** What keeping it costs: see `historyBytes` of the limits. */
export function changeBytesAt({ slab, starts }: ChangeBlock, at: number): number {
  return pairOverheadBytes + contentBytesAt(slab, (starts[at] as number) + headerBytes);
}
