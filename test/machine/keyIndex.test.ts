/** The index of keys, whose keys lie in the slabs: as in a plain map, and each clone for itself. */
import type { StoredPair } from "@quorate/client/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
// Not exported: the map of pairs alone uses it.
import type { KeyCursor } from "../../packages/kv/src/machine/keyCursor.ts";
import { KeyIndex } from "../../packages/kv/src/machine/keyIndex.ts";
import { modRevisionAt, packedKeyAt } from "../../packages/kv/src/machine/packedPair.ts";
import { PairSlabs } from "../../packages/kv/src/machine/pairSlabs.ts";

/** What is at a key is known by a mark, wherever it lies. */
type Entry = readonly [key: string, mark: number];

const noBytes = new Uint8Array(0);

function pairOf(key: string, mark: number): StoredPair {
  return { key, value: noBytes, format: "bytes", createRevision: 1, modRevision: mark, version: 1 };
}

function inOrder(entries: Iterable<Entry>): Entry[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** An index with its slabs, and what it is to have. */
class Tried {
  readonly slabs: PairSlabs;
  readonly index: KeyIndex;
  readonly model: Map<string, number>;

  constructor(slabs: PairSlabs, index: KeyIndex, model: Map<string, number>) {
    this.slabs = slabs;
    this.index = index;
    this.model = model;
  }

  clone(): Tried {
    const slabs = this.slabs.clone();
    return new Tried(slabs, this.index.clone(slabs), new Map(this.model));
  }

  put(key: string, mark: number): void {
    const before = this.index.find(key);
    this.index.put(key, this.slabs.add(pairOf(key, mark)));
    if (before !== undefined) this.slabs.release(before);
    this.model.set(key, mark);
  }

  delete(key: string): void {
    const before = this.index.find(key);
    expect(this.index.delete(key)).toBe(this.model.delete(key));
    if (before !== undefined) this.slabs.release(before);
  }

  /** As the emptying of a slab does. */
  move(key: string): void {
    const before = this.index.find(key);
    if (before === undefined) return;
    this.index.put(key, this.slabs.copy(before));
    this.slabs.release(before);
  }

  append(ends: readonly string[], mark: number): void {
    const last = inOrder(this.model).at(-1)?.[0] ?? "";
    const keys = [...new Set(ends)].sort((a, b) => (a < b ? -1 : 1)).map((end) => last + end);
    this.index.append(keys.map((key) => this.slabs.add(pairOf(key, mark))));
    for (const key of keys) this.model.set(key, mark);
  }

  taken(cursor: KeyCursor): Entry[] {
    const entries: Entry[] = [];
    for (let place = cursor.next(); place !== undefined; place = cursor.next()) {
      const [slab, at] = [this.slabs.slabAt(place), this.slabs.byteAt(place)];
      entries.push([packedKeyAt(slab, at), modRevisionAt(slab, at)]);
    }
    expect(cursor.next()).toBeUndefined();
    return entries;
  }

  expectValid(bounds: Iterable<string>): void {
    const { index, model } = this;
    index.checkValid();
    expect(index.size).toBe(model.size);
    const entries = inOrder(model);
    expect(this.taken(index.from())).toEqual(entries);
    expect(this.taken(index.before())).toEqual(entries.toReversed());
    for (const bound of bounds) {
      expect(this.taken(index.from(bound))).toEqual(entries.filter(([key]) => key >= bound));
      expect(this.taken(index.before(bound))).toEqual(entries.filter(([key]) => key < bound).toReversed());
      expect(index.find(bound) !== undefined).toBe(model.has(bound));
    }
  }
}

type Step =
  | { readonly kind: "put" | "delete" | "move"; readonly key: string }
  | { readonly kind: "append"; readonly ends: readonly string[] }
  | { readonly kind: "deleteAll"; readonly from: string; readonly to: string }
  | { readonly kind: "clone" };

/** Of few bytes, so that some are there already, and begin as others do or as all of a leaf. */
const ends = fc.string({ unit: fc.constantFrom("\u0000", "a", "b", "\u00ff"), minLength: 1, maxLength: 7 });
const keys = fc.oneof(
  ends,
  ends.map((end) => `long/beginning/${end}`),
);
const arbitraries = {
  put: fc.record({ kind: fc.constant("put" as const), key: keys }),
  append: fc.record({
    kind: fc.constant("append" as const),
    ends: fc.array(ends, { maxLength: 30 }),
  }),
  delete: fc.record({ kind: fc.constantFrom("delete" as const, "move" as const), key: keys }),
  deleteAll: fc.record({ kind: fc.constant("deleteAll" as const), from: keys, to: keys }),
  clone: fc.constant({ kind: "clone" as const }),
};
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: arbitraries.put, weight: 30 },
  { arbitrary: arbitraries.append, weight: 1 },
  { arbitrary: arbitraries.delete, weight: 10 },
  { arbitrary: arbitraries.deleteAll, weight: 1 },
  { arbitrary: arbitraries.clone, weight: 2 },
);

function take(tried: Tried, one: Exclude<Step, { kind: "clone" }>, mark: number): void {
  if (one.kind === "put") tried.put(one.key, mark);
  else if (one.kind === "append") tried.append(one.ends, mark);
  else if (one.kind === "deleteAll") {
    for (const key of tried.model.keys()) if (key >= one.from && key < one.to) tried.delete(key);
  } else tried[one.kind](one.key);
}

/** Deep trees of few keys. */
function withSmallNodes(maxItems: number): Tried {
  const slabs = new PairSlabs();
  return new Tried(slabs, new KeyIndex(slabs, maxItems), new Map());
}

describe("the index of keys", () => {
  it("has what a plain map has, in either order, in each clone and its original, whatever is done to either", () => {
    const steps = fc.array(fc.tuple(step, fc.nat()), { minLength: 50, maxLength: 300 });
    fc.assert(
      fc.property(steps, fc.constantFrom(2, 3, 4, 8), fc.array(keys), (taken, maxItems, bounds) => {
        const all = [withSmallNodes(maxItems)];
        for (const [at, [one, which]] of taken.entries()) {
          const tried = all[which % all.length]!;
          if (one.kind !== "clone") take(tried, one, at + 1);
          else if (all.length < 4) all.push(tried.clone());
        }
        for (const tried of all) tried.expectValid(["", ...bounds, ...[...tried.model.keys()].slice(0, 20)]);
      }),
      { numRuns: 150 },
    );
  });

  it("has nodes of the size that ships: filled in any order, by runs, and emptied", () => {
    const tried = withSmallNodes(64);
    const keyOf = (n: number): string => `key/${String((n * 7_919) % 10_000).padStart(5, "0")}`;
    for (let n = 0; n < 10_000; n += 1) tried.put(keyOf(n), 1);
    for (let run = 0; run < 5; run += 1) {
      tried.append(
        Array.from({ length: 1_000 }, (_, n) => `/${n}`),
        2,
      );
    }
    const view = tried.clone();
    for (let n = 0; n < 9_990; n += 1) tried.delete(keyOf(n));
    tried.expectValid(["key/05000", "key/09999/", "l"]);
    view.expectValid(["key/05000", "key/09999/", "l"]);
    for (const key of [...tried.model.keys()]) tried.delete(key);
    tried.put("a", 3);
    tried.expectValid(["", "a", "b"]);
  });

  it("refuses a run that begins before its end", () => {
    const tried = withSmallNodes(4);
    tried.put("b", 1);
    const place = tried.slabs.add(pairOf("b", 2));
    expect(() => tried.index.append([place])).toThrow("A run of keys begins before the index ends.");
  });
});
