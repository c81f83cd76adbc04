/** Nodes of the shipped runtime over memory ports and the real clock: born, replicating, restarted, stopped. */
import { type LogStore, type NodeId, type NodeStatus, QuorateError } from "@quorate/raft";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import { memoryNetwork } from "@quorate/transport";
import { afterEach, describe, expect, it } from "vitest";
import { addressOf, type Running, random, runNode, untilWithin } from "./memoryNode.ts";

interface Place {
  batches: MemoryBatchStore;
  slots: MemorySlotFile;
}

const until = untilWithin(10_000);
const encoder = new TextEncoder();
const running: Running[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

class World {
  readonly network = memoryNetwork();
  readonly places = new Map<string, Place>();

  async start(
    name: string,
    names: readonly string[],
    failing?: (log: LogStore) => LogStore,
  ): Promise<Running> {
    const place = this.places.get(name) ?? { batches: new MemoryBatchStore(), slots: new MemorySlotFile() };
    this.places.set(name, place);
    const snapshots = new MemorySnapshotFiles();
    const opened = await openLog({ ...place, snapshots, nodeId: name as NodeId, random });
    const log = failing?.(opened) ?? opened;
    const inner = await runNode(this.network, log, names);
    const one: Running = {
      ...inner,
      async stop() {
        await inner.stop();
        const contents = { batches: place.batches.contents(), slots: place.slots.contents() };
        this_.places.set(name, {
          batches: new MemoryBatchStore(contents.batches),
          slots: new MemorySlotFile(contents.slots),
        });
      },
    };
    const this_ = this;
    running.push(one);
    return one;
  }
}

function leaderOf(nodes: readonly Running[]): Promise<Running> {
  return until("a leader that all follow", () => {
    const leader = nodes.find(({ node }) => node.status().role === "leader");
    const member = leader?.node.member;
    return nodes.every(({ node }) => node.status().leader === member) ? leader : undefined;
  });
}

describe("a cluster of three nodes", () => {
  it("is born by itself, elects one leader and replicates what it is given", async () => {
    const world = new World();
    const names = ["a", "b", "c"];
    const nodes = await Promise.all(names.map((name) => world.start(name, names)));
    const leader = await leaderOf(nodes);
    const first = await leader.node.propose(encoder.encode("one"));
    const others = await Promise.all(
      ["two", "three"].map((text) => leader.node.propose(encoder.encode(text))),
    );
    expect(others.map(({ result }) => result)).toEqual([2, 3]);
    expect(first.result).toBe(1);
    for (const { node, applied } of nodes) {
      const point = await node.readIndex();
      expect(point.index).toBeGreaterThanOrEqual(others[1]?.index ?? Number.POSITIVE_INFINITY);
      expect(applied).toEqual(["one", "two", "three"]);
      expect(point.asLeader).toBe(node === leader.node);
    }
  });

  it("refuses a proposal to a follower, and says that it had no effect", async () => {
    const world = new World();
    const names = ["a", "b", "c"];
    const nodes = await Promise.all(names.map((name) => world.start(name, names)));
    const leader = await leaderOf(nodes);
    const follower = nodes.find((one) => one !== leader) as Running;
    await expect(follower.node.propose(encoder.encode("x"))).rejects.toMatchObject({
      code: "NOT_LEADER",
      outcome: "none",
    });
    expect(follower.node.status().leaderAddress).toBe(
      leader.node.status().peers.length > 0 ? addressOfLeader(leader) : "",
    );
  });

  it("goes on without its leader, and has everything when the old one returns", async () => {
    const world = new World();
    const names = ["a", "b", "c"];
    const nodes = await Promise.all(names.map((name) => world.start(name, names)));
    const leader = await leaderOf(nodes);
    await leader.node.propose(encoder.encode("before"));
    await leader.stop();
    const rest = nodes.filter((one) => one !== leader);
    const next = await leaderOf(rest);
    await next.node.propose(encoder.encode("after"));
    const name = leader.node.member.slice(0, 1);
    const back = await world.start(name, names);
    await until("the old leader has caught up", () => (back.applied.length === 2 ? true : undefined));
    expect(back.applied).toEqual(["before", "after"]);
    expect(back.node.status().complaints).toEqual([]);
    expect(back.node.status().floor).toBeUndefined();
  });

  it("keeps a leader that is asked to go until its successor has committed something of its own", async () => {
    const world = new World();
    const names = ["a", "b", "c"];
    const nodes = await Promise.all(names.map((name) => world.start(name, names)));
    const leader = await leaderOf(nodes);
    await leader.node.propose(encoder.encode("one"));
    const { lastIndex, term } = leader.node.status();
    await leader.node.retire();
    const { status } = await until("another one that leads", () => {
      return nodes
        .map(({ node }) => ({ status: node.status() }))
        .find(({ status: { role } }) => role === "leader");
    });
    expect(status.term).toBeGreaterThan(term);
    expect(leader.node.status().commitIndex).toBeGreaterThan(lastIndex);
  });

  it("is not founded while one of the listed nodes is missing", async () => {
    const world = new World();
    const names = ["a", "b", "c"];
    const a = await world.start("a", names);
    await world.start("b", names);
    await until("they met", () => (a.node.status().standing === "unborn" ? true : undefined));
    await expect(a.node.propose(encoder.encode("x"))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      outcome: "none",
    });
    const c = await world.start("c", names);
    await until("all are born", () => (c.node.status().standing === "born" ? true : undefined));
  });
});

function addressOfLeader(leader: Running): string {
  return addressOf(leader.node.member.slice(0, 1));
}

describe("a node", () => {
  it("alone is a cluster of one, and keeps its data over a restart", async () => {
    const world = new World();
    const one = await world.start("a", ["a"]);
    await leaderOf([one]);
    await one.node.propose(encoder.encode("kept"));
    await one.stop();
    const again = await world.start("a", ["a"]);
    await until("it applied its log", () => (again.applied.length === 1 ? true : undefined));
  });

  it("stops loudly when its state machine throws, and ends every waiter", async () => {
    const world = new World();
    const one = await world.start("a", ["a"]);
    await leaderOf([one]);
    await expect(one.node.propose(encoder.encode("poison"))).rejects.toMatchObject({
      code: "CLOSED",
      outcome: "unknown",
    });
    await expect(one.node.closed).rejects.toMatchObject({ code: "MACHINE_FAILED" });
    await expect(one.node.readIndex()).rejects.toBeInstanceOf(QuorateError);
    const status: NodeStatus = one.node.status();
    expect(status.standing).toBe("closed");
  });

  it("stops at the first failed write, and acknowledges nothing of it", async () => {
    const world = new World();
    let broken = false;
    const one = await world.start("a", ["a"], (log) => {
      const write = log.write.bind(log);
      log.write = (persist) =>
        broken ? Promise.reject(new QuorateError("STORAGE_FAILED", "The disk is full.")) : write(persist);
      return log;
    });
    await leaderOf([one]);
    broken = true;
    await expect(one.node.propose(encoder.encode("lost?"))).rejects.toMatchObject({ outcome: "unknown" });
    await expect(one.node.closed).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    expect(one.applied).toEqual([]);
  });
});
