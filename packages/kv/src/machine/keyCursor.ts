/**
 * Goes through an index of keys, a place at a time: it makes nothing on its way, and looks for a key at its start
 * alone.
 */
import type { ByteString } from "@quorate/client/protocol";
import { type KeyLeaf, slotOf } from "./keyLeaf.ts";
import { childOf, type InnerNode, type KeyNode } from "./keyNodes.ts";
import type { PairSlabs } from "./pairSlabs.ts";

export class KeyCursor {
  private readonly step: 1 | -1;
  /** The inner nodes above the leaf, from the root, and which child of each it is in. */
  private readonly path: InnerNode[] = [];
  private readonly slots: number[] = [];
  private leaf: KeyLeaf;
  private slot: number;

  /** Upwards from `key` on, or downwards from what is before it; default: from the first or the last. */
  constructor(root: KeyNode, slabs: PairSlabs, step: 1 | -1, key: ByteString | undefined) {
    this.step = step;
    if (key === undefined) {
      this.leaf = this.descend(root);
      this.slot = step > 0 ? 0 : this.leaf.places.length - 1;
      return;
    }
    this.leaf = this.descend(root, key);
    const found = slotOf(this.leaf, slabs, key);
    const from = found < 0 ? -1 - found : found;
    this.slot = step > 0 ? from : from - 1;
  }

  /** Undefined: there are no more. */
  next(): number | undefined {
    while (this.slot < 0 || this.slot >= this.leaf.places.length) if (!this.toNextLeaf()) return undefined;
    const place = this.leaf.places[this.slot];
    this.slot += this.step;
    return place;
  }

  private toNextLeaf(): boolean {
    const { path, slots, step } = this;
    for (let node = path.pop(); node !== undefined; node = path.pop()) {
      const slot = (slots.pop() as number) + step;
      if (slot < 0 || slot >= node.children.length) continue;
      path.push(node);
      slots.push(slot);
      this.leaf = this.descend(node.children[slot] as KeyNode);
      this.slot = step > 0 ? 0 : this.leaf.places.length - 1;
      return true;
    }
    return false;
  }

  /** To the leaf that has `key`; default: that at the end where it begins. */
  private descend(from: KeyNode, key?: ByteString): KeyLeaf {
    let node = from;
    while (node.children !== undefined) {
      const slot = key !== undefined ? childOf(node, key) : this.step > 0 ? 0 : node.children.length - 1;
      this.path.push(node);
      this.slots.push(slot);
      node = node.children[slot] as KeyNode;
    }
    return node;
  }
}
