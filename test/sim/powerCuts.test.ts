/** Power cuts and kills of all nodes at once: every node comes back as a voter by itself, with all it acknowledged. */
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { calmCluster, operateFor, verdict } from "./scenarios.ts";

describe("power cuts of all nodes at once", () => {
  it.each([
    [1, "raft"],
    [3, "raft"],
    [3, "store"],
    [5, "store"],
  ] as const)(
    "leave every one of %i nodes (%s) a voter with all that it acknowledged, 40 times over",
    async (nodes, layer) => {
      const simulation = await calmCluster(sim, { seed: 7 + nodes, nodes, layer, meanDiskLatencyMs: 3 });
      const { cluster, nemesis, history, workload, world } = simulation;
      const chance = world.chance("power cuts");
      for (let cut = 0; cut < 40; cut += 1) {
        await operateFor(sim, simulation, chance.between(20, 400), 2);
        nemesis.strike({ kind: "crashAll", silent: cut % 2 === 0, forMs: chance.between(1, 50) });
        const isBack = await sim.runFor(simulation, 10_000, () =>
          cluster.hosts.every(
            (host) => host.member?.state !== undefined && host.member.state.leader !== undefined,
          ),
        );
        expect(verdict(simulation)).toBe("nothing violated");
        expect(isBack).toBe(true);
        for (const host of cluster.hosts) expect(host.member?.state?.floor).toBeUndefined();
      }
      await sim.checkRecovery(simulation);
      expect(verdict(simulation)).toBe("nothing violated");
      expect(workload.stats.acknowledged).toBeGreaterThan(100);
      expect(history.marks.get("crash with a write in flight")).toBeGreaterThan(5);
    },
    120_000,
  );
});
