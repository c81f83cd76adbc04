/** The arithmetic of quorums against brute force. */
import { asIndex, hasQuorum, isVoter, majorityOf, reachedByQuorum, votersOnly } from "@quorate/raft";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configurationFor, idOf } from "./cluster.ts";

const names = ["a", "b", "c", "d", "e", "f", "g"];

/** The highest value for which at least a majority has that much, by trying every value. */
function bruteForce(values: readonly number[]): number {
  const majority = Math.floor(values.length / 2) + 1;
  let best = 0;
  for (const candidate of values) {
    if (values.filter((value) => value >= candidate).length >= majority) best = Math.max(best, candidate);
  }
  return best;
}

describe("a quorum", () => {
  it("is more than half of the voters: of four it takes three (wenweihu86/raft-java#21)", () => {
    const sizes = [1, 2, 3, 4, 5, 6, 7].map((count) =>
      majorityOf(configurationFor(names.slice(0, count)).voters),
    );
    expect(sizes).toEqual([1, 2, 2, 3, 3, 4, 4]);
  });

  it("is never reached where nobody votes", () => {
    expect(hasQuorum(votersOnly([]), () => true)).toBe(false);
    expect(reachedByQuorum(votersOnly([]), () => 7)).toBe(0);
  });

  it("has reached what brute force says it has, over every order of updates (openraft#1802)", () => {
    const updates = fc.array(fc.record({ who: fc.nat(6), to: fc.nat(9) }), { minLength: 0, maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), updates, (count, list) => {
        const configuration = configurationFor(names.slice(0, count));
        const values = new Map(configuration.voters.map(({ id }) => [id, asIndex(0)]));
        for (const { who, to } of list) {
          const id = idOf(names[who % count]!);
          values.set(id, asIndex(Math.max(to, values.get(id)!)));
          const found = reachedByQuorum(configuration, (voter) => values.get(voter) ?? 0);
          expect(found).toBe(bruteForce([...values.values()]));
        }
      }),
    );
  });

  it("counts the voters of the configuration and nobody else", () => {
    fc.assert(
      fc.property(fc.subarray(names), fc.subarray(names, { minLength: 1 }), (heard, voters) => {
        const configuration = configurationFor(voters);
        const ids = new Set(heard.map(idOf));
        const count = voters.filter((name) => heard.includes(name)).length;
        expect(hasQuorum(configuration, (id) => ids.has(id))).toBe(count > voters.length / 2);
        for (const name of names) expect(isVoter(configuration, idOf(name))).toBe(voters.includes(name));
      }),
    );
  });
});
