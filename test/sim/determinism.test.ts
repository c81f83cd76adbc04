/** One seed decides everything: no real time, no real chance, and the same trace again and again. */
import { readSchedule, simulate, writeSchedule } from "@quorate/sim";
import { afterEach, describe, expect, it } from "vitest";
import { seedOptions } from "./seedRuns.ts";

const productCode = /\/packages\/(raft|storage|transport|client|kv|sim)\//;
const restores: (() => void)[] = [];

afterEach(() => {
  for (const restore of restores.splice(0)) restore();
});

/** Notes each call that comes from product code; others (the test runner's) pass. */
function trap(owner: object, name: string, calls: string[]): void {
  const real = Reflect.get(owner, name) as (...given: unknown[]) => unknown;
  const spy = function (this: unknown, ...given: unknown[]): unknown {
    const callers = (new Error("where").stack ?? "").split("\n").slice(2);
    const culprit = callers.find((line) => productCode.test(line));
    if (culprit !== undefined) calls.push(`${name}${culprit}`);
    return Reflect.apply(real, this, given);
  };
  Reflect.set(owner, name, spy);
  restores.push(() => Reflect.set(owner, name, real));
}

describe("a simulation", () => {
  it("never asks for real time or real chance", async () => {
    const calls: string[] = [];
    for (const name of ["setTimeout", "setInterval", "setImmediate"]) trap(globalThis, name, calls);
    trap(process, "nextTick", calls);
    trap(Date, "now", calls);
    trap(Math, "random", calls);
    trap(performance, "now", calls);
    trap(crypto, "getRandomValues", calls);
    trap(crypto, "randomUUID", calls);
    trap(AbortSignal, "timeout", calls);
    const result = await simulate({ ...seedOptions(3), durationMs: 2_000 });
    expect(result.violations).toEqual([]);
    expect(calls).toEqual([]);
  });

  it("can tell when real chance is asked for", () => {
    const calls: string[] = [];
    trap(Math, "random", calls);
    const drawn = new Function("Math", "return Math.random();\n//# sourceURL=/packages/kv/src/careless.js");
    drawn(Math);
    expect(calls).toHaveLength(1);
  });

  it("goes the same way for the same seed, and another way for another", async () => {
    const [one, again, other] = [
      await simulate({ ...seedOptions(3), durationMs: 1_000 }),
      await simulate({ ...seedOptions(3), durationMs: 1_000 }),
      await simulate({ ...seedOptions(5), durationMs: 1_000 }),
    ];
    expect(again.traceHash).toBe(one.traceHash);
    expect(other.traceHash).not.toBe(one.traceHash);
  });

  it.each([6, 8, 9, 12, 17])(
    "goes the same way again from the file of its schedule, seed %i",
    async (seed) => {
      const drawn = await simulate({ ...seedOptions(seed), durationMs: 2_000 });
      expect(drawn.schedule.faults.length).toBeGreaterThan(0);
      expect(drawn.schedule.operations?.length).toBeGreaterThan(0);
      const replayed = await simulate({ schedule: readSchedule(writeSchedule(drawn.schedule)) });
      expect(replayed.traceHash).toBe(drawn.traceHash);
      expect(replayed.schedule).toEqual(drawn.schedule);
    },
  );
});
