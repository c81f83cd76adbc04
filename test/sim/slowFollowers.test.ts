/**
 * Followers that cannot keep up for long: they catch up by themselves or by one snapshot, and meanwhile the leader's
 * memory and log stay as short as they are said to.
 */
import { entryOverheadBytes, type RaftOptions, type RaftState } from "@quorate/raft";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";

const frugal: RaftOptions = {
  snapshotEntries: 50,
  snapshotGrowthPercent: 0,
  compactionTailEntries: 10,
  compactionTailBytes: 4_096,
  maxCachedBytes: 4_096,
  snapshotChunkBytes: 1_024,
};

type World = ReturnType<typeof open>;

function open(options: RaftOptions) {
  const profile = { ...sim.calmProfile, options: { ...frugal, ...options } };
  return sim.openSimulation({ seed: 7, nodes: 3, layer: "core", profile, linearizability: "never" });
}

/** What a leader holds for others, at its most. */
interface Held {
  entries: number;
  cachedBytes: number;
  inflightBytes: number;
}

function look(held: Held, { log, leading }: RaftState): void {
  held.entries = Math.max(held.entries, log.lastIndex - log.boundary.index);
  held.cachedBytes = Math.max(held.cachedBytes, log.tailBytes);
  for (const peer of leading?.peers.values() ?? []) {
    held.inflightBytes = Math.max(held.inflightBytes, peer.inflightBytes);
  }
}

function leaderState(simulation: World): RaftState {
  const state = simulation.cluster.leader()?.member?.state;
  if (state === undefined) throw new Error("there is no leader");
  return state;
}

/** One write each `gapMs`. */
async function load(simulation: World, durationMs: number, gapMs: number, held: Held): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += gapMs) {
    const leader = simulation.cluster.leader();
    if (leader !== undefined) {
      simulation.workload.perform({ kind: "write", node: leader.name, timeoutMs: 60_000 });
      if (leader.member?.state !== undefined) look(held, leader.member.state);
    }
    await sim.runFor(simulation, gapMs);
  }
}

async function begin(options: RaftOptions): Promise<{ simulation: World; follower: string }> {
  const simulation = open(options);
  simulation.cluster.startAll();
  const isLed = (): boolean => {
    const leading = simulation.cluster.leader()?.member?.state;
    return leading?.leading !== undefined && leading.commitIndex >= leading.leading.noopIndex;
  };
  expect(await sim.runFor(simulation, 60_000, isLed)).toBe(true);
  const leader = simulation.cluster.leader();
  const follower = simulation.cluster.hosts.find((host) => host !== leader);
  if (follower === undefined) throw new Error("there is no follower");
  return { simulation, follower: follower.name };
}

function hasCaughtUp(simulation: World): boolean {
  const { commitIndex } = leaderState(simulation);
  return simulation.cluster.hosts.every(({ member }) => member?.state?.commitIndex === commitIndex);
}

function count(simulation: World, mark: string): number {
  return simulation.history.marks.get(mark) ?? 0;
}

describe("a follower that cannot keep up", () => {
  it("paused for an hour, is sent one snapshot when it wakes", { timeout: 120_000 }, async () => {
    const slow = { heartbeatMs: 500, electionTimeoutMinMs: 1_500, electionTimeoutMaxMs: 3_000 };
    const { simulation, follower } = await begin(slow);
    const { cluster, history } = simulation;
    const held: Held = { entries: 0, cachedBytes: 0, inflightBytes: 0 };
    cluster.pause(cluster.host(follower));
    await load(simulation, 3_600_000, 1_000, held);
    expect(history.commitIndex).toBeGreaterThan(3_000);
    expect(held.entries).toBeLessThan(3 * 50);
    expect(held.cachedBytes).toBeLessThanOrEqual(4_096 + 2 * entryOverheadBytes); // one is not committed yet
    expect(held.inflightBytes).toBeLessThanOrEqual(8 * 1_048_576);
    cluster.resume(cluster.host(follower), true);
    expect(await sim.runFor(simulation, 60_000, () => hasCaughtUp(simulation))).toBe(true);
    expect(count(simulation, "snapshot sent")).toBe(1);
    expect(history.violations).toEqual([]);
  });

  it("whose link carries one frame of a hundred, is sent no snapshot in vain for ever, and one in the end", {
    timeout: 120_000,
  }, async () => {
    const { simulation, follower } = await begin({});
    const { cluster, history, world } = simulation;
    const held: Held = { entries: 0, cachedBytes: 0, inflightBytes: 0 };
    const leader = cluster.leader()?.name ?? "";
    world.paths.setExtraLoss(leader, follower, 0.99);
    await load(simulation, 60_000, 20, held);
    expect(history.commitIndex).toBeGreaterThan(2_000);
    // The log is kept for a transfer for as long as four newer snapshots.
    expect(held.entries).toBeLessThan(7 * 50);
    expect(held.cachedBytes).toBeLessThanOrEqual(2 * 4_096);
    expect(count(simulation, "snapshot transfer begun")).toBeLessThan(8);
    world.paths.setExtraLoss(leader, follower, 0);
    const before = count(simulation, "snapshot sent");
    expect(await sim.runFor(simulation, 60_000, () => hasCaughtUp(simulation))).toBe(true);
    expect(count(simulation, "snapshot sent") - before).toBeLessThanOrEqual(1);
    expect(history.violations).toEqual([]);
  });
});
