/**
 * The store's ordered maps: B+ trees whose clone is O(1) and copy-on-write, which is what a snapshot is made of. What
 * they hold is replaced, not changed.
 *
 * Their shape never decides a result: only the order of the keys does, which is that of bytes, or of numbers.
 */
import type { ByteString } from "@quorate/client/protocol";
import sortedBtree from "sorted-btree";
import { bulkLoad } from "sorted-btree/extended/bulkLoad.js";
import sortedUnion from "sorted-btree/extended/union.js";

export type OrderedMap<Key, Value> = sortedBtree.default<Key, Value>;

/** What Node.js imports of this CommonJS module has the class as `default`; many bundlers import the class itself. */
const Tree: typeof sortedBtree.default =
  sortedBtree.default ?? (sortedBtree as unknown as typeof sortedBtree.default);
const union: typeof sortedUnion.default =
  sortedUnion.default ?? (sortedUnion as unknown as typeof sortedUnion.default);

/** The library's own default; trees can only be joined where they agree on it. */
const maxNodeSize = 32;

/** By keys of bytes. */
export function createKeyMap<Value>(): OrderedMap<ByteString, Value> {
  return new Tree<ByteString, Value>(undefined, compareKeys, maxNodeSize);
}

export function createNumberMap<Value>(): OrderedMap<number, Value> {
  return new Tree<number, Value>(undefined, compareNumbers, maxNodeSize);
}

/**
 * A map of both: `keys` ascend, and the first comes after the last key of `map`, which is not to be used afterwards.
 * Runs of thousands of keys come in at a tenth of the cost of one by one.
 */
export function withRun<Value>(
  map: OrderedMap<ByteString, Value>,
  keys: ByteString[],
  values: Value[],
): OrderedMap<ByteString, Value> {
  const run = bulkLoad(keys, values, maxNodeSize, compareKeys);
  return map.size === 0 ? run : union<OrderedMap<ByteString, Value>, ByteString, Value>(map, run, overlap);
}

function overlap(): never {
  throw new Error("A run of keys begins before the map ends.");
}

/** The engine compares strings by code units, and here each of them is a byte. */
function compareKeys(a: ByteString, b: ByteString): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareNumbers(a: number, b: number): number {
  return a - b;
}
