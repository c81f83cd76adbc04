/** Sessions of one client that are renewed by one request: as safe, and as long-lived, as each by itself. */
import type { Lease } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { type LeaseClient, LeaseWorld } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

const ttlMs = 2_000;
const names: readonly string[] = Array.from({ length: 20 }, (_, n) => `x${n}`);

/** Each in a session of its own, since its time to live is another than that of the cluster object. */
async function holdAll(world: LeaseWorld, client: LeaseClient): Promise<readonly Lease[]> {
  const held = await world.outcome(Promise.all(names.map((name) => world.acquire(client, name, { ttlMs }))));
  await world.run(ttlMs);
  return held;
}

describe("twenty sessions of one client", () => {
  it("are all kept while the store's leader is killed again and again", async () => {
    const world = await LeaseWorld.open(sim, 1);
    const client = world.connect(60_000);
    const held = await holdAll(world, client);
    for (let kills = 0; kills < 8; kills += 1) {
      if (world.simulation.cluster.leader() !== undefined) world.killLeader(300);
      await world.run(ttlMs / 2);
    }
    expect(held.map(({ status }) => status)).toEqual(held.map(() => "held"));
    expect(verdict(world.simulation)).toBe("nothing violated");
  });

  it("that are cut off lose all before anybody else has one, and others have all soon after", async () => {
    const world = await LeaseWorld.open(sim, 3);
    const [client, heir] = [world.connect(60_000), world.connect(60_000)];
    await holdAll(world, client);
    const inherited = Promise.all(names.map((name) => world.acquire(heir, name)));
    await world.run(1_000);
    const atMs = world.nowMs;
    world.blackHole(client);
    await world.outcome(inherited);
    expect(world.nowMs - atMs).toBeLessThan(ttlMs + 150);
    expect(world.overlaps).toEqual([]);
    expect(verdict(world.simulation)).toBe("nothing violated");
  });

  it("whose client stands still for a part of their time are renewed by the log, and all go on", async () => {
    const world = await LeaseWorld.open(sim, 4);
    const client = world.connect(60_000);
    const held = await holdAll(world, client);
    world.blackHole(client);
    await world.run(0.55 * ttlMs);
    world.heal(client);
    await world.run(4 * ttlMs);
    expect(held.map(({ status }) => status)).toEqual(held.map(() => "held"));
    expect(verdict(world.simulation)).toBe("nothing violated");
  });
});
