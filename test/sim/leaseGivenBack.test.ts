/**
 * What is given back reaches the cluster, also where that is away at the moment, or the cluster object is closed right
 * after: whoever is next would wait for a time to live otherwise.
 */
import type { ElectionOptions } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { LeaseWorld } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

/** Of a session of its own, which would live on for long. */
const long: ElectionOptions = { leaseDurationMs: 60_000 };

/** All nodes, as after a loss of power. */
function restartAll(world: LeaseWorld, backMs: number): void {
  const { cluster, world: around } = world.simulation;
  for (const host of cluster.hosts) {
    cluster.crash(host, false);
    around.timeline.schedule(backMs, undefined, () => cluster.start(host));
  }
}

describe("a lease that is given back", () => {
  it("while the cluster is away is released when that is back, and not before it says so", async () => {
    const world = await LeaseWorld.open(sim, 121);
    const [a, b] = [world.connect(), world.connect(60_000)];
    const held = await world.outcome(a.cluster.election("x", long).campaign());
    const next = world.acquire(b, "x");
    await world.run(200);
    restartAll(world, 3_000);
    const atMs = world.nowMs;
    await world.outcome(held.release());
    expect(world.nowMs - atMs).toBeGreaterThan(3_000);
    await world.outcome(next, 1_000);
    expect(verdict(world.simulation)).toBe("nothing violated");
  });

  it("is released in the background where nobody waits for it so long", async () => {
    const world = await LeaseWorld.open(sim, 122);
    const [a, b] = [world.connect(), world.connect(60_000)];
    const held = await world.outcome(a.cluster.election("x", long).campaign());
    const next = world.acquire(b, "x");
    await world.run(200);
    restartAll(world, 3_000);
    await expect(world.outcome(held.release({ timeoutMs: 500 }))).rejects.toMatchObject({
      code: "TIMED_OUT",
      outcome: "unknown",
    });
    expect(a.cluster.metrics().sessions.open).toEqual([]);
    await world.outcome(next, 4_000);
  });

  it("right before its cluster object is closed is released", async () => {
    const world = await LeaseWorld.open(sim, 123);
    const [a, b] = [world.connect(), world.connect(60_000)];
    const held = await world.outcome(a.cluster.election("x", long).campaign());
    const next = world.acquire(b, "x");
    await world.run(200);
    held.release().catch(() => {});
    await world.outcome(a.cluster.close());
    await world.outcome(next, 100);
  });
});

describe("a place in a queue", () => {
  it("that is taken back right before its cluster object is closed is gone", async () => {
    const world = await LeaseWorld.open(sim, 124);
    const [a, b] = [world.connect(), world.connect()];
    const held = await world.outcome(a.cluster.election("x", long).campaign());
    const stop = new AbortController();
    const leading = b.cluster.election("x", long).lead(() => 1, { signal: stop.signal });
    await world.run(200);
    stop.abort();
    await expect(world.outcome(leading)).rejects.toMatchObject({ code: "ABORTED" });
    await world.outcome(b.cluster.close());
    expect(await world.outcome(a.cluster.lease.get("x"))).toMatchObject({ term: held.term, waiting: 0 });
    expect(await world.outcome(a.cluster.sessions.list())).toHaveLength(1);
  });

  it("that is taken back while the cluster is away is gone when that is back", async () => {
    const world = await LeaseWorld.open(sim, 125);
    const [a, b] = [world.connect(60_000), world.connect()];
    const held = await world.outcome(world.acquire(a, "x"));
    const stop = new AbortController();
    const campaign = b.cluster.election("x", long).campaign({ signal: stop.signal });
    const refused = expect(world.outcome(campaign)).rejects.toMatchObject({ code: "ABORTED" });
    await world.run(200);
    restartAll(world, 3_000);
    await world.run(100);
    stop.abort();
    await refused;
    await world.run(4_000);
    expect(await world.outcome(a.cluster.lease.get("x"))).toMatchObject({ term: held.term, waiting: 0 });
  });
});

describe("a cluster object that is closed", () => {
  it("ends its session also where all its sequences are under way", async () => {
    const world = await LeaseWorld.open(sim, 126);
    const [a, b] = [world.connect(60_000), world.connect()];
    await world.outcome(a.cluster.kv.put("here/a", 1, { attached: true }));
    world.blackHole(a);
    for (let n = 0; n < 1_500; n += 1) a.cluster.kv.put(`n/${n}`, n).catch(() => {});
    await world.run(300);
    const closing = a.cluster.close();
    await world.run(50);
    world.heal(a);
    await world.outcome(closing);
    expect(await world.outcome(b.cluster.kv.get("here/a"))).toBeUndefined();
  });

  it("is closed within its bound where the cluster is away", async () => {
    const world = await LeaseWorld.open(sim, 127);
    const a = world.connect();
    const held = await world.outcome(a.cluster.election("x", long).campaign());
    await world.outcome(world.acquire(a, "y"));
    world.blackHole(a);
    held.release().catch(() => {});
    const atMs = world.nowMs;
    await world.outcome(a.cluster.close());
    expect(world.nowMs - atMs).toBeLessThanOrEqual(1_000);
    const events = world.simulation.world.timeline.size;
    await world.run(5_000);
    expect(world.simulation.world.timeline.size).toBeLessThanOrEqual(events);
  });
});
