/**
 * The store's ordered map: a B+ tree whose clone is O(1) and copy-on-write, which is what a snapshot will be.
 *
 * Its shape never decides a result: only the order of the keys does, which is the order of their bytes.
 */
import type { ByteString, StoredPair } from "@quorate/client/protocol";
import sortedBtree from "sorted-btree";

export type PairMap = sortedBtree.default<ByteString, StoredPair>;

/** What Node.js imports of this CommonJS module has the class as `default`; many bundlers import the class itself. */
const OrderedMap: typeof sortedBtree.default =
  sortedBtree.default ?? (sortedBtree as unknown as typeof sortedBtree.default);

export function createPairMap(): PairMap {
  return new OrderedMap<ByteString, StoredPair>(undefined, compareKeys);
}

/** The engine compares strings by code units, and here each of them is a byte. */
function compareKeys(a: ByteString, b: ByteString): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
