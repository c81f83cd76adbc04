/**
 * The store's ordered maps: B+ trees whose clone is O(1) and copy-on-write, which is what a snapshot is made of. What
 * they hold is replaced, not changed.
 *
 * Their shape never decides a result: only the order of the keys does, which is that of bytes, or of numbers.
 */
import type { ByteString } from "@quorate/client/protocol";
import sortedBtree from "sorted-btree";

export type OrderedMap<Key, Value> = sortedBtree.default<Key, Value>;

/** What Node.js imports of this CommonJS module has the class as `default`; many bundlers import the class itself. */
const Tree: typeof sortedBtree.default =
  sortedBtree.default ?? (sortedBtree as unknown as typeof sortedBtree.default);

/** By keys of bytes. */
export function createKeyMap<Value>(): OrderedMap<ByteString, Value> {
  return new Tree<ByteString, Value>(undefined, compareKeys);
}

export function createNumberMap<Value>(): OrderedMap<number, Value> {
  return new Tree<number, Value>(undefined, compareNumbers);
}

/** The engine compares strings by code units, and here each of them is a byte. */
function compareKeys(a: ByteString, b: ByteString): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareNumbers(a: number, b: number): number {
  return a - b;
}
