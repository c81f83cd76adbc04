/**
 * Where each key's pair is: a copy-on-write B+ tree of places in the slabs, in the order of the keys that lie there.
 * A clone is O(1).
 *
 * Its shape never decides a result: only the order of the keys does, which is that of bytes. A node goes when it has
 * become empty, and is not merged with others before: there are never more of them than keys, each of which takes more.
 */
import type { ByteString } from "@quorate/client/protocol";
import { KeyCursor } from "./keyCursor.ts";
import {
  createLeaf,
  insertPlace,
  type KeyLeaf,
  maxNodeItems,
  type Owner,
  removePlace,
  slotOf,
} from "./keyLeaf.ts";
import {
  childOf,
  createInner,
  type InnerNode,
  insertChild,
  type KeyNode,
  type NodeSplit,
  ownedCopy,
  removeChild,
} from "./keyNodes.ts";
import { compareKeyAt, keyPart, separatorAt } from "./packedKey.ts";
import { packedKeyAt } from "./packedPair.ts";
import type { PairSlabs } from "./pairSlabs.ts";

export class KeyIndex {
  size = 0;
  private readonly slabs: PairSlabs;
  private readonly maxItems: number;
  private owner: Owner = {};
  private root: KeyNode;

  /**
   * `slabs` have its places; what it has is in use there until it is replaced or deleted here. Smaller nodes are for
   * tests.
   */
  constructor(slabs: PairSlabs, maxItems: number = maxNodeItems) {
    this.slabs = slabs;
    this.maxItems = maxItems;
    this.root = createLeaf(this.owner, slabs, []);
  }

  /** `slabs` are a clone of its own. Both may be written to; neither sees what the other writes. */
  clone(slabs: PairSlabs): KeyIndex {
    const copy = new KeyIndex(slabs, this.maxItems);
    copy.size = this.size;
    copy.root = this.root;
    // What both have now is of neither any more.
    this.owner = {};
    return copy;
  }

  find(key: ByteString): number | undefined {
    let node = this.root;
    while (node.children !== undefined) node = node.children[childOf(node, key)] as KeyNode;
    const slot = slotOf(node, this.slabs, key);
    return slot < 0 ? undefined : node.places[slot];
  }

  /** The key at `place` is `key`, which may be there already. */
  put(key: ByteString, place: number): void {
    this.root = this.owned(this.root);
    this.grow(this.putIn(this.root, key, place));
  }

  /** False where there was no such key. */
  delete(key: ByteString): boolean {
    const before = this.size;
    this.root = this.owned(this.root);
    this.deleteIn(this.root, key);
    while (this.root.children?.length === 1) this.root = this.root.children[0] as KeyNode;
    return this.size < before;
  }

  /** The keys at `places` ascend, and the first comes after the last one that is there. Leaves full nodes behind. */
  append(places: readonly number[]): void {
    this.root = this.owned(this.root);
    let leaf = this.lastLeaf();
    const [first] = places;
    const last = leaf.places.at(-1);
    if (first !== undefined && last !== undefined && !this.isBefore(last, first)) {
      throw new Error("A run of keys begins before the index ends.");
    }
    let at = 0;
    while (at < places.length && leaf.places.length < this.maxItems) {
      insertPlace(leaf, this.slabs, leaf.places.length, places[at] as number, this.maxItems);
      at += 1;
    }
    for (; at < places.length; at += this.maxItems) {
      const next = createLeaf(this.owner, this.slabs, places.slice(at, at + this.maxItems));
      this.grow(this.appendIn(this.root, this.splitOf(leaf, next)));
      leaf = next;
    }
    this.size += places.length;
  }

  /** Ascends from `first` on; as long as it is not written to. */
  from(first?: ByteString): KeyCursor {
    return new KeyCursor(this.root, this.slabs, 1, first);
  }

  /** Descends from what is before `end`; as long as it is not written to. */
  before(end?: ByteString): KeyCursor {
    return new KeyCursor(this.root, this.slabs, -1, end);
  }

  /** Throws where its parts contradict each other: for tests, since it looks at all of them. */
  checkValid(): void {
    const found = this.checkNode(this.root, undefined, undefined);
    if (found.keys !== this.size)
      throw new Error(`The index has ${found.keys} keys, and counted ${this.size}.`);
  }

  private putIn(node: KeyNode, key: ByteString, place: number): NodeSplit | undefined {
    if (node.children !== undefined) {
      const slot = childOf(node, key);
      const split = this.putIn(this.ownedChild(node, slot), key, place);
      return split && insertChild(node, slot, split, this.maxItems);
    }
    const slot = slotOf(node, this.slabs, key);
    if (slot < 0) {
      this.size += 1;
      const right = insertPlace(node, this.slabs, -1 - slot, place, this.maxItems);
      return right && this.splitOf(node, right);
    }
    node.places[slot] = place;
    return undefined;
  }

  private deleteIn(node: KeyNode, key: ByteString): void {
    if (node.children === undefined) {
      const slot = slotOf(node, this.slabs, key);
      if (slot < 0) return;
      removePlace(node, slot);
      this.size -= 1;
      return;
    }
    const slot = childOf(node, key);
    const child = this.ownedChild(node, slot);
    this.deleteIn(child, key);
    if ((child.children ?? child.places).length === 0) removeChild(node, slot);
  }

  /** Adds a leaf at the end. */
  private appendIn(node: KeyNode, leaf: NodeSplit): NodeSplit | undefined {
    if (node.children === undefined) return leaf;
    const slot = node.children.length - 1;
    const split = this.appendIn(this.ownedChild(node, slot), leaf);
    return split && insertChild(node, slot, split, this.maxItems);
  }

  private grow(split: NodeSplit | undefined): void {
    if (split !== undefined) {
      this.root = createInner(this.owner, [split.separator], [this.root, split.right]);
    }
  }

  /** To be written to; the root must be owned. */
  private lastLeaf(): KeyLeaf {
    let node = this.root;
    while (node.children !== undefined) node = this.ownedChild(node, node.children.length - 1);
    return node;
  }

  private owned(node: KeyNode): KeyNode {
    return node.owner === this.owner ? node : ownedCopy(node, this.owner);
  }

  /** `node` is owned. */
  private ownedChild({ children }: InnerNode, slot: number): KeyNode {
    const child = this.owned(children[slot] as KeyNode);
    children[slot] = child;
    return child;
  }

  private splitOf(left: KeyLeaf, right: KeyLeaf): NodeSplit {
    const { slabs } = this;
    const [last, first] = [left.places.at(-1) as number, right.places[0] as number];
    const separator = separatorAt(
      slabs.slabAt(last),
      slabs.byteAt(last),
      slabs.slabAt(first),
      slabs.byteAt(first),
    );
    return { separator, right };
  }

  private isBefore(a: number, b: number): boolean {
    return compareKeyAt(this.slabs.slabAt(a), this.slabs.byteAt(a), this.keyAt(b)) < 0;
  }

  private keyAt(place: number): ByteString {
    return packedKeyAt(this.slabs.slabAt(place), this.slabs.byteAt(place));
  }

  /** All of its keys are from `from` on and before `to`. */
  private checkNode(node: KeyNode, from?: ByteString, to?: ByteString): { keys: number; depth: number } {
    const { length } = node.children ?? node.places;
    if (length > this.maxItems || (length === 0 && node !== this.root)) {
      throw new Error(`A node of the index has ${length} items.`);
    }
    if (node.children === undefined) {
      this.checkLeaf(node, from, to);
      return { keys: length, depth: 0 };
    }
    const { separators } = node;
    if (separators.length !== length - 1) {
      throw new Error(`${separators.length} separators are between ${length} nodes.`);
    }
    const parts = node.children.map((child, slot) =>
      this.checkNode(child, slot === 0 ? from : separators[slot - 1], separators[slot] ?? to),
    );
    const depth = parts[0]?.depth ?? 0;
    if (parts.some((part) => part.depth !== depth)) throw new Error("Leaves of the index differ in depth.");
    return { keys: parts.reduce((sum, { keys }) => sum + keys, 0), depth: depth + 1 };
  }

  private checkLeaf({ places, parts, shared }: KeyLeaf, from?: ByteString, to?: ByteString): void {
    const keys = places.map((place) => this.keyAt(place));
    const [first = ""] = keys;
    if (parts.length !== keys.length)
      throw new Error(`There are ${parts.length} parts of ${keys.length} keys.`);
    for (const [slot, key] of keys.entries()) {
      const before = slot === 0 ? from : keys[slot - 1];
      const isAfter = before === undefined || (slot === 0 ? key >= before : key > before);
      if (!isAfter || (to !== undefined && key >= to)) throw new Error(`${key} is at the wrong place.`);
      const isOfLeaf = key.length >= shared && key.startsWith(first.slice(0, shared));
      if (!isOfLeaf || parts[slot] !== keyPart(key, shared)) throw new Error(`The part of ${key} is wrong.`);
    }
  }
}
