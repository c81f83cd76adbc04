/**
 * One node's files are damaged while it is down. Either it starts with everything that it acknowledged, or it stays
 * out and says what is missing and what to do; the others go on in any case. Silence is the one thing forbidden.
 */
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { damages } from "./rig/damage.ts";
import { Load } from "./rig/load.ts";
import type { NodeProcess } from "./rig/nodeProcess.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { expectKept } from "./rig/verification.ts";
import { pause, until } from "./rig/waiting.ts";

type Verdict =
  /** It votes again, with everything. */
  | { readonly kind: "voter" }
  /** It stays out, or does not run; `words` is what it says about it. */
  | { readonly kind: "out"; readonly words: string };

/** What becomes of a node that was started; neither of the two in time is the silence that must not be. */
async function verdictOn(cluster: RealCluster, node: NodeProcess): Promise<Verdict> {
  return until(
    `node ${node.id} votes, or says why it does not`,
    async () => {
      if (!node.isRunning) {
        const { code } = await node.exited;
        return { kind: "out", words: `exit code ${code}: ${node.log}` } as const;
      }
      const own = await cluster.view(node.id);
      if (own === undefined) return undefined;
      const newest = Math.max(...(await cluster.views()).map((view) => view.term));
      const follows = own.standing === "born" && !own.mute && own.leader !== "" && own.term === newest;
      if (follows) return { kind: "voter" } as const;
      // A node that lost its tail takes part again once it has it back: give it the time.
      await pause(500);
      const later = await cluster.view(node.id);
      const isOut = later !== undefined && (later.mute || later.standing !== "born" || later.leader === "");
      if (!isOut || later.complaints.length === 0) return undefined;
      return { kind: "out", words: later.complaints.join("\n") } as const;
    },
    { withinMs: 20_000 },
  );
}

describe("a node that comes back after", () => {
  it.each(damages)("%s", async (title, damage) => {
    await using cluster = await RealCluster.start({ size: 3 });
    const load = new Load({ clients: [await cluster.client()], prefix: "kept/", perSecond: 150 });
    await load.progress(60);
    const leader = await cluster.leader();
    const [node, other] = cluster.nodes.filter((candidate) => candidate !== leader) as [
      NodeProcess,
      NodeProcess,
    ];
    const own = node.spec.dataDir;
    const older = join(cluster.directory, "older");
    const others = join(cluster.directory, "others");
    await node.kill();
    await cp(own, older, { recursive: true });
    // Opening makes LevelDB write what it holds into an .ldb file; what comes after goes to the next .log file.
    node.start();
    await cluster.healthy();
    await load.progress(60);
    await node.kill();
    await cp(other.spec.dataDir, others, { recursive: true });
    await rm(join(others, "log", "LOCK"), { force: true });

    await damage({ own, older, others });
    node.start();
    const verdict = await verdictOn(cluster, node);
    console.log(`${title}: ${verdict.kind === "voter" ? "votes again" : verdict.words.slice(0, 600)}`);
    await load.progress(50);
    const records = await load.stop();
    const healthy = cluster.nodes.filter((candidate) => candidate !== node).map((candidate) => candidate.id);
    if (verdict.kind === "voter") await expectKept(cluster, records, "kept/");
    else {
      expect(verdict.words.length).toBeGreaterThan(40);
      await expectKept(cluster, records, "kept/", healthy);
    }
  });
});
