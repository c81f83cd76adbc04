/** What it takes until the next one has a lease that is given back, counted: round trips, frames, entries. */
import type { LeaseInfo } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import type { FrameCount } from "./countedNetwork.ts";
import { type LeaseClient, LeaseWorld } from "./leaseWorld.ts";

/** One way, between any two hosts; the rest takes next to no time. */
const delayMs = 10;
/** No session is renewed while it is counted. */
const longTtlMs = 3_600_000;

async function worldOfDelays(seed: number): Promise<LeaseWorld> {
  const world = await LeaseWorld.open(sim, seed);
  const { cluster, world: stage } = world.simulation;
  stage.paths.temper = { ...stage.paths.temper, minDelayMs: delayMs, meanDelayMs: 0 };
  for (const host of cluster.hosts) host.temper.meanLatencyMs = 0;
  return world;
}

describe("a lease that is given back", () => {
  it("is in the next one's hands four round trips later: to the leader and to its followers, for the release and the claim", async () => {
    const world = await worldOfDelays(1);
    const [a, b] = [world.connect(longTtlMs), world.connect(longTtlMs)];
    const held = await world.outcome(world.acquire(a, "x"));
    const next = world.acquire(b, "x");
    await world.run(1_000);
    const atMs = world.nowMs;
    void held.release();
    const lease = await world.outcome(next);
    expect(lease.term).toBeGreaterThan(held.term);
    expect((world.nowMs - atMs) / (2 * delayMs)).toBeLessThan(4.2);
  });

  it("is so when a leader resigns, too", async () => {
    const world = await worldOfDelays(2);
    const [a, b] = [world.connect(longTtlMs), world.connect(longTtlMs)];
    const options = {
      leaseDurationMs: longTtlMs,
      renewDeadlineMs: longTtlMs / 2,
      retryPeriodMs: longTtlMs / 8,
    };
    const leader = a.cluster.election("x", options);
    await world.outcome(leader.campaign());
    const next = b.cluster.election("x", options).campaign();
    await world.run(1_000);
    const atMs = world.nowMs;
    void leader.resign();
    await world.outcome(next);
    expect((world.nowMs - atMs) / (2 * delayMs)).toBeLessThan(4.2);
  });
});

describe("a thousand waiters on one name", () => {
  it("cost a handover one grant, two entries, and the frames of those two alone who hand it over", async () => {
    const world = await worldOfDelays(3);
    const holder = world.connect(longTtlMs);
    const held = await world.outcome(world.acquire(holder, "x"));
    const waiters = Array.from({ length: 10 }, () => world.connect(longTtlMs));
    // In sessions of their own, since these leases have another time to live than the cluster objects.
    const options = { ttlMs: longTtlMs - 1 };
    const next = Array.from({ length: 1_000 }, (_, n) =>
      world.acquire(waiters[n % waiters.length] as LeaseClient, "x", options),
    );
    for (const each of next) each.catch(() => {});
    const info = (): Promise<LeaseInfo> => world.outcome(holder.cluster.lease.get("x"));
    while ((await info()).waiting < 1_000) await world.run(500);
    await world.run(5_000);

    const clients = [holder, ...waiters];
    const before = clients.map(({ frames }) => ({ ...frames }));
    const lastIndex = (): number => world.leader.running?.raft.status().lastIndex ?? 0;
    const indexBefore = lastIndex();
    const betweenNodes = countFramesBetweenNodes(world);
    const atMs = world.nowMs;
    await world.outcome(held.release());
    const taken = await world.outcome(Promise.race(next));
    await world.run(100);
    const durationMs = world.nowMs - atMs;
    const nodeFrames = betweenNodes();
    const spent = clients.map(({ frames }, at) => framesSince(before[at], frames));

    expect(taken.term).toBeGreaterThan(held.term);
    expect(world.grants).toHaveLength(2);
    expect(lastIndex() - indexBefore).toBe(2);
    // The release, answered; the question that waited, answered and asked again; the claim with a renewal, answered.
    const [ofHolder = 0, ...ofWaiters] = spent.map(({ count }) => count);
    expect(ofHolder).toBeLessThanOrEqual(2);
    expect(ofWaiters.filter((count) => count > 0)).toHaveLength(1);
    expect(Math.max(...ofWaiters)).toBeLessThanOrEqual(6);
    expect(Math.max(...spent.map(({ bytes }) => bytes))).toBeLessThan(1_000);
    // Two entries to two followers, one confirmation of a read; and heartbeats.
    const heartbeats = 4 * Math.ceil(durationMs / 50);
    expect(nodeFrames - heartbeats).toBeLessThanOrEqual(20);
    expect(await info()).toMatchObject({ waiting: 999, transitions: 2, state: "held" });
  });
});

function framesSince(before: FrameCount | undefined, now: FrameCount): { count: number; bytes: number } {
  const { sent, received, bytes } = before ?? { sent: 0, received: 0, bytes: 0 };
  return { count: now.sent - sent + now.received - received, bytes: now.bytes - bytes };
}

/** Counts what nodes send each other from now on; the result ends that. */
function countFramesBetweenNodes({ simulation }: LeaseWorld): () => number {
  const { paths } = simulation.world;
  let count = 0;
  const { delaysMs } = Object.getPrototypeOf(paths) as typeof paths;
  paths.delaysMs = (from, to) => {
    count += 1;
    return delaysMs.call(paths, from, to);
  };
  return () => {
    paths.delaysMs = delaysMs;
    return count;
  };
}
