/** A minute of full load, and a minute of nothing: no change of leader in either, and next to no work in the second. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { tally } from "../process/rig/history.ts";
import { Load } from "../process/rig/load.ts";
import { RealCluster } from "../process/rig/realCluster.ts";
import { expectKept } from "../process/rig/verification.ts";
import { pause } from "../process/rig/waiting.ts";

const all = ["a", "b", "c"];

/** User and system time of a process in ticks of 10 ms, as Linux counts them. */
function processTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

describe("a cluster without a fault", () => {
  it("keeps its leader through a minute of full load", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const clients = await Promise.all([cluster.client(), cluster.client()]);
    const before = await cluster.agree(all);
    const load = new Load({ clients, prefix: "full/", perSecond: 100_000, maxUnderWay: 128 });
    await pause(60_000);
    const records = await load.stop();
    console.log(`a minute of full load: ${JSON.stringify(tally(records))}`);
    const after = await cluster.agree(all);
    expect(after.map((view) => view.term)).toEqual(before.map((view) => view.term));
    expect(tally(records)).toMatchObject({ failed: 0, unknown: 0 });
    await expectKept(cluster, records, "full/");
  });

  it.runIf(process.platform === "linux")("costs at most 8 % of one core when idle", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const before = await cluster.agree(all);
    const ticks = (): number => cluster.nodes.reduce((sum, node) => sum + processTicks(node.pid), 0);
    const [startTicks, startMs] = [ticks(), performance.now()];
    await pause(60_000);
    const percent = ((ticks() - startTicks) * 10 * 100) / (performance.now() - startMs);
    console.log(`three idle nodes: ${percent.toFixed(2)} % of one core`);
    const after = await cluster.agree(all);
    expect(after.map((view) => view.term)).toEqual(before.map((view) => view.term));
    expect(percent).toBeLessThanOrEqual(8);
  });
});
