/** `quorate transfer` against a real cluster under load: it says who leads then, and no write fails. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { tally } from "./rig/history.ts";
import { Load } from "./rig/load.ts";
import { quorateCommand } from "./rig/nodeProcess.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { expectKept } from "./rig/verification.ts";

const runFile = promisify(execFile);

async function transfer(cluster: RealCluster, ...words: readonly string[]): Promise<string> {
  const env = { ...process.env, QUORATE_ENDPOINTS: cluster.endpoints.join(",") };
  const { stdout } = await runFile(process.execPath, [quorateCommand, "transfer", ...words], { env });
  return stdout;
}

describe("quorate transfer", () => {
  it("hands the office to the node that is named, or to another one, under a load that does not fail", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const load = new Load({ clients: [await cluster.client()], prefix: "load/", perSecond: 100 });
    await load.progress(20);
    const first = await cluster.leader();
    const target = cluster.nodes.find(({ id }) => id !== first.id)?.id as string;
    const named = JSON.parse(await transfer(cluster, target, "--json")) as { leader: string; term: number };
    expect(named).toMatchObject({ leader: target, term: expect.any(Number) });
    expect((await cluster.leader()).id).toBe(target);
    await load.progress(20);
    const [, leader, term] = /^(\w) leads in term (\d+)\n$/.exec(await transfer(cluster)) ?? [];
    expect(leader).not.toBe(target);
    expect(Number(term)).toBeGreaterThan(named.term);
    expect((await cluster.leader()).id).toBe(leader);
    await load.progress(20);
    const records = await load.stop();
    expect(tally(records)).toMatchObject({ failed: 0, unknown: 0 });
    await expectKept(cluster, records, "load/");
  });

  it("to a node that has no vote is refused, and the leader stays", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const { id } = await cluster.leader();
    await expect(transfer(cluster, "nobody")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nobody is no voter of this cluster; voters are a, b, c."),
    });
    expect((await cluster.leader()).id).toBe(id);
  });
});
