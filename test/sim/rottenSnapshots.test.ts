/** Snapshots that rot on the disk of one node: it starts from the one before, or is given everything by the others. */
import type { RaftOptions } from "@quorate/raft";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { leaderOf, operateFor, verdict } from "./scenarios.ts";

const frugal: RaftOptions = {
  snapshotEntries: 20,
  snapshotGrowthPercent: 0,
  compactionTailEntries: 5,
  compactionTailBytes: 1_000,
};

describe("a node whose snapshots have rotted", () => {
  it.each(["the newest", "all"])("comes back with all that it had where %s is damaged", async (which) => {
    const profile = { ...sim.calmProfile, options: frugal };
    const options = {
      seed: which === "all" ? 33 : 32,
      nodes: 3,
      layer: "store",
      profile,
      linearizability: "never",
    } as const;
    const simulation = sim.openSimulation(options);
    const { cluster } = simulation;
    cluster.startAll();
    await sim.runFor(simulation, 10_000, () => cluster.leader() !== undefined);
    await operateFor(sim, simulation, 1_500);
    const leader = leaderOf(simulation);
    const victim = cluster.hosts.find((host) => host !== leader) as sim.SimulatedHost;
    expect(victim.running?.raft.status().compactedIndex).toBeGreaterThan(0);
    cluster.crash(victim, false);
    const { snapshots } = victim.directory;
    const names = snapshots.list().map(({ name }) => name);
    const newestFirst = names
      .filter((name) => name.endsWith(".snapshot"))
      .sort()
      .reverse();
    expect(newestFirst.length, "a crash may bring one back that was being removed").toBeGreaterThan(1);
    const rotten = which === "all" ? newestFirst.length : 1;
    victim.damage = "rot";
    for (const name of newestFirst.slice(0, rotten)) snapshots.rot(names.indexOf(name), 25);
    cluster.start(victim);
    await operateFor(sim, simulation, 500);
    await sim.runFor(simulation, 10_000, () => victim.running?.raft.status().floor === undefined);
    const lost = simulation.history.marks.get("data loss detected") ?? 0;
    expect(lost > 0).toBe(which === "all");
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });
});
