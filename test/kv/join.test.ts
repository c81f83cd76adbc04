/** Nodes joined in this process: the real runtime, storage and links, mostly over a network in memory. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as pathOf } from "node:path";
import { connect } from "@quorate/client";
import { join, type NodeCluster } from "@quorate/kv";
import { type AssembledNode, assembleNode, type NodePorts } from "@quorate/kv/internal";
import {
  type LogStore,
  type Network,
  QuorateError,
  silentLogger,
  systemClock,
  systemRandom,
} from "@quorate/raft";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import { memoryNetwork } from "@quorate/transport/links";
import { afterEach, describe, expect, it } from "vitest";
import { errorFrom } from "../client/fakeCluster.ts";
import { deadline, until } from "../transport/world.ts";

const started: { close(): Promise<void> }[] = [];
const directories: string[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((cluster) => cluster.close()));
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

function kept<T extends { close(): Promise<void> }>(cluster: T): T {
  started.push(cluster);
  return cluster;
}

const peers = { a: "ws://10.0.0.1:7101", b: "ws://10.0.0.2:7101", c: "ws://10.0.0.3:7101" };

async function three(network: Network): Promise<NodeCluster[]> {
  const ids = Object.keys(peers);
  return Promise.all(
    ids.map(async (id) => kept(await join({ id, peers, memory: true, network, insecure: true }))),
  );
}

async function leaderAmong(clusters: readonly NodeCluster[]): Promise<NodeCluster> {
  const leads = (cluster: NodeCluster): boolean => cluster.node.status().role === "leader";
  await until(() => clusters.some(leads), "a leader");
  return clusters.find(leads) as NodeCluster;
}

describe("one node alone", () => {
  it("is a whole cluster in memory, made of nothing but an id", async () => {
    const cluster = kept(await join({ id: "a" }));
    const { revision } = await cluster.kv.put("jobs/1", { state: "new" });
    expect(await cluster.kv.get("jobs/1")).toMatchObject({ value: { state: "new" }, modRevision: revision });
    expect(await cluster.status()).toMatchObject({ leader: "a", nodes: [{ id: "a", role: "leader" }] });
  });

  it("listens where the system lets it, and serves clients over WebSockets with the secret alone", async () => {
    const secret = "a secret of this test";
    const cluster = kept(await join({ id: "a", listen: "ws://127.0.0.1:0", secret }));
    expect(cluster.node.address).toMatch(/^ws:\/\/127\.0\.0\.1:[1-9]\d*$/);
    const endpoints = [cluster.node.address];
    const client = kept(connect({ endpoints, secret }));
    const { revision } = await client.kv.put("key", "value");
    expect(await cluster.kv.get("key")).toMatchObject({ value: "value", modRevision: revision });
    const stranger = kept(connect({ endpoints, secret: "another secret altogether" }));
    expect(await errorFrom(stranger.kv.get("key"))).toMatchObject({ code: "REFUSED", outcome: "none" });
  });

  it("finds its data again", async () => {
    const dataDir = await mkdtemp(pathOf(tmpdir(), "quorate-join-"));
    directories.push(dataDir);
    const first = await join({ id: "a", dataDir });
    const { revision } = await first.kv.put("key", "value");
    await first.close();
    const second = kept(await join({ id: "a", dataDir }));
    expect(await second.kv.get("key")).toMatchObject({ value: "value", modRevision: revision });
    expect(await errorFrom(join({ id: "a", dataDir }))).toMatchObject({ code: "DIRECTORY_IN_USE" });
  });
});

describe("three nodes", () => {
  it("agree, and any of them reads what another has written", async () => {
    const clusters = await three(memoryNetwork());
    for (const [n, writer] of clusters.entries()) {
      const { revision } = await writer.kv.put("key", n);
      for (const reader of clusters) {
        expect(await reader.kv.get("key")).toMatchObject({ value: n, modRevision: revision });
      }
    }
    const status = await clusters[0]!.status();
    expect(status.nodes.map((node) => node.id)).toEqual(["a", "b", "c"]);
    expect(status.nodes.filter((node) => node.role === "leader")).toHaveLength(1);
  });

  it("go on when the leader closes: each write under way is executed exactly once", async () => {
    const network = memoryNetwork();
    const clusters = await three(network);
    const leader = await leaderAmong(clusters);
    const survivor = clusters.find((cluster) => cluster !== leader) as NodeCluster;
    await survivor.kv.put("warm", 1);
    const writes = Array.from({ length: 300 }, (_, n) => survivor.kv.put(`key/${n}`, n));
    await leader.close();
    const revisions = (await deadline(Promise.all(writes))).map(({ revision }) => revision);
    expect(new Set(revisions).size).toBe(300);
    const { entries } = await survivor.kv.list({ prefix: "key/" }, { limit: 1_000 });
    expect(entries).toHaveLength(300);
    expect(entries.every((entry) => entry.version === 1)).toBe(true);
  });

  it("without a majority acknowledge nothing and answer no linearizable read, and say none or unknown", async () => {
    const clusters = await three(memoryNetwork());
    await clusters[0]!.kv.put("key", 1);
    const left = clusters[0]!;
    await Promise.all(clusters.slice(1).map((cluster) => cluster.close()));
    const [write, read] = [
      await errorFrom(left.kv.put("key", 2, { timeoutMs: 800 })),
      await errorFrom(left.kv.get("key", { timeoutMs: 800 })),
    ];
    expect(write).toMatchObject({ code: "TIMED_OUT" });
    expect(read).toMatchObject({ code: "TIMED_OUT", outcome: "none" });
    expect(await left.kv.get("key", { consistency: "local" })).toMatchObject({ value: 1 });
  });
});

describe("close", () => {
  it("ends the session, resolves closed, lets go of the network, and is idempotent", async () => {
    const network = memoryNetwork();
    const clusters = await three(network);
    await Promise.all(clusters.map((cluster) => cluster.kv.put("key", 1)));
    const [first, ...others] = clusters as [AssembledNode, ...AssembledNode[]];
    expect(others[0]!.host.store.sessions.size).toBe(3);
    const closed = first.close();
    expect(first.close()).toBe(closed);
    await closed;
    await expect(first.node.closed).resolves.toBeUndefined();
    await until(() => others.every(({ host }) => host.store.sessions.size === 2), "the session has ended");
    expect(await errorFrom(first.kv.get("key"))).toMatchObject({ code: "CLOSED" });
    const again = await network.listen(peers.a, () => ({ kind: "refuse", code: "TEST", reason: "A test." }));
    await again.close();
  });
});

const bad = "ws://10.0.0.4:7101";
const good = "ws://10.0.0.5:7101";

/** Three members who cannot reach `bad`, and how a fourth is started. */
async function threeAndJoiner() {
  const network = memoryNetwork();
  const dataDir = await mkdtemp(pathOf(tmpdir(), "quorate-join-"));
  directories.push(dataDir);
  const others = await three({
    ...network,
    dial: (to, ...more) =>
      to === bad ? Promise.reject(new Error("no route to host")) : network.dial(to, ...more),
  });
  const timing = { heartbeatMs: 15, electionTimeoutMs: { min: 30, max: 60 } };
  return { others, d: { id: "d", via: [peers.a], dataDir, network, insecure: true, ...timing } };
}

describe("a node that joins where the others cannot reach it", () => {
  it("ends and says so, and comes in with the same directory at another address", async () => {
    const { others, d } = await threeAndJoiner();
    const unreachable = kept(await join({ ...d, listen: bad }));
    expect(await errorFrom(deadline(unreachable.node.closed))).toMatchObject({
      code: "TIMED_OUT",
      message: expect.stringMatching(
        /can reach it at ws:\/\/10\.0\.0\.4:7101.*--listen.*quorate member remove d/,
      ),
    });
    kept(await join({ ...d, listen: good }));
    const voters = (): readonly string[] =>
      others[0]?.node
        .status()
        .configuration?.voters.map(({ id, address }) => `${id.slice(0, 1)} ${address}`) ?? [];
    await until(() => voters().includes(`d ${good}`), "d is a voter");
  });

  it("is not taken for removed on its way through a log that says so, when it was taken in again", async () => {
    const { others, d } = await threeAndJoiner();
    const [first] = others as [NodeCluster];
    const unreachable = kept(await join({ ...d, listen: bad }));
    expect(await errorFrom(deadline(unreachable.node.closed))).toMatchObject({ code: "TIMED_OUT" });
    await first.members.remove("d");
    // More than one message of the log brings: that which removes it is committed there before that which adds it.
    for (let at = 0; at < 3; at += 1) await first.kv.put(`large/${at}`, "x".repeat(900_000));
    const again = kept(await join({ ...d, listen: good }));
    const isVoter = (): boolean =>
      first.node.status().configuration?.voters.some(({ address }) => address === good) === true;
    await Promise.race([until(isVoter, "d is a voter"), again.node.closed]);
    // It goes by what is true now, and by nothing before that.
    const { index } = await first.members.remove("d");
    expect(await errorFrom(deadline(again.node.closed))).toMatchObject({
      code: "REMOVED",
      message: expect.stringContaining(`entry ${index} of its log says so`),
    });
  });
});

describe("a node that is removed", () => {
  it("answers whoever asked for it over itself, closes, says why, and ends what is under way", async () => {
    const clusters = await three(memoryNetwork());
    const leader = await leaderAmong(clusters);
    for (const leaves of [clusters.find((one) => one !== leader) as NodeCluster, leader]) {
      const watch = leaves.kv.watch({ prefix: "" });
      const list = await leaves.members.remove(leaves.node.id);
      expect(list.members.map(({ id }) => id)).not.toContain(leaves.node.id);
      const watched = errorFrom(
        (async () => {
          for await (const _ of watch);
        })(),
      );
      expect(await errorFrom(deadline(leaves.node.closed))).toMatchObject({
        code: "REMOVED",
        message: expect.stringMatching(
          /^\w+\.\w+ was removed from cluster \w+: entry \d+ of its log says so/,
        ),
      });
      expect(await watched).toMatchObject({ code: "CLOSED" });
      const late = await errorFrom(leaves.kv.get("key"));
      expect(late).toMatchObject({ code: "CLOSED", message: expect.stringContaining("was removed from") });
      const { standing, removedAt, complaints } = leaves.node.status();
      expect([standing, complaints.at(-1)]).toEqual([
        "closed",
        `Entry ${removedAt} of its log removes this node, and nothing that it knows of takes it in again.`,
      ]);
    }
    const last = clusters.find((one) => one.node.status().standing !== "closed") as NodeCluster;
    await last.kv.put("key", "one is left");
    expect(await errorFrom(last.members.remove(last.node.id))).toMatchObject({ code: "CHANGE_REFUSED" });
  });
});

describe("a node whose storage fails", () => {
  it("stops, says why, and ends what is under way as unknown", async () => {
    const disk = await brokenDisk();
    const node = kept(await assembled({ log: disk.log }));
    await node.kv.put("key", 1);
    disk.fail();
    const put = await errorFrom(node.kv.put("key", 2));
    expect(put).toMatchObject({ code: "CLOSED", outcome: "unknown" });
    expect(put.message).toContain("had to stop");
    expect(await errorFrom(node.node.closed)).toMatchObject({ code: "STORAGE_FAILED" });
    expect(node.server.connections).toBe(0);
    expect(node.server.requestsUnderWay).toBe(0);
  });
});

async function assembled(ports: Pick<NodePorts, "log">): Promise<AssembledNode> {
  return assembleNode(
    {
      ...ports,
      network: memoryNetwork(),
      clock: systemClock(),
      random: systemRandom(),
      logger: silentLogger,
    },
    {
      id: "a",
      listen: undefined,
      peers: undefined,
      raft: { heartbeatMs: 50, electionTimeoutMinMs: 150, electionTimeoutMaxMs: 300 },
      client: { requestTimeoutMs: 5_000, sessionTtlMs: 15_000, session: true },
      pid: 1,
    },
  );
}

async function brokenDisk(): Promise<{ log: LogStore; fail(): void }> {
  let isBroken = false;
  const batches = new MemoryBatchStore();
  const log = await openLog({
    batches: {
      write: (operations) =>
        isBroken ? Promise.reject(new Error("EIO: i/o error, fsync")) : batches.write(operations),
      get: (key) => batches.get(key),
      range: (from, to, limit) => batches.range(from, to, limit),
      close: () => batches.close(),
    },
    slots: new MemorySlotFile(),
    snapshots: new MemorySnapshotFiles(),
    nodeId: "a" as never,
    random: systemRandom(),
    location: "memory",
    mayCreate: true,
  });
  return {
    log,
    fail() {
      isBroken = true;
    },
  };
}

describe("options that make no sense", () => {
  it("are refused before anything is opened, with the numbers in the message", async () => {
    const one = { a: "ws://127.0.0.1:7101" };
    const cases: [Parameters<typeof join>[0], RegExp][] = [
      [{ id: "a b" }, /"a b" is no node id/],
      [{ id: "a", memory: true, dataDir: "./data" }, /memory and dataDir \(\.\/data\) contradict/],
      [{ id: "d", peers, memory: true }, /peers lists a, b, c, but not this node, d/],
      [{ id: "a", peers, insecure: true }, /one of 3 and has no dataDir/],
      [{ id: "a", peers: { ...peers, b: peers.a }, memory: true }, /a and b the same address/],
      [{ id: "a", peers: { ...peers, b: "ws://10.0.0.2:0" }, memory: true }, /which port 0 becomes/],
      [{ id: "a", peers: one, listen: "ws://127.0.0.1:0" }, /Port 0 is for a node alone/],
      [{ id: "a", peers, memory: true }, /can be reached from other machines/],
      [{ id: "a", listen: "ws://0.0.0.0:7101" }, /can be reached from other machines/],
      [{ id: "a", heartbeatMs: 80 }, /heartbeatMs \(80\).*electionTimeoutMs\.min \(150\)/],
      [{ id: "a", electionTimeoutMs: { min: 300, max: 300 } }, /min \(300\).*max \(300\)/],
      [{ id: "a", sessionTtlMs: 1_100 }, /sessionTtlMs \(1100\).*\(300\), so 1200/],
      [{ id: "a", requestTimeoutMs: 0 }, /requestTimeoutMs is 0/],
    ];
    for (const [options, sentence] of cases) {
      const error = await errorFrom(join(options));
      expect(error).toBeInstanceOf(QuorateError);
      expect(error.code).toBe("INVALID_OPTIONS");
      expect(error.message).toMatch(sentence);
    }
    const eight = Object.fromEntries([..."abcdefgh"].map((id, at) => [id, `ws://10.0.0.${at + 1}:7101`]));
    expect((await errorFrom(join({ id: "a", peers: eight, memory: true }))).message).toMatch(
      /8 nodes; at most 7/,
    );
  });
});
