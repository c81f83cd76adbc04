/** Real nodes that take snapshots every few entries: one joins by one, all start from their own, logs stay short. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { examine, type Report } from "@quorate/storage";
import { describe, expect, it } from "vitest";
import { tally } from "./rig/history.ts";
import { Load } from "./rig/load.ts";
import { NodeProcess } from "./rig/nodeProcess.ts";
import { freePortBlock } from "./rig/ports.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { expectKept } from "./rig/verification.ts";
import { until } from "./rig/waiting.ts";

const everyEntries = 300;
const keptEntries = 50;

/** A cluster whose nodes take snapshots often. `moreArguments`: for a node that comes later. */
async function frugal(): Promise<{ cluster: RealCluster; moreArguments: readonly string[] }> {
  const prepared = await RealCluster.prepare({ size: 3 });
  const config = join(prepared.directory, "quorate.json");
  await writeFile(config, JSON.stringify({ snapshots: { everyEntries, keptEntries } }));
  const moreArguments = ["--config", config, "--log-level", "debug"];
  for (const node of prepared.nodes) node.start({ moreArguments });
  await prepared.healthy();
  return { cluster: prepared, moreArguments };
}

/** What is in the directory of a node that does not run. */
async function lying(node: NodeProcess): Promise<Report> {
  return examine(node.spec.dataDir);
}

describe("nodes that take snapshots", () => {
  it("keep short logs under load, and start again from what they saved", async () => {
    const { cluster, moreArguments } = await frugal();
    await using _ = cluster;
    const load = new Load({ clients: [await cluster.client()], prefix: "short/", perSecond: 400 });
    await load.progress(5 * everyEntries);
    for (const node of cluster.nodes) {
      await node.kill();
      const { log, snapshots } = await lying(node);
      expect(snapshots.map(({ intact }) => intact)).toEqual([true, true]);
      const [newest, older] = snapshots;
      expect(log?.firstIndex).toBeGreaterThan(everyEntries);
      expect(log?.firstIndex).toBeLessThanOrEqual((older?.index ?? 0) + 1);
      // The more there is to save, the longer the log may grow before it is saved again.
      expect(4 * (newest?.index ?? 0)).toBeGreaterThan(log?.lastIndex ?? 0);
      node.start({ moreArguments });
      await cluster.healthy();
    }
    const records = await load.stop();
    await expectKept(cluster, records, "short/");
  });

  it("bring a new node up to date by a snapshot while writes go on, and it can stand in for another", async () => {
    const { cluster, moreArguments } = await frugal();
    await using _ = cluster;
    const client = await cluster.client();
    const load = new Load({ clients: [client], prefix: "joined/", perSecond: 300 });
    await load.progress(4 * everyEntries);
    const d = new NodeProcess({
      id: "d",
      listen: `ws://127.0.0.1:${await freePortBlock(1)}`,
      peers: {},
      join: cluster.endpoints,
      dataDir: join(cluster.directory, "d"),
      moreArguments,
    });
    try {
      d.start();
      await until("d is a voter", async () => {
        const { members } = await client.members.list();
        return members.some(({ id, role }) => id === "d" && role === "voter") ? true : undefined;
      });
      expect(d.log).toContain("snapshotInstalled");
      const [leaver] = cluster.nodes;
      await client.members.remove(leaver?.id ?? "a");
      await load.progress(50);
      const records = await load.stop();
      expect(tally(records)).toMatchObject({ failed: 0, unknown: 0 });
    } finally {
      await d.kill();
    }
  });
});
