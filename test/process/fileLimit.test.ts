/** A disk that takes no more, by a limit on the size of files: needs neither root nor a file system of its own. */
import { describe, expect, it } from "vitest";
import { tally } from "./rig/history.ts";
import { Load } from "./rig/load.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { expectKept } from "./rig/verification.ts";

/** In units of 1,024 bytes. */
function belowFileLimit(units: number): (commandLine: readonly string[]) => readonly string[] {
  return (commandLine) => ["bash", "-c", `ulimit -f ${units}; exec "$@"`, "bash", ...commandLine];
}

describe("a write that the disk refuses", () => {
  it.each(["follower", "leader"] as const)(
    "stops a %s with code 70, loses nothing, and is over when the cause is gone",
    async (role) => {
      await using cluster = await RealCluster.prepare({ size: 3 });
      const limited = role === "leader" ? cluster.nodes : cluster.nodes.slice(0, 1);
      for (const node of cluster.nodes)
        node.start(limited.includes(node) ? { wrap: belowFileLimit(96) } : {});
      await cluster.healthy();
      const victim = role === "leader" ? await cluster.leader() : cluster.node("a");
      for (const node of limited) {
        if (node === victim) continue;
        await node.stop();
        node.start();
        await cluster.healthy();
      }
      const load = new Load({ clients: [await cluster.client()], prefix: "full/", perSecond: 300 });
      expect(await victim.ended(60_000)).toEqual({ code: 70, signal: null });
      expect(victim.log).toMatch(/STORAGE_FAILED/);
      await load.progress(50);
      victim.start();
      await cluster.healthy();
      await load.progress(50);
      const records = await load.stop();
      console.log(`a ${role} whose disk refuses: ${JSON.stringify(tally(records))}`);
      await expectKept(cluster, records, "full/");
    },
  );
});
