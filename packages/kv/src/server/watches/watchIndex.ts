/** Watches by what they watch, so that a change costs as much as it has watches to tell: single keys by a map. */
import { type ByteString, type KeyRange, keyAfter } from "@quorate/client/protocol";
import { IntervalTree } from "./intervalTree.ts";

interface Ranged {
  readonly range: KeyRange;
}

export class WatchIndex<Watch extends Ranged> {
  readonly #byKey: Map<ByteString, Set<Watch>> = new Map();
  readonly #ranges: IntervalTree<Watch> = new IntervalTree();
  readonly #all: Set<Watch> = new Set();

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): IterableIterator<Watch> {
    return this.#all.values();
  }

  add(watch: Watch): void {
    if (this.#all.has(watch)) return;
    this.#all.add(watch);
    const { range } = watch;
    if (!isSingleKey(range)) {
      this.#ranges.add(range, watch);
      return;
    }
    const others = this.#byKey.get(range.from);
    if (others === undefined) this.#byKey.set(range.from, new Set([watch]));
    else others.add(watch);
  }

  remove(watch: Watch): void {
    if (!this.#all.delete(watch)) return;
    const { range } = watch;
    if (!isSingleKey(range)) {
      this.#ranges.remove(range, watch);
      return;
    }
    const others = this.#byKey.get(range.from);
    others?.delete(watch);
    if (others?.size === 0) this.#byKey.delete(range.from);
  }

  /** Calls `visit` for each watch of the key. It must not add or remove any. */
  visit(key: ByteString, visit: (watch: Watch) => void): void {
    const exact = this.#byKey.get(key);
    if (exact !== undefined) for (const watch of exact) visit(watch);
    this.#ranges.visit(key, visit);
  }
}

function isSingleKey({ from, to }: KeyRange): boolean {
  return to.length === from.length + 1 && to === keyAfter(from);
}
