/** A machine of the user's own in a simulation that is driven by hand. */
import { calmProfile, openSimulation, runFor, type Schedule, simulate } from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { Counter } from "./machines.ts";

const starts: string[] = [];
const machine = {
  machine({ disk, node, start }: { disk: Map<string, unknown>; node: string; start: number }) {
    starts.push(`${node}${start}: ${disk.size}`);
    disk.set("here", true);
    return new Counter();
  },
  state: (counter: Counter) => counter.value,
};

describe("a machine of the user's own", () => {
  it("finds its disk again after a restart, and an empty one after its directory was wiped", async () => {
    starts.splice(0);
    const simulation = openSimulation({ seed: 1, nodes: 3, profile: calmProfile, machine });
    const { cluster, nemesis } = simulation;
    cluster.startAll();
    await runFor(simulation, 1_000);
    nemesis.strike({ kind: "crash", node: "a", silent: true, whenWriting: false, forMs: 100 });
    nemesis.strike({ kind: "wipe", node: "b", forMs: 100 });
    await runFor(simulation, 1_000);
    expect(starts.toSorted()).toEqual(["a1: 0", "a2: 1", "b1: 0", "b2: 0", "c1: 0"]);
    expect(simulation.history.violations).toEqual([]);
  });

  it("has the whole of Raft under it, and nothing of the store", async () => {
    await expect(simulate({ seed: 1, nodes: 3, layer: "store", machine })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
    });
    const result = await simulate({ seed: 1, nodes: 3, durationMs: 500, machine });
    expect(result.schedule.layer).toBe("raft");
    expect(result.violations).toEqual([]);
  });

  it("has to be there for a schedule with commands", async () => {
    const schedule: Schedule = {
      version: 1,
      seed: 1,
      nodes: 1,
      layer: "raft",
      profile: calmProfile,
      durationMs: 500,
      faults: [],
      operations: [
        { atMs: 300, operation: { kind: "command", client: 0, command: { by: 2 }, timeoutMs: 100 } },
      ],
    };
    await expect(simulate({ schedule })).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    const { stats, violations } = await simulate({ schedule, machine });
    expect(stats.acknowledged).toBe(1);
    expect(violations).toEqual([]);
  });
});
