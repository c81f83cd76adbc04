/**
 * A cluster that is made of another one's store, in virtual time: the old one's nodes are gone, and a holder that hears
 * nothing any more believes in its lease until its own deadline. The new cluster grants it to nobody before that.
 */
import { type AssembledNode, assembleNode } from "@quorate/kv/internal";
import { restoreContent, type StoreState, viewOf, writeContent } from "@quorate/kv/machine";
import { bearNewCluster, type NewCluster } from "@quorate/kv/recovery";
import { asIndex, type Boundary, type NodeId, silentLogger } from "@quorate/raft";
import type { World } from "@quorate/sim";
import * as sim from "@quorate/sim";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { type LeaseClient, LeaseWorld } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

type SimulatedProcess = ReturnType<World["process"]>;

const holderTtlMs = 20_000;
const nodeId = "a" as NodeId;

interface Stores {
  readonly batches: MemoryBatchStore;
  readonly slots: MemorySlotFile;
  readonly snapshots: MemorySnapshotFiles;
}

interface Restored {
  readonly world: LeaseWorld;
  readonly holder: LeaseClient;
  readonly waiter: LeaseClient;
  readonly made: NewCluster;
  readonly node: NewNode;
}

/** A holder of `x` that nothing reaches any more, and the cluster that was made of what the old one had just then. */
async function restored(seed: number, grantsAtOnce: boolean): Promise<Restored> {
  const world = await LeaseWorld.open(sim, seed);
  const [holder, waiter] = [world.connect(holderTtlMs), world.connect()];
  await world.outcome(world.acquire(holder, "x"));
  const from = saved(world);
  world.blackHole(holder);
  const { cluster } = world.simulation;
  for (const host of cluster.hosts) cluster.crash(host, false);
  const { made, stores } = await world.outcome(firstMember(world, from, grantsAtOnce));
  const node = new NewNode(world, stores);
  await node.start();
  return { world, holder, waiter, made, node };
}

function saved(world: LeaseWorld): { store: StoreState; boundary: Boundary } {
  const running = world.leader.running?.store;
  if (running === undefined) throw new Error("the leader does not run");
  const restoration = restoreContent();
  for (const piece of writeContent(viewOf(running.host.store))) restoration.add(piece);
  const { appliedIndex, term } = running.raft.status();
  return { store: restoration.finish(), boundary: { index: asIndex(appliedIndex), term } };
}

async function firstMember(
  { simulation }: LeaseWorld,
  from: ReturnType<typeof saved>,
  grantsAtOnce: boolean,
): Promise<{ made: NewCluster; stores: Stores }> {
  const random = simulation.world.chance("the new cluster");
  const stores = {
    batches: new MemoryBatchStore(),
    slots: new MemorySlotFile(),
    snapshots: new MemorySnapshotFiles(),
  };
  const log = await openLog({ ...stores, nodeId, random });
  const { address } = simulation.cluster.host(nodeId);
  const made = await bearNewCluster(log, random, from, { address, grantsAtOnce });
  await log.close();
  return { made, stores };
}

/** The only member of the new cluster, where the old one had its first. */
class NewNode {
  readonly #world: LeaseWorld;
  #stores: Stores;
  #process: SimulatedProcess | undefined;
  #running: AssembledNode | undefined;
  /** Of its last start, in true time. */
  startedMs = 0;

  constructor(world: LeaseWorld, stores: Stores) {
    this.#world = world;
    this.#stores = stores;
  }

  get graceMs(): number | undefined {
    return this.#running?.host.store.graceMs;
  }

  async start(): Promise<void> {
    const { world, cluster } = this.#world.simulation;
    this.startedMs = this.#world.nowMs;
    const { batches, slots, snapshots } = this.#stores;
    this.#stores = {
      batches: new MemoryBatchStore(batches.contents()),
      slots: new MemorySlotFile(slots.contents()),
      snapshots: new MemorySnapshotFiles(snapshots.contents()),
    };
    const process = world.process("the new cluster");
    this.#process = process;
    const random = world.chance(`the new cluster from ${this.startedMs}`);
    const { address } = cluster.host(nodeId);
    const ports = {
      log: await openLog({ ...this.#stores, nodeId, random }),
      network: world.network.portOf(process, nodeId),
      clock: process.clock,
      random,
      logger: silentLogger,
    };
    const assembled = assembleNode(ports, {
      id: nodeId,
      listen: address,
      peers: { [nodeId]: address },
      raft: { heartbeatMs: 50, electionTimeoutMinMs: 150, electionTimeoutMaxMs: 300 },
      client: { requestTimeoutMs: 2_000, sessionTtlMs: 5_000, session: false },
      pid: 1,
    });
    this.#running = await this.#world.outcome(assembled);
  }

  kill(): void {
    const process = this.#process;
    if (process === undefined) return;
    process.kill();
    this.#world.simulation.world.network.processEnded(process, false);
  }
}

describe("a restored cluster", () => {
  it("grants a lease only when the holder that the old one had cannot believe in it any more", async () => {
    for (const seed of [1, 2, 3]) {
      const { world, holder, waiter, made, node } = await restored(seed, false);
      expect(made.graceMs).toBe(holderTtlMs);
      const [held] = world.grants;
      const impatient = waiter.cluster.lease.tryAcquire("x");
      await expect(world.outcome(impatient)).rejects.toMatchObject({
        code: "GRACE_PERIOD",
        retryable: true,
        outcome: "none",
        message: expect.stringContaining(`until ${holderTtlMs} ms after`),
      });
      const next = world.acquire(waiter, "x");
      await world.run(holderTtlMs / 2);
      expect(world.believers("x").map(({ client }) => client)).toEqual([holder]);
      expect(await world.outcome(waiter.cluster.lease.get("x"))).toMatchObject({
        state: "delayed",
        waiting: 1,
      });
      const lease = await world.outcome(next, holderTtlMs);
      expect(world.nowMs - node.startedMs).toBeGreaterThanOrEqual(holderTtlMs);
      expect(world.nowMs - node.startedMs).toBeLessThan(holderTtlMs + 2_000);
      expect(lease.term).toBeGreaterThan(held?.lease.term ?? Number.POSITIVE_INFINITY);
      await world.run(2_000);
      expect(world.overlaps).toEqual([]);
      expect(lease.remainingMs()).toBeGreaterThan(0);
      expect(verdict(world.simulation)).toBe("nothing violated");
    }
  });

  it("grants at once where that was asked for: then two believe in it, and only a fence tells them apart", async () => {
    const { world, waiter, made, node } = await restored(1, true);
    expect(made.graceMs).toBe(0);
    const lease = await world.outcome(world.acquire(waiter, "x"));
    expect(world.nowMs - node.startedMs).toBeLessThan(2_000);
    await world.run(1_000);
    expect(world.overlaps.length).toBeGreaterThan(0);
    const old = world.grants.find((grant) => grant.lease !== lease)?.lease.term ?? 0;
    const late = waiter.cluster.kv.put("total", 1, { fence: { name: "x", term: old } });
    await expect(world.outcome(late)).rejects.toMatchObject({ code: "STALE_TERM", outcome: "none" });
  });

  it("counts the time anew where its node was started again meanwhile, and whoever waited waits on", async () => {
    const { world, waiter, node } = await restored(1, false);
    const next = world.acquire(waiter, "x");
    await world.run(holderTtlMs / 2);
    expect(node.graceMs).toBe(holderTtlMs);
    node.kill();
    await world.run(300);
    await node.start();
    await world.outcome(next, 2 * holderTtlMs);
    expect(world.nowMs - node.startedMs).toBeGreaterThanOrEqual(holderTtlMs);
    expect(node.graceMs).toBe(0);
    expect(world.overlaps).toEqual([]);
  });
});
