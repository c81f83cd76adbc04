/** A day of virtual time of clients that come and go, politely or not, leaves nothing behind in any node. */
import { sessions } from "@quorate/kv/machine";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { isSettled, outcomeOf, verdict } from "./scenarios.ts";

const minuteMs = 60_000;
const clientsOfADay = 720;

describe("a day of clients that connect and leave", () => {
  it("leaves no session, connection, request or timer", async () => {
    // A calm day needs few heartbeats; sessions live for three minutes.
    const options = { heartbeatMs: 10_000, electionTimeoutMinMs: 20_000, electionTimeoutMaxMs: 40_000 };
    const simulation = sim.openSimulation({ seed: 31, nodes: 3, profile: { ...sim.calmProfile, options } });
    const { cluster, world } = simulation;
    const workload = simulation.workload as sim.StoreWorkload;
    cluster.startAll();
    await sim.runFor(simulation, 5 * minuteMs, () => isSettled(simulation));
    await sim.runFor(simulation, minuteMs);
    const before = { ends: world.network.openEnds(), events: world.timeline.size };

    for (let client = 0; client < clientsOfADay; client += 1) {
      const visitor = workload.connect(3 * minuteMs);
      workload.oracle.begins(`visitor/${client % 10}`, client);
      const put = visitor.cluster.kv.put(`visitor/${client % 10}`, client).then(() => true);
      expect(await outcomeOf(sim, simulation, put, minuteMs)).toBe(true);
      await sim.runFor(simulation, minuteMs);
      workload.leave(visitor, client % 3 !== 0);
      await sim.runFor(simulation, minuteMs);
    }
    await sim.runFor(simulation, 10 * minuteMs);

    expect(world.timeline.nowMs).toBeGreaterThan(24 * 60 * minuteMs);
    expect(simulation.history.marks.get("client vanished")).toBe(clientsOfADay / 3);
    for (const host of cluster.hosts) {
      const store = host.running?.store;
      expect(sessions(store!.host.store).size).toBe(0);
      expect(store!.server.sessionClock.tracked).toBe(0);
      expect(store!.server.connections).toBe(0);
      expect(store!.server.requestsUnderWay).toBe(0);
    }
    expect(world.network.openEnds()).toBe(before.ends);
    expect(world.timeline.size).toBeLessThanOrEqual(before.events + 10);
    expect(verdict(simulation)).toBe("nothing violated");
  }, 300_000);
});
