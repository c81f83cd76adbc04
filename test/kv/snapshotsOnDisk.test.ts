/** A node on a real directory that snapshots often: what it leaves, what it starts from, what damage does to it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AssembledNode, assembleNode, NodePages } from "@quorate/kv/internal";
import { type NodeId, silentLogger, systemClock, systemRandom } from "@quorate/raft";
import { examine, openDirectory } from "@quorate/storage";
import { memoryNetwork } from "@quorate/transport/links";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../storage/temporaryDirectory.ts";

async function start(directory: string): Promise<AssembledNode> {
  const random = systemRandom();
  const log = await openDirectory(directory, { nodeId: "a" as NodeId, random });
  return assembleNode(
    { log, network: memoryNetwork(), clock: systemClock(), random, logger: silentLogger },
    {
      id: "a",
      listen: undefined,
      peers: undefined,
      raft: {
        heartbeatMs: 50,
        electionTimeoutMinMs: 150,
        electionTimeoutMaxMs: 300,
        snapshotEntries: 100,
        snapshotGrowthPercent: 0,
        compactionTailEntries: 10,
        compactionTailBytes: 1_000,
      },
      client: { requestTimeoutMs: 10_000, sessionTtlMs: 15_000, session: true },
      pid: 1,
    },
  );
}

async function write(node: AssembledNode, from: number, count: number): Promise<void> {
  const keys = Array.from({ length: count }, (_, n) => from + n);
  for (let at = 0; at < keys.length; at += 50) {
    await Promise.all(keys.slice(at, at + 50).map((n) => node.kv.put(`key/${n}`, `value ${n}`)));
  }
}

/** Writes until the log was compacted, which takes two snapshots. Gives how many keys it wrote. */
async function live(directory: string): Promise<number> {
  const node = await start(directory);
  const endMs = performance.now() + 20_000;
  for (let written = 0; ; ) {
    await write(node, written, 100);
    written += 100;
    const { compactedIndex } = node.node.status();
    if (compactedIndex > 100) {
      await node.close();
      return written;
    }
    if (performance.now() > endMs)
      throw new Error(`the log begins after entry ${compactedIndex} after ${written} writes`);
  }
}

/** Without one that was being written when the node was closed: the next start removes it. */
function snapshotFiles(directory: string): string[] {
  const names = readdirSync(join(directory, "snapshots"));
  return names.filter((name) => name.endsWith(".snapshot")).sort();
}

function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes[200] = bytes[200]! ^ 1;
  writeFileSync(path, bytes);
}

describe("A node that snapshots", () => {
  it("keeps two files, starts from the newest, and from the older one where that is damaged", async () => {
    const directory = temporaryDirectory();
    const written = await live(directory);
    expect(snapshotFiles(directory)).toHaveLength(2);
    const report = await examine(directory);
    expect(report).toMatchObject({ prognosis: "voter", findings: [], log: { fault: undefined } });
    expect(report.snapshots.map(({ intact }) => intact)).toEqual([true, true]);
    expect(report.log?.firstIndex).toBeLessThanOrEqual((report.snapshots[1]?.index ?? 0) + 1);

    for (const isDamaged of [false, true]) {
      if (isDamaged) damage(join(directory, "snapshots", snapshotFiles(directory).at(-1) as string));
      const node = await start(directory);
      const tooEarly = {
        code: "UNAVAILABLE",
        retryable: true,
        message: expect.stringMatching(/restores its state/),
      };
      const pages = new NodePages();
      pages.open({ ...node, clock: systemClock() });
      const ready = {
        path: "/readyz",
        query: new URLSearchParams(),
        isTrusted: true,
        signal: new AbortController().signal,
      };
      expect(await pages.answer(ready)).toMatchObject({
        status: 503,
        body: expect.stringMatching(/restores its state/),
      });
      await expect(node.raft.readIndex()).rejects.toMatchObject(tooEarly);
      const { entries } = await node.kv.list({ prefix: "key/" }, { limit: 10_000 });
      const found = new Map(entries.map(({ key, value }) => [key, value]));
      expect(found.size).toBe(written);
      for (let n = 0; n < written; n += 1) expect(found.get(`key/${n}`)).toBe(`value ${n}`);
      expect(await pages.answer(ready)).toMatchObject({ status: 200 });
      await node.close();
    }
  });
});
