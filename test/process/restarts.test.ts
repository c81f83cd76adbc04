/** Kills under load, of one node and of all at once: every node comes back by itself, as a voter, with everything. */
import { describe, expect, it } from "vitest";
import { tally } from "./rig/history.ts";
import { killUnderLoad } from "./rig/killing.ts";
import { Load } from "./rig/load.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { expectKept } from "./rig/verification.ts";

describe("kills under load", () => {
  it("leave every node a voter with everything acknowledged: 20 kills, 5 of them of all nodes", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const clients = [await cluster.client()];
    const load = new Load({ clients, prefix: "kill/", perSecond: 60 });
    await load.progress(50);
    await killUnderLoad(cluster, load, { kills: 20, ofAll: 5, seed: 1 });
    const records = await load.stop();
    console.log(`20 kills: ${JSON.stringify(tally(records))}`);
    await expectKept(cluster, records, "kill/");
  });
});

describe("a cluster that was stopped in order", () => {
  it("starts with the same data, and its nodes end with code 0", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const load = new Load({ clients: [await cluster.client()], prefix: "stop/", perSecond: 200 });
    await load.progress(100);
    const records = await load.stop();
    const exits = await Promise.all(cluster.nodes.map((node) => node.stop()));
    expect(exits).toEqual(cluster.nodes.map(() => ({ code: 0, signal: null })));
    for (const node of cluster.nodes) node.start();
    await cluster.healthy();
    await expectKept(cluster, records, "stop/");
  });
});
