/** A minority serves nobody: what it is asked ends as unknown or failed, and what it took is gone after the healing. */
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { calmCluster, isolateLeader, operateFor, outcomeOf, pausedLeader, verdict } from "./scenarios.ts";

describe.each(["raft", "store"] as const)("a minority with the old leader in it (%s)", (layer) => {
  it.each([3, 5])("acknowledges no write and answers no linearizable read, of %i nodes", async (nodes) => {
    const simulation = await calmCluster(sim, { seed: 5, nodes, layer });
    const { history, workload, world } = simulation;
    await operateFor(sim, simulation, 300);
    await sim.runFor(simulation, 6_000);
    const minority = isolateLeader(simulation);
    const before = { ...workload.stats };
    for (const host of minority) {
      const attempts = [workload.write(host, 1_500), workload.read(host, 1_500), workload.write(host, 1_500)];
      for (const attempt of attempts) expect(await outcomeOf(sim, simulation, attempt)).toBe(false);
    }
    expect(workload.stats.acknowledged).toBe(before.acknowledged);
    expect(workload.stats.reads).toBe(before.reads);
    expect(workload.stats.failed + workload.stats.unknown).toBe(
      before.failed + before.unknown + 2 * minority.length,
    );
    world.paths.healAll();
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(history.marks.get("conflict truncated")).toBeGreaterThan(0);
  });
});

describe.each(["raft", "store"] as const)("a leader that was paused (%s)", (layer) => {
  it("answers no stale read and acknowledges nothing that is lost", async () => {
    const simulation = await pausedLeader(sim, layer);
    expect(simulation.answers).toEqual([false, false]);
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(simulation.history.marks.get("leader paused")).toBe(1);
  });
});
