/** Committed entries reach the state machine once each, in order, from memory or from disk. */
import { asIndex, asTerm, type Entry, type Index } from "@quorate/raft";
import { Applier } from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";

function entry(index: number): Entry {
  return { index: asIndex(index), term: asTerm(1), kind: "command", data: new Uint8Array() };
}

interface Rig {
  readonly applier: Applier;
  readonly seen: number[];
  readonly failures: unknown[];
  readonly deferred: (() => void)[];
}

function rig(options: { cachedFrom: number; perPortion: number; throwAt?: number }): Rig {
  const seen: number[] = [];
  const failures: unknown[] = [];
  const deferred: (() => void)[] = [];
  const slice = (from: Index, to: Index): Entry[] =>
    Array.from({ length: Math.min(options.perPortion, to - from + 1) }, (_, offset) => entry(from + offset));
  const applier = new Applier(asIndex(0), {
    cached: (from, to) => (from < options.cachedFrom ? undefined : slice(from, to)),
    read: (from, to) => Promise.resolve(slice(from, to)),
    apply: (applied) => {
      if (applied.index === options.throwAt) throw new Error("the machine broke");
      seen.push(applied.index);
    },
    applied: () => {},
    defer: (fn) => deferred.push(fn),
    failed: (error) => failures.push(error),
  });
  return { applier, seen, failures, deferred };
}

async function run({ deferred }: Rig): Promise<void> {
  for (let round = 0; round < 100; round++) {
    for (let hop = 0; hop < 3; hop++) await Promise.resolve();
    deferred.shift()?.();
  }
}

describe("the applier", () => {
  it("applies each entry once and in order, first from disk, then from memory", async () => {
    const all = rig({ cachedFrom: 8, perPortion: 3 });
    all.applier.advance(asIndex(10));
    all.applier.advance(asIndex(20));
    await run(all);
    expect(all.seen).toEqual(Array.from({ length: 20 }, (_, offset) => offset + 1));
    expect(all.applier.appliedIndex).toBe(20);
  });

  it("applies what is in memory in the same turn", () => {
    const all = rig({ cachedFrom: 0, perPortion: 100 });
    all.applier.advance(asIndex(4));
    expect(all.seen).toEqual([1, 2, 3, 4]);
  });

  it("stops loudly at the entry that the machine cannot take", async () => {
    const all = rig({ cachedFrom: 0, perPortion: 100, throwAt: 3 });
    all.applier.advance(asIndex(4));
    all.applier.advance(asIndex(6));
    await run(all);
    expect(all.seen).toEqual([1, 2]);
    expect(all.failures).toHaveLength(1);
  });

  it("applies nothing more once it was stopped, even what is being read", async () => {
    const all = rig({ cachedFrom: 100, perPortion: 2 });
    all.applier.advance(asIndex(10));
    all.applier.stop();
    await run(all);
    expect(all.seen).toEqual([]);
  });
});
