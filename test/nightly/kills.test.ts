/**
 * Two hundred kills under load, fifty of them of all nodes at once: never a node that refuses to come back.
 *
 * Each run draws other victims and moments; the seed is printed, and QUORATE_SEED repeats it.
 */
import { describe, expect, it } from "vitest";
import { median, tally } from "../process/rig/history.ts";
import { killUnderLoad } from "../process/rig/killing.ts";
import { Load } from "../process/rig/load.ts";
import { RealCluster } from "../process/rig/realCluster.ts";
import { expectKept } from "../process/rig/verification.ts";

const seed = Number(process.env.QUORATE_SEED ?? Date.now() % 1_000_000);

describe("kills under load", () => {
  it("leave every node a voter with everything acknowledged: 200 kills, 50 of them of all nodes", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const clients = await Promise.all([cluster.client(), cluster.client()]);
    const load = new Load({ clients, prefix: "kill/", perSecond: 40, requestTimeoutMs: 30_000 });
    await load.progress(100);
    await killUnderLoad(cluster, load, { kills: 200, ofAll: 50, seed });
    const records = await load.stop();
    const delays = records.map((record) => record.completedMs - record.invokedMs);
    console.log(
      `seed ${seed}: 200 kills, ${JSON.stringify(tally(records))}, median answer after ${median(delays).toFixed(1)} ms`,
    );
    await expectKept(cluster, records, "kill/");
    expect(tally(records).acknowledged).toBeGreaterThan(1_000);
  });
});
