/** The founding of a cluster on a network that loses connections at the worst moments. */
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { verdict } from "./scenarios.ts";

describe("the founding of a cluster", () => {
  it("is not held up by a connection that breaks, whichever it is and whenever", async () => {
    let broken = 0;
    for (let atMs = 2; atMs < 34; atMs += 0.5) {
      const simulation = sim.openSimulation({
        seed: 12,
        nodes: 3,
        layer: "raft",
        profile: { ...sim.calmProfile, wire: { ...sim.calmWire, meanDelayMs: 3 } },
        // One frame is damaged: it is dropped, with the connection that it came by.
        onLine: (line) => {
          if (!line.includes("is damaged")) return;
          broken += 1;
          simulation.world.paths.temper = { ...simulation.world.paths.temper, corruption: 0 };
        },
      });
      const { cluster, world } = simulation;
      world.timeline.schedule(atMs, undefined, () => {
        world.paths.temper = { ...world.paths.temper, corruption: 1 };
      });
      cluster.startAll();
      const isLed = await sim.runFor(simulation, 5_000, () => cluster.leader() !== undefined);
      expect([atMs, isLed]).toEqual([atMs, true]);
      expect(verdict(simulation)).toBe("nothing violated");
    }
    expect(broken).toBeGreaterThan(50);
  });
});
