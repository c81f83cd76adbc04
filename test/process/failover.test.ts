/**
 * The leader is killed again and again under a steady load of puts: nothing acknowledged is lost, and writes go on.
 *
 * The gaps are measured on whatever machine runs this, and printed; the bounds are those that the project promises.
 */
import { describe, expect, it } from "vitest";
import { busyness } from "./rig/busyness.ts";
import { longestGapMs, median, tally } from "./rig/history.ts";
import { Load } from "./rig/load.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { expectKept } from "./rig/verification.ts";
import { pause } from "./rig/waiting.ts";

const kills = 10;
const medianGapMs = 400;
const maxGapMs = 2_000;

/** Kills the leader, waits for writes to go on, starts it again; the span in which the gap lies. */
async function killLeader(cluster: RealCluster, load: Load): Promise<{ fromMs: number; toMs: number }> {
  const leader = await cluster.leader();
  const fromMs = performance.now();
  await leader.kill();
  await load.progress(40);
  const toMs = performance.now();
  leader.start();
  await cluster.healthy();
  await load.progress(40);
  return { fromMs, toMs };
}

describe("a killed leader", () => {
  it.each([3, 5] as const)("of %i nodes costs no acknowledged write, and a short gap", async (size) => {
    await using cluster = await RealCluster.start({ size });
    const clients = await Promise.all([cluster.client(), cluster.client()]);
    const load = new Load({ clients, prefix: "load/", perSecond: 150 });
    await load.progress(100);
    const spans: { fromMs: number; toMs: number }[] = [];
    for (let kill = 0; kill < kills; kill += 1) spans.push(await killLeader(cluster, load));
    const records = await load.stop();
    const gaps = spans.map(({ fromMs, toMs }) => Math.round(longestGapMs(records, fromMs, toMs)));
    const stretch = busyness();
    console.log(
      `${size} nodes, machine busy ${stretch.toFixed(1)}: gaps of ${gaps.join(", ")} ms, median ${median(gaps)}; ` +
        JSON.stringify(tally(records)),
    );
    await expectKept(cluster, records, "load/");
    expect(median(gaps)).toBeLessThanOrEqual(medianGapMs * stretch);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(maxGapMs * stretch);
  });
});

describe("a full load without a fault", () => {
  it("changes no leader", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const clients = await Promise.all([cluster.client(), cluster.client()]);
    const before = await cluster.agree(["a", "b", "c"]);
    const load = new Load({ clients, prefix: "full/", perSecond: 100_000, maxUnderWay: 128 });
    await pause(15_000);
    const records = await load.stop();
    const after = await cluster.agree(["a", "b", "c"]);
    console.log(`full load: ${JSON.stringify(tally(records))}`);
    expect(after.map((view) => view.term)).toEqual(before.map((view) => view.term));
    expect(tally(records)).toMatchObject({ failed: 0, unknown: 0 });
    await expectKept(cluster, records, "full/");
  });
});
