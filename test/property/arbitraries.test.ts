/** What fast-check draws of runs is legal, shrinks to nothing, and is worth running. */
import { calmWire, readSchedule, type Schedule, simulate, writeSchedule } from "@quorate/sim";
import { clusters, commandWorkloads, faultLists, schedules } from "@quorate/sim/property";
import fc, { type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import { increments } from "./machines.ts";

/** What is left of a value that nothing may stay of. */
function smallestOf<T>(arbitrary: Arbitrary<T>, isStill: (value: T) => boolean = () => true): T {
  const { counterexample } = fc.check(
    fc.property(arbitrary, (value) => !isStill(value)),
    { seed: 5, numRuns: 1_000 },
  );
  if (counterexample === null) throw new Error("no value was drawn that is so");
  return counterexample[0];
}

const commanded = schedules({ nodes: [1, 3, 5], commands: increments });

describe("arbitraries of runs", () => {
  it("shrink to nothing", () => {
    expect(smallestOf(faultLists(5), (list) => list.length > -1)).toEqual([]);
    expect(smallestOf(commandWorkloads(increments))).toEqual([]);
    expect(smallestOf(clusters({ nodes: [3, 5] }))).toMatchObject({ nodes: 3, profile: { wire: calmWire } });
    expect(smallestOf(commanded)).toMatchObject({ nodes: 1, faults: [], operations: [] });
  });

  it("keep what is needed, and nothing else", () => {
    const isNeeded = ({ faults, nodes, operations = [] }: Schedule): boolean =>
      nodes > 1 && faults.some(({ fault }) => fault.kind === "partition") && operations.length > 2;
    const { faults, nodes, operations } = smallestOf(commanded, isNeeded);
    expect({ nodes, faults: faults.length, operations: operations?.length }).toEqual({
      nodes: 3,
      faults: 1,
      operations: 3,
    });
  });

  it("draw nothing but legal schedules, every kind of fault among them", () => {
    const drawn = fc.sample(commanded, { seed: 7, numRuns: 300 });
    const kinds = new Set(drawn.flatMap(({ faults }) => faults.map(({ fault }) => fault.kind)));
    expect([...kinds].sort()).toEqual([
      "clog",
      "crash",
      "crashAll",
      "diskError",
      "hangingDisk",
      "lossyPath",
      "partition",
      "pause",
      "slowDisk",
      "transfer",
    ]);
    for (const schedule of drawn) expect(readSchedule(writeSchedule(schedule))).toEqual(schedule);
  });

  it("bring the shipped store into trouble, and nothing is violated", async () => {
    const events: number[] = [];
    await fc.assert(
      fc.asyncProperty(schedules({ nodes: [3, 5], durationMs: 500 }), async (schedule) => {
        const result = await simulate({ schedule });
        events.push(result.events);
        expect(result.violations).toEqual([]);
      }),
      { seed: 3, numRuns: 3 },
    );
    expect(Math.min(...events)).toBeGreaterThan(100);
  });
});
