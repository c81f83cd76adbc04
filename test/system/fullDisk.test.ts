/** A file system that is really full: a small tmpfs, mounted for this test alone. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { tally } from "../process/rig/history.ts";
import { Load } from "../process/rig/load.ts";
import { RealCluster } from "../process/rig/realCluster.ts";
import { expectKept } from "../process/rig/verification.ts";
import { whatIsMissing } from "./requirements.ts";

describe("a full disk", () => {
  it("stops the node with code 70; with room again, it comes back with everything", async ({ skip }) => {
    const missing = whatIsMissing(["mount", "umount"], true);
    if (missing !== undefined) skip(missing);
    await using cluster = await RealCluster.prepare({ size: 3 });
    const [victim, ...others] = cluster.nodes;
    if (victim === undefined) throw new Error("There are three nodes");
    const directory = victim.spec.dataDir;
    mkdirSync(directory);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=400k", "tmpfs", directory]);
    try {
      for (const node of [victim, ...others]) node.start();
      await cluster.healthy();
      const load = new Load({ clients: [await cluster.client()], prefix: "enospc/", perSecond: 400 });
      expect(await victim.ended(60_000)).toEqual({ code: 70, signal: null });
      expect(victim.log).toMatch(/STORAGE_FAILED/);
      await load.progress(50);
      execFileSync("mount", ["-o", "remount,size=64m", directory]);
      victim.start();
      await cluster.healthy();
      await load.progress(50);
      const records = await load.stop();
      console.log(`ENOSPC: ${JSON.stringify(tally(records))}`);
      await expectKept(cluster, records, "enospc/");
    } finally {
      await victim.kill();
      execFileSync("umount", ["-l", directory]);
    }
  });
});
