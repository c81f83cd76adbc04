/** Directories that are not what they were: wiped, an older copy, with batches gone. Never silence, never lost data. */
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { calmCluster, leaderOf, operateFor, outcomeOf, verdict } from "./scenarios.ts";

async function loadedCluster(seed: number) {
  const simulation = await calmCluster(sim, { seed, nodes: 3, layer: "raft" });
  await operateFor(sim, simulation, 500);
  const leader = leaderOf(simulation);
  const victim = simulation.cluster.hosts.find((host) => host !== leader) as sim.SimulatedHost;
  return { simulation, victim };
}

describe("a directory that was wiped", () => {
  it("is another member that nobody knows: it stays out, is told why, and the others go on", async () => {
    const { simulation, victim } = await loadedCluster(21);
    const { cluster } = simulation;
    const lines: string[] = [];
    cluster.wipe(victim);
    cluster.start(victim);
    await sim.runFor(simulation, 8_000);
    const status = victim.running?.raft.status();
    expect(status?.standing).toBe("unborn");
    lines.push(...(status?.complaints ?? []));
    expect(lines.join("\n")).toMatch(/wiped/);
    expect(await outcomeOf(sim, simulation, simulation.workload.write(leaderOf(simulation), 1_000))).toBe(
      true,
    );
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });
});

describe("an older copy of a directory", () => {
  it("is refused by those who have seen more of it, and the node stops with the reason", async () => {
    const { simulation, victim } = await loadedCluster(22);
    const { cluster } = simulation;
    const copy = cluster.copy(victim);
    await operateFor(sim, simulation, 500);
    cluster.rollBack(victim, copy);
    cluster.start(victim);
    await sim.runFor(simulation, 8_000, () => victim.stopReason !== undefined);
    expect(victim.stopReason).toMatch(/older copy/);
    cluster.start(victim);
    await sim.runFor(simulation, 2_000, () => victim.stopReason !== undefined);
    expect(victim.stopReason).toMatch(/quarantined/);
    expect(await outcomeOf(sim, simulation, simulation.workload.write(leaderOf(simulation), 1_000))).toBe(
      true,
    );
    expect(verdict(simulation)).toBe("nothing violated");
  });
});

describe("a log that lost batches in silence", () => {
  it.each([0, 0.3, 0.6, 0.9])(
    "makes its node mute until it has regained them, cut at %d of the log",
    async (share) => {
      const { simulation, victim } = await loadedCluster(23);
      const { cluster, history } = simulation;
      const count = victim.directory.batchCount;
      cluster.rot(victim, Math.floor(count * share), count);
      cluster.start(victim);
      await sim.runFor(simulation, 6_000);
      const found =
        (history.marks.get("data loss detected") ?? 0) + (history.marks.get("membership record lost") ?? 0);
      expect(found + (victim.isUp ? 0 : 1)).toBeGreaterThan(0);
      await operateFor(sim, simulation, 200);
      await sim.checkRecovery(simulation);
      expect(verdict(simulation)).toBe("nothing violated");
    },
  );
});
