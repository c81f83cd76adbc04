/** Bugs of the index of the store's keys. */
import { inFile, type Mutant, unsearched } from "../mutant.ts";

const machine = "packages/kv/src/machine";
const asInMap = inFile("test/machine/keyIndex.test.ts")(
  "has what a plain map has, in either order, in each clone and its original, whatever is done to either",
);
const byBytes = "coordination, §1: keys compare by bytes";
const everywhere = unsearched("all nodes have it: their stores agree, and the runs write few keys");

export const keyIndex: readonly Mutant[] = [
  {
    name: "the index of a view of the state is written on by the machine",
    source: "coordination, §1: a copy-on-write ordered map, whose clone is the snapshot",
    file: `${machine}/keyIndex.ts`,
    find: "    // What both have now is of neither any more.\n    this.owner = {};\n",
    replace: "",
    killedBy: asInMap,
    search: unsearched("a snapshot of few keys is written before the next entry comes"),
  },
  {
    name: "a key that begins otherwise than all of a leaf is put among them by its next bytes",
    source: byBytes,
    file: `${machine}/keyLeaf.ts`,
    find: "return -1 - (beginsAsAll(leaf, slabs, key) ? low : endFor(leaf, slabs, key));",
    replace: "return -1 - (beginsAsAll(leaf, slabs, key) ? low : Math.min(low, leaf.places.length));",
    killedBy: asInMap,
    search: everywhere,
  },
  {
    name: "a key whose first byte is above 127 comes before the others",
    source: byBytes,
    file: `${machine}/packedKey.ts`,
    find: "const signBit = -0x8000_0000;",
    replace: "const signBit = 0;",
    killedBy: asInMap,
    search: everywhere,
  },
  {
    name: "a key that separates two leaves is looked for in the first one",
    source: "the B+ tree: a separator is the first that may be in what follows it",
    file: `${machine}/keyNodes.ts`,
    find: "if ((separators[middle] as ByteString) <= key) low = middle + 1;",
    replace: "if ((separators[middle] as ByteString) < key) low = middle + 1;",
    killedBy: asInMap,
    search: everywhere,
  },
  {
    name: "a list that descends begins with the key that it ends before",
    source: "etcd's range: its end is not in it",
    file: `${machine}/keyCursor.ts`,
    find: "this.slot = step > 0 ? from : from - 1;",
    replace: "this.slot = step > 0 || found >= 0 ? from : from - 1;",
    killedBy: asInMap,
    search: everywhere,
  },
];
