/** Backups, new clusters made of them, and the way back from a lost majority: the command and real nodes. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@quorate/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NodeProcess, quorateCommand } from "./rig/nodeProcess.ts";
import { freePortBlock } from "./rig/ports.ts";
import { until } from "./rig/waiting.ts";

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function quorate(...words: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    const done = (error: unknown, stdout: string, stderr: string): void => {
      const code = error === null ? 0 : Number((error as { code: number }).code);
      resolve({ code, stdout, stderr });
    };
    execFile(process.execPath, [quorateCommand, ...words], done);
  });
}

let directory: string;
const nodes: NodeProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "quorate-recovery-"));
});

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.kill()));
  await rm(directory, { recursive: true, force: true });
});

async function endpointsOf(...ids: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const port = await freePortBlock(ids.length);
  return Object.fromEntries(ids.map((id, at) => [id, `ws://127.0.0.1:${port + at}`]));
}

function startNode(
  id: string,
  peers: Readonly<Record<string, string>>,
  dataDir = join(directory, id),
): NodeProcess {
  const node = new NodeProcess({ id, listen: peers[id] as string, peers, dataDir });
  nodes.push(node);
  node.start();
  return node;
}

/** Writes `count` keys, each `key/N` with the text `value N`. */
async function fill(endpoint: string, count: number): Promise<void> {
  const client = connect({ endpoints: [endpoint], requestTimeoutMs: 15_000 });
  try {
    for (let n = 0; n < count; n += 1) await client.kv.put(`key/${n}`, `value ${n}`);
  } finally {
    await client.close();
  }
}

async function keysOf(endpoint: string, timeoutMs = 15_000): Promise<Readonly<Record<string, unknown>>> {
  const client = connect({ endpoints: [endpoint], session: false, requestTimeoutMs: timeoutMs });
  try {
    const { entries } = await client.kv.list({ prefix: "key/" });
    return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
  } finally {
    await client.close();
  }
}

const filled = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key/${n}`, `value ${n}`]));

describe("quorate snapshot", () => {
  it("saves the store of a stopped node, tells what is in it, and makes a new cluster of it that others join", async () => {
    const peers = await endpointsOf("a", "z", "y");
    const old = startNode("a", { a: peers.a as string });
    await fill(peers.a as string, 20);
    const file = join(directory, "backup.snapshot");
    const running = join(directory, "running.snapshot");
    const live = await quorate("snapshot", "save", running, "--endpoints", peers.a as string, "--json");
    expect(live).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(live.stdout)).toMatchObject({ pairs: 20, revision: 20, members: ["a"] });
    const early = await quorate("snapshot", "save", file, "--data-dir", join(directory, "a"));
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("has")]);
    await old.stop();

    const saved = await quorate("snapshot", "save", file, "--data-dir", join(directory, "a"), "--json");
    expect(saved).toMatchObject({ code: 0, stderr: "" });
    const summary = JSON.parse(saved.stdout) as { pairs: number; revision: number; sessions: number };
    expect(summary).toMatchObject({ pairs: 20, revision: 20, members: ["a"] });
    const again = await quorate("snapshot", "save", file, "--data-dir", join(directory, "a"));
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is there already")]);
    const inspected = await quorate("snapshot", "inspect", file);
    expect(inspected.stdout).toContain("20 pairs");

    const data = join(directory, "z");
    const words = ["--data-dir", data, "--id", "z", "--listen", peers.z as string];
    const restored = await quorate("snapshot", "restore", running, ...words, "--json");
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    const cluster = JSON.parse(restored.stdout) as { revision: number; clusterId: string };
    expect(cluster.revision).toBe(20 + 2 ** 40);
    const twice = await quorate("snapshot", "restore", file, ...words);
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("is not empty")]);

    startNode("z", { z: peers.z as string });
    expect(await keysOf(peers.z as string)).toEqual(filled);
    const put = await quorate("put", "more", "value", "--endpoints", peers.z as string);
    expect(Number(put.stdout)).toBe(cluster.revision + 1);

    const reachZ = ["--endpoints", peers.z as string];
    expect(await quorate("lease", "grant-at-once", ...reachZ)).toMatchObject({ code: 0, stderr: "" });
    expect(await quorate("lock", "job", "--try", ...reachZ, "--", "true")).toMatchObject({
      code: 0,
      stderr: "",
    });
    const late = await quorate("lease", "grant-at-once", ...reachZ);
    expect([late.code, late.stderr]).toEqual([5, expect.stringContaining("grants leases already")]);

    const joining = new NodeProcess({
      id: "y",
      listen: peers.y as string,
      peers: {},
      join: [peers.z as string],
      dataDir: join(directory, "y"),
    });
    nodes.push(joining);
    joining.start();
    const list = await until("y votes", async () => {
      const { stdout } = await quorate("member", "list", "--json", "--endpoints", peers.z as string);
      const { members } = JSON.parse(stdout) as { members: { id: string; role: string }[] };
      return members.some(({ id, role }) => id === "y" && role === "voter") ? members : undefined;
    });
    expect(list).toHaveLength(2);
    await nodes.find((node) => node.id === "z")?.stop();
    nodes.find((node) => node.id === "z")?.start();
    expect(await keysOf(peers.y as string)).toEqual(filled);
  });

  it("makes a cluster that grants no lease until the old one's holders cannot believe in theirs any more", async () => {
    const peers = await endpointsOf("a", "z");
    const old = startNode("a", { a: peers.a as string });
    const holding = connect({ endpoints: [peers.a as string], sessionTtlMs: 18_000 });
    const held = await holding.lease.acquire("job");
    const file = join(directory, "backup.snapshot");
    expect(await quorate("snapshot", "save", file, "--endpoints", peers.a as string)).toMatchObject({
      code: 0,
    });
    await old.kill();

    const words = ["--data-dir", join(directory, "z"), "--id", "z", "--listen", peers.z as string];
    const restored = await quorate("snapshot", "restore", file, ...words);
    expect(restored.stdout).toContain("It grants no lease until 18 s after its leader took office");
    const startedMs = performance.now();
    startNode("z", { z: peers.z as string });
    const reach = ["--endpoints", peers.z as string];
    const status = await until("z says that it waits", async () => {
      const { stdout } = await quorate("status", ...reach);
      return stdout.includes("No lease is granted until 18000 ms after") ? stdout : undefined;
    });
    expect(status).toContain("leader");
    const tried = await quorate("lock", "job", "--try", ...reach, "--", "true");
    expect([tried.code, tried.stderr]).toEqual([120, expect.stringContaining("until 18000 ms after")]);
    const believedMs = held.remainingMs();
    const waited = await quorate(
      "lock",
      "job",
      "--wait",
      "60s",
      ...reach,
      "--",
      "sh",
      "-c",
      "echo $QUORATE_TERM",
    );
    expect(waited).toMatchObject({ code: 0 });
    expect(performance.now() - startedMs).toBeGreaterThan(18_000);
    expect(believedMs).toBeGreaterThan(0);
    expect(held.remainingMs()).toBe(0);
    expect(Number(waited.stdout)).toBeGreaterThan(held.term + 2 ** 39);
    expect((await quorate("status", ...reach)).stdout).not.toContain("No lease is granted");
    await holding.close();
  });

  it("refuses a file of which a byte has changed, and makes nothing of it", async () => {
    const peers = await endpointsOf("a");
    const node = startNode("a", peers);
    await fill(peers.a as string, 5);
    await node.stop();
    const file = join(directory, "backup.snapshot");
    await quorate("snapshot", "save", file, "--data-dir", join(directory, "a"));
    const bytes = await readFile(file);
    bytes[40] = bytes[40]! ^ 1;
    await writeFile(file, bytes);
    const inspected = await quorate("snapshot", "inspect", file, "--json");
    expect(inspected.code).toBe(1);
    expect(JSON.parse(inspected.stderr)).toMatchObject({ error: { code: "SNAPSHOT_DAMAGED" } });
    const data = join(directory, "new");
    const words = ["--data-dir", data, "--id", "b", "--listen", "ws://127.0.0.1:1"];
    expect((await quorate("snapshot", "restore", file, ...words)).code).toBe(1);
    expect(await readdir(directory)).not.toContain("new");
  });
});

describe("quorate recover", () => {
  it("makes what one node has a cluster of its own, when told its name, and records what it did", async () => {
    const peers = await endpointsOf("a", "b", "c");
    const [a] = ["a", "b", "c"].map((id) => startNode(id, peers));
    await fill(peers.a as string, 20);
    await until("a has everything", async () => {
      const { stdout } = await quorate("status", "--json", "--endpoints", Object.values(peers).join(","));
      const { nodes: views } = JSON.parse(stdout) as { nodes: { id: string; appliedIndex: number }[] };
      return new Set(views.map(({ appliedIndex }) => appliedIndex)).size === 1;
    });
    await Promise.all(nodes.map((node) => node.kill()));
    const data = join(directory, "a");

    const asked = await quorate("recover", data);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain(`quorate recover ${data} --confirm a`);
    expect(asked.stderr).toContain("is gone for good");
    expect(asked.stderr).toContain("no lease is granted until 15 s after");
    expect((await quorate("recover", data, "--confirm", "b")).code).toBe(2);
    a?.start();
    await until("a has its directory open", async () => {
      const holder = await readFile(join(data, "lock"), "utf8");
      return Number(holder) === a?.pid;
    });
    expect((await quorate("recover", data, "--confirm", "a")).stderr).toContain("stop it");
    await a?.kill();

    const done = await quorate("recover", data, "--confirm", "a", "--grant-at-once", "--json");
    expect(done).toMatchObject({ code: 0, stderr: "" });
    const record = JSON.parse(await readFile(join(data, "recovered.json"), "utf8")) as {
      from: { directory: string; clusterId: string };
      to: { clusterId: string };
    };
    expect(record).toEqual(JSON.parse(done.stdout));
    expect(record).toMatchObject({ nodeId: "a", graceMs: 0, to: { revision: 20 + 2 ** 40 } });
    expect(record.to.clusterId).not.toBe(record.from.clusterId);
    expect(await readdir(record.from.directory)).toContain("witness");

    a?.start();
    expect(await keysOf(peers.a as string)).toEqual(filled);
    const put = await quorate("put", "after", "it", "--endpoints", peers.a as string);
    expect(put).toMatchObject({ code: 0, stdout: `${21 + 2 ** 40}\n` });
    expect(
      await quorate("lock", "job", "--try", "--endpoints", peers.a as string, "--", "true"),
    ).toMatchObject({
      code: 0,
      stderr: "",
    });
  });
});
