/**
 * Ranges of keys, asked for those that hold a key: a treap by where they begin, each node with the farthest end below
 * it, so that a question costs about as much as it has answers.
 *
 * Priorities come from a count, mixed: the shape is balanced whatever the order of the ranges, and without chance.
 */
import type { ByteString, KeyRange } from "@quorate/client/protocol";

interface Node<Item> {
  readonly range: KeyRange;
  readonly priority: number;
  readonly items: Set<Item>;
  left: Node<Item> | undefined;
  right: Node<Item> | undefined;
  /** The farthest end at or below this node; empty: a range without one. */
  end: ByteString;
}

export class IntervalTree<Item> {
  #root: Node<Item> | undefined;
  #count = 0;

  add(range: KeyRange, item: Item): void {
    const there = find(this.#root, range);
    if (there !== undefined) {
      there.items.add(item);
      return;
    }
    this.#count += 1;
    const { from, to } = range;
    const node: Node<Item> = {
      range: { from, to },
      priority: mixed(this.#count),
      items: new Set([item]),
      left: undefined,
      right: undefined,
      end: to,
    };
    const [below, above] = split(this.#root, range);
    this.#root = merge(merge(below, node), above);
  }

  remove(range: KeyRange, item: Item): void {
    const node = find(this.#root, range);
    if (node === undefined || !node.items.delete(item) || node.items.size > 0) return;
    this.#root = without(this.#root, range);
  }

  /** Calls `visit` for each item of each range that holds the key. It must not add or remove any. */
  visit(key: ByteString, visit: (item: Item) => void): void {
    const open: Node<Item>[] = [];
    if (this.#root !== undefined) open.push(this.#root);
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (!reaches(node.end, key)) continue;
      if (node.left !== undefined) open.push(node.left);
      if (node.range.from > key) continue;
      if (node.right !== undefined) open.push(node.right);
      if (reaches(node.range.to, key)) for (const item of node.items) visit(item);
    }
  }
}

function reaches(end: ByteString, key: ByteString): boolean {
  return end === "" || end > key;
}

/** By where they begin, then by where they end. */
function order(a: KeyRange, b: KeyRange): number {
  if (a.from !== b.from) return a.from < b.from ? -1 : 1;
  if (a.to !== b.to) return a.to < b.to ? -1 : 1;
  return 0;
}

function find<Item>(root: Node<Item> | undefined, range: KeyRange): Node<Item> | undefined {
  let node = root;
  while (node !== undefined) {
    const way = order(range, node.range);
    if (way === 0) return node;
    node = way < 0 ? node.left : node.right;
  }
  return undefined;
}

type Halves<Item> = [below: Node<Item> | undefined, above: Node<Item> | undefined];

/** `range` itself is not in it. */
function split<Item>(node: Node<Item> | undefined, range: KeyRange): Halves<Item> {
  if (node === undefined) return [undefined, undefined];
  if (order(node.range, range) < 0) {
    const [below, above] = split(node.right, range);
    node.right = below;
    return [measured(node), above];
  }
  const [below, above] = split(node.left, range);
  node.left = above;
  return [below, measured(node)];
}

/** All of `below` lie before all of `above`. */
function merge<Item>(below: Node<Item> | undefined, above: Node<Item> | undefined): Node<Item> | undefined {
  if (below === undefined) return above;
  if (above === undefined) return below;
  if (below.priority > above.priority) {
    below.right = merge(below.right, above);
    return measured(below);
  }
  above.left = merge(below, above.left);
  return measured(above);
}

function without<Item>(node: Node<Item> | undefined, range: KeyRange): Node<Item> | undefined {
  if (node === undefined) return undefined;
  const way = order(range, node.range);
  if (way === 0) return merge(node.left, node.right);
  if (way < 0) node.left = without(node.left, range);
  else node.right = without(node.right, range);
  return measured(node);
}

function measured<Item>(node: Node<Item>): Node<Item> {
  node.end = farther(node.range.to, farther(node.left?.end, node.right?.end));
  return node;
}

function farther(a: ByteString | undefined, b: ByteString | undefined): ByteString {
  if (a === undefined || b === undefined) return a ?? b ?? "\0";
  if (a === "" || b === "") return "";
  return a > b ? a : b;
}

function mixed(count: number): number {
  let word = Math.imul(count, 0x9e3779b1);
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  return (word ^ (word >>> 13)) >>> 0;
}
