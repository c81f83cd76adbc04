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
  readonly reads: number[];
}

function rig(options: {
  cachedFrom: number;
  perPortion: number;
  throwAt?: number;
  msPerEntry?: number;
}): Rig {
  const seen: number[] = [];
  const failures: unknown[] = [];
  const deferred: (() => void)[] = [];
  const reads: number[] = [];
  let nowMs = 0;
  const slice = (from: Index, to: Index): Entry[] =>
    Array.from({ length: Math.min(options.perPortion, to - from + 1) }, (_, offset) => entry(from + offset));
  const applier = new Applier(asIndex(0), {
    cached: (from, to) => (from < options.cachedFrom ? undefined : slice(from, to)),
    read: (from, to) => {
      reads.push(from);
      return Promise.resolve(slice(from, to));
    },
    apply: (applied) => {
      if (applied.index === options.throwAt) throw new Error("the machine broke");
      seen.push(applied.index);
      nowMs += options.msPerEntry ?? 0;
    },
    applied: () => {},
    defer: (fn) => deferred.push(fn),
    nowMs: () => nowMs,
    failed: (error) => failures.push(error),
  });
  return { applier, seen, failures, deferred, reads };
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

  it("ends a portion when it took its time, and reads nothing of it twice", async () => {
    const all = rig({ cachedFrom: 1_000, perPortion: 100, msPerEntry: 1 });
    all.applier.advance(asIndex(150));
    const perTurn: number[] = [];
    while (all.seen.length < 150) {
      const before = all.seen.length;
      for (let hop = 0; hop < 3; hop += 1) await Promise.resolve();
      perTurn.push(all.seen.length - before);
      all.deferred.shift()?.();
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(32);
    expect(all.seen).toEqual(Array.from({ length: 150 }, (_, offset) => offset + 1));
    expect(all.reads).toEqual([1, 101]);
  });

  it("forgets what it has read when a snapshot takes its place", async () => {
    const all = rig({ cachedFrom: 1_000, perPortion: 100, msPerEntry: 1 });
    all.applier.advance(asIndex(150));
    for (let hop = 0; hop < 3; hop += 1) await Promise.resolve();
    expect(all.seen).toHaveLength(16);
    all.applier.hold();
    all.deferred.shift()?.();
    expect(all.seen).toHaveLength(16);
    all.applier.resumeAt(asIndex(120));
    await run(all);
    expect(all.seen.slice(16)).toEqual(Array.from({ length: 30 }, (_, offset) => offset + 121));
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
