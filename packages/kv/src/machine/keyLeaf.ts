/**
 * A leaf of the index of keys: places alone, for the keys are read where the pairs lie. As strings they would be a
 * million objects for the garbage collector to mark.
 *
 * Of each key four bytes are kept beside its place, from where the keys of the leaf begin to differ. They nearly always
 * tell where a key is, so that a search reads one key where it lies, not six all over the memory.
 */
import type { ByteString } from "@quorate/client/protocol";
import { compareKeyAt, keyPart, keyPartAt, sharedOfKeysAt, sharedWithKeyAt } from "./packedKey.ts";
import type { PairSlabs } from "./pairSlabs.ts";

/** Who may write to a node; whoever else meets it copies it first. It has nothing but its identity. */
export type Owner = Readonly<Record<string, never>>;

export interface KeyLeaf {
  readonly owner: Owner;
  /** In the order of their keys. */
  readonly places: number[];
  /** The `keyPart` of each, after the bytes that all begin with. */
  readonly parts: number[];
  /** How many those are, at least. */
  shared: number;
  readonly children: undefined;
}

/** Wide, since each node costs the garbage collector some objects, and a search only one step more. */
export const maxNodeItems = 64;

export function createLeaf(owner: Owner, slabs: PairSlabs, places: number[]): KeyLeaf {
  const leaf: KeyLeaf = { owner, places, parts: [], shared: 0, children: undefined };
  readParts(leaf, slabs);
  return leaf;
}

export function copyLeaf({ places, parts, shared }: KeyLeaf, owner: Owner): KeyLeaf {
  return { owner, places: places.slice(), parts: parts.slice(), shared, children: undefined };
}

/** Where `key` is; where it would be inserted, as `-1 - slot`, where it is not. */
export function slotOf(leaf: KeyLeaf, slabs: PairSlabs, key: ByteString): number {
  const { places, parts } = leaf;
  const part = keyPart(key, leaf.shared);
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = parts[middle] as number;
    const order = other === part ? compare(slabs, places[middle] as number, key) : other < part ? -1 : 1;
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1 - (beginsAsAll(leaf, slabs, key) ? low : endFor(leaf, slabs, key));
}

/** The part of a key tells its place among the others only where it does. */
function beginsAsAll({ places, shared }: KeyLeaf, slabs: PairSlabs, key: ByteString): boolean {
  const [first] = places;
  return first === undefined || sharedWithKeyAt(slabs.slabAt(first), slabs.byteAt(first), key) >= shared;
}

/** Of a key that does not: before all of them or after. */
function endFor({ places }: KeyLeaf, slabs: PairSlabs, key: ByteString): number {
  return compare(slabs, places[0] as number, key) < 0 ? places.length : 0;
}

/** What has become too much for the leaf comes into another, which is given back. */
export function insertPlace(
  leaf: KeyLeaf,
  slabs: PairSlabs,
  slot: number,
  place: number,
  maxItems: number,
): KeyLeaf | undefined {
  const { owner, places, parts } = leaf;
  const shared = sharedOf(slabs, places[0] ?? place, place);
  if (shared < leaf.shared) readParts(leaf, slabs, shared);
  insertAt(places, slot, place);
  insertAt(parts, slot, keyPartAt(slabs.slabAt(place), slabs.byteAt(place), leaf.shared));
  if (places.length <= maxItems) return undefined;
  const from = splitPoint(places.length, slot);
  const right = createLeaf(owner, slabs, places.splice(from));
  parts.length = from;
  if (from < maxItems) readParts(leaf, slabs);
  return right;
}

export function removePlace({ places, parts }: KeyLeaf, slot: number): void {
  places.splice(slot, 1);
  parts.splice(slot, 1);
}

/** Where a node is split that has become too large: keys that are written in their order leave full nodes behind. */
export function splitPoint(length: number, inserted: number): number {
  return inserted === length - 1 ? inserted : length >>> 1;
}

/** As `splice` does, without making an array of what it took out. */
export function insertAt<Item>(items: Item[], at: number, item: Item): void {
  items.push(item);
  for (let n = items.length - 1; n > at; n -= 1) items[n] = items[n - 1] as Item;
  items[at] = item;
}

function readParts(leaf: KeyLeaf, slabs: PairSlabs, shared: number = sharedOfAll(leaf, slabs)): void {
  const { places, parts } = leaf;
  leaf.shared = shared;
  for (let slot = 0; slot < places.length; slot += 1) {
    const place = places[slot] as number;
    parts[slot] = keyPartAt(slabs.slabAt(place), slabs.byteAt(place), shared);
  }
}

function sharedOfAll({ places }: KeyLeaf, slabs: PairSlabs): number {
  const [first] = places;
  return first === undefined ? 0 : sharedOf(slabs, first, places[places.length - 1] as number);
}

function sharedOf(slabs: PairSlabs, one: number, other: number): number {
  return sharedOfKeysAt(slabs.slabAt(one), slabs.byteAt(one), slabs.slabAt(other), slabs.byteAt(other));
}

function compare(slabs: PairSlabs, place: number, key: ByteString): number {
  return compareKeyAt(slabs.slabAt(place), slabs.byteAt(place), key);
}
