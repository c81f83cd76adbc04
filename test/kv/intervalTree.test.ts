/** The ranges of watches, found by key: against a look at each of them. */
import type { KeyRange } from "@quorate/client/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { IntervalTree } from "../../packages/kv/src/server/watches/intervalTree.ts";

it("the ranges of a key are found by an interval tree as by looking at each range", () => {
  const bound = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 3 });
  const ranges = fc.array(fc.tuple(bound, bound, fc.boolean()), { maxLength: 40 });
  fc.assert(
    fc.property(ranges, fc.array(bound, { minLength: 1, maxLength: 8 }), (all, keys) => {
      const tree = new IntervalTree<number>();
      const kept = new Map<number, KeyRange>();
      for (const [at, [from, to, goes]] of all.entries()) {
        tree.add({ from, to }, at);
        kept.set(at, { from, to });
        const leaver = [...kept.keys()][at % kept.size];
        if (!goes || leaver === undefined) continue;
        tree.remove(kept.get(leaver) as KeyRange, leaver);
        kept.delete(leaver);
      }
      for (const key of keys) {
        const found: number[] = [];
        tree.visit(key, (item) => found.push(item));
        const expected = [...kept].filter(([, { from, to }]) => key >= from && (to === "" || key < to));
        expect(found.sort((a, b) => a - b)).toEqual(expected.map(([item]) => item));
      }
    }),
    { numRuns: 1_000 },
  );
});
