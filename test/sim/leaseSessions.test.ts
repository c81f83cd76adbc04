/** Sessions over changes of the store's leader: the living are never lost, and the dead do not live for ever. */
import type { Lease } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { LeaseWorld } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

const ttlMs = 5_000;

/** Until the time is over, or it is done. */
async function killEvery(
  world: LeaseWorld,
  everyMs: number,
  forMs: number,
  isDone: () => boolean = () => false,
): Promise<void> {
  for (let passedMs = 0; passedMs < forMs && !isDone(); passedMs += everyMs) {
    if (world.simulation.cluster.leader() !== undefined) world.killLeader(300);
    await world.run(everyMs, isDone);
  }
}

describe("the store's leader is killed every half of a time to live", () => {
  it("and for twenty of them no living session is lost, and a dead one is gone within two", async () => {
    const world = await LeaseWorld.open(sim, 51);
    const living = Array.from({ length: 6 }, () => world.connect(ttlMs));
    const held: Lease[] = [];
    for (const [at, client] of living.entries()) {
      held.push(await world.outcome(world.acquire(client, `live/${at}`)));
    }
    const passedMs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const mortal = world.connect(ttlMs);
      const heir = world.connect(ttlMs);
      await world.outcome(world.acquire(mortal, "inherited"));
      let inherited: { release(): Promise<void> } | undefined;
      void world.acquire(heir, "inherited").then((lease) => {
        inherited = lease;
      });
      await world.run(200);
      world.kill(mortal);
      const atMs = world.nowMs;
      await killEvery(world, ttlMs / 2, 4 * ttlMs, () => inherited !== undefined);
      passedMs.push(world.nowMs - atMs);
      await world.outcome(inherited?.release() ?? Promise.reject(new Error("nobody inherited it")));
      await killEvery(world, ttlMs / 2, 4 * ttlMs - (world.nowMs - atMs));
    }
    expect(held.map(({ status }) => status)).toEqual(held.map(() => "held"));
    expect(Math.max(...passedMs)).toBeLessThan(2 * ttlMs);
    expect(world.overlaps).toEqual([]);
    expect(verdict(world.simulation)).toBe("nothing violated");
  }, 300_000);
});

describe("a crowd of sessions that fall silent together", () => {
  it("is ended in few entries, soon after its time, while writes go on", async () => {
    const world = await LeaseWorld.open(sim, 52);
    const crowd = Array.from({ length: 300 }, () => world.connect(2_000));
    await world.outcome(Promise.all(crowd.map(({ cluster }, at) => cluster.lease.acquire(`l/${at}`))));
    for (const client of crowd) world.kill(client);
    const atMs = world.nowMs;
    const { store } = world.leader.running!.store!.host;
    const before = world.leader.running!.raft.status().lastIndex;
    const writer = world.connect(10_000);
    let writes = 0;
    let slowestMs = 0;
    const write = async (): Promise<void> => {
      const sentMs = world.nowMs;
      await writer.cluster.kv.put("n", writes);
      slowestMs = Math.max(slowestMs, world.nowMs - sentMs);
      writes += 1;
      if (world.nowMs - atMs < 3_000) await write();
    };
    const writing = write();
    await world.run(3_000, () => store.sessions.size <= 1);
    expect(world.nowMs - atMs).toBeLessThan(2_150);
    await world.outcome(writing);
    expect(slowestMs).toBeLessThan(100);
    // What was written, the opening of the writer's session, and a few for the crowd of 300.
    expect(world.leader.running!.raft.status().lastIndex - before - writes).toBeLessThan(20);
  });
});
