/**
 * The inner nodes of the index of keys. They hold separators, of which there is one a leaf, each as short as it can be.
 */
import type { ByteString } from "@quorate/client/protocol";
import { copyLeaf, insertAt, type KeyLeaf, type Owner, splitPoint } from "./keyLeaf.ts";

export type KeyNode = KeyLeaf | InnerNode;

export interface InnerNode {
  readonly owner: Owner;
  /** Keys before `separators[n]` are in `children[n]` or before it, all others after it. One fewer than children. */
  readonly separators: ByteString[];
  readonly children: KeyNode[];
}

/** What came out of a node that was split, after it. */
export interface NodeSplit {
  readonly separator: ByteString;
  readonly right: KeyNode;
}

export function createInner(owner: Owner, separators: ByteString[], children: KeyNode[]): InnerNode {
  return { owner, separators, children };
}

export function ownedCopy(node: KeyNode, owner: Owner): KeyNode {
  return node.children === undefined
    ? copyLeaf(node, owner)
    : createInner(owner, node.separators.slice(), node.children.slice());
}

/** Which child has `key`, or would have it. */
export function childOf({ separators }: InnerNode, key: ByteString): number {
  let [low, high] = [0, separators.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    // The engine compares strings by code units, and here each of them is a byte.
    if ((separators[middle] as ByteString) <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the child at `slot` was split into. Splits the node where it has become too large. */
export function insertChild(
  { owner, separators, children }: InnerNode,
  slot: number,
  { separator, right }: NodeSplit,
  maxItems: number,
): NodeSplit | undefined {
  insertAt(separators, slot, separator);
  insertAt(children, slot + 1, right);
  if (children.length <= maxItems) return undefined;
  const from = splitPoint(children.length, slot + 1);
  const moved = createInner(owner, separators.splice(from), children.splice(from));
  return { separator: separators.pop() as ByteString, right: moved };
}

export function removeChild({ separators, children }: InnerNode, slot: number): void {
  children.splice(slot, 1);
  // Either of the two beside it will do: there is no key between them any more.
  separators.splice(Math.max(0, slot - 1), 1);
}
