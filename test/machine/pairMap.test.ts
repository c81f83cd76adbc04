/** The pairs in their slabs: as in a plain map, in bounded memory, and each clone for itself. */
import type { StoredPair } from "@quorate/client/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
// Not exported: the machine alone writes to it.
import { PairMap } from "../../packages/kv/src/machine/pairMap.ts";

function pairOf(key: string, length: number, mark: number, session?: number): StoredPair {
  const value = new Uint8Array(length).fill(mark);
  const pair = {
    key,
    value,
    format: "text",
    createRevision: 1,
    modRevision: mark + 1,
    version: 2 ** 40,
  } as const;
  return session === undefined ? pair : { ...pair, session };
}

type Step =
  | { readonly kind: "set"; readonly key: string; readonly length: number; readonly session?: number }
  | { readonly kind: "delete"; readonly key: string }
  | { readonly kind: "clone" };

const keys = fc.constantFrom("a", "b", "c\u0000", "\u00ff", "dd", "e".repeat(40));
const lengths = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 300 }), weight: 20 },
  { arbitrary: fc.constantFrom(5_000, 131_000, 200_000, 1_048_576), weight: 1 },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record(
      { kind: fc.constant("set" as const), key: keys, length: lengths, session: fc.integer({ min: 1 }) },
      { requiredKeys: ["kind", "key", "length"] },
    ),
    weight: 8,
  },
  { arbitrary: fc.record({ kind: fc.constant("delete" as const), key: keys }), weight: 2 },
  { arbitrary: fc.constant({ kind: "clone" as const }), weight: 1 },
);

/** `at` says which of the maps there are by then the step is for: clones go on as their originals do. */
const steps = fc.array(fc.tuple(step, fc.nat()), { minLength: 20, maxLength: 200 });

/** Its value as text: arrays of a megabyte take the test runner seconds to compare. */
function shown(pair: StoredPair | undefined): unknown {
  return pair && { ...pair, value: Buffer.from(pair.value).toString("latin1") };
}

function expectSame(map: PairMap, model: ReadonlyMap<string, StoredPair>): void {
  map.checkValid();
  const sorted = [...model.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  expect([...map.pairs()].map(shown)).toEqual(sorted.map(shown));
  expect([...map.pairsBackwards()].map(shown)).toEqual(sorted.toReversed().map(shown));
  for (const key of ["a", "b", "none"]) {
    const from = sorted.filter((pair) => pair.key >= key && pair.key < "dd").map((pair) => pair.key);
    expect(map.count(key, "dd", 2)).toEqual({
      count: Math.min(2, from.length),
      ...(from.length > 2 ? { next: from[2] } : {}),
    });
    expect(map.count(key, undefined, 9)).toEqual({
      count: sorted.filter((pair) => pair.key >= key).length,
    });
    expect(shown(map.get(key))).toEqual(shown(model.get(key)));
    expect(map.modRevisionOf(key)).toBe(model.get(key)?.modRevision ?? 0);
  }
}

describe("the pairs in their slabs", () => {
  it("are those of a plain map, in each clone and its original, whatever is done to either", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const maps = [{ map: new PairMap(), model: new Map<string, StoredPair>() }];
        for (const [at, [one, which]] of taken.entries()) {
          const { map, model } = maps[which % maps.length]!;
          if (one.kind === "clone") {
            if (maps.length < 4) maps.push({ map: map.clone(), model: new Map(model) });
          } else if (one.kind === "delete") expect(map.delete(one.key)).toBe(model.delete(one.key));
          else {
            const pair = pairOf(one.key, one.length, at % 256, one.session);
            map.set(one.key, pair);
            model.set(one.key, pair);
          }
        }
        for (const { map, model } of maps) expectSame(map, model);
      }),
      { numRuns: 60 },
    );
  });

  it("hold a quarter of what is in use besides it, and some slabs, at most: as they grow, are written over and shrink", () => {
    const map = new PairMap();
    const bound = (): number => map.memory.live * 1.25 + 300_000;
    let most = 0;
    for (let n = 0; n < 60_000; n += 1) {
      const at = (n * 7_919) % 5_000;
      const key = `key/${at}`;
      if (n < 50_000 || at % 10 === 0) map.set(key, pairOf(key, 100 + ((n * 31) % 200), n % 256));
      else map.delete(key);
      if (map.memory.held > bound()) expect.fail(`${map.memory.held} bytes for ${map.memory.live}`);
      most = Math.max(most, map.memory.held);
    }
    expect(most).toBeGreaterThan(1_000_000);
    expect(map.memory.held).toBeLessThan(most / 2);
    map.checkValid();
    for (const { key } of [...map.pairs()]) map.delete(key);
    expect(map.size).toBe(0);
    expect(map.memory.held).toBeLessThan(bound());
  });

  it("let go of their slabs as they are drained, and of none that the map they were cloned from is in", () => {
    const map = new PairMap();
    const all: StoredPair[] = [];
    for (let n = 0; n < 20_000; n += 1) all.push(pairOf(`key/${String(n).padStart(5, "0")}`, 300, n % 256));
    for (const pair of all) map.set(pair.key, pair);
    const view = map.clone();
    const { live, held } = view.memory;
    let taken = 0;
    for (const pair of view.drain()) {
      expect(pair.key).toBe(all[taken]?.key);
      if (taken === 10_000) {
        expect(shown(pair)).toEqual(shown(all[taken]));
        expect(view.memory.live).toBeLessThan(0.51 * live);
        expect(view.memory.held).toBeLessThan(0.6 * held);
      }
      taken += 1;
    }
    expect(taken).toBe(all.length);
    expect(view.memory).toEqual({ live: 0, held: 0 });
    expect(map.memory).toEqual({ live, held });
    map.checkValid();
  });

  it("give out values that stay as they were", () => {
    const map = new PairMap();
    for (let n = 0; n < 50; n += 1) map.set(`k${n}`, pairOf(`k${n}`, 100, n));
    const given = map.get("k7")!;
    for (let n = 0; n < 5_000; n += 1) map.set(`k${n % 50}`, pairOf(`k${n % 50}`, 100, 99));
    expect(given).toEqual(pairOf("k7", 100, 7));
  });
});
