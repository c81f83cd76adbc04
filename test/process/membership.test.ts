/** Real nodes that join, leave and come back wiped, while a client writes. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster, MemberList } from "@quorate/client";
import { describe, expect, it } from "vitest";
import { tally } from "./rig/history.ts";
import { Load } from "./rig/load.ts";
import { NodeProcess } from "./rig/nodeProcess.ts";
import { freePortBlock } from "./rig/ports.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { expectKept } from "./rig/verification.ts";
import { until } from "./rig/waiting.ts";

function votersIn({ members }: MemberList): string {
  return members
    .filter((member) => member.role === "voter" && !member.leaving)
    .map((member) => member.id)
    .sort()
    .join("");
}

function untilVoters(client: Cluster, wanted: string): Promise<MemberList> {
  return until(`the voters are ${wanted}`, async () => {
    const list = await client.members.list();
    return votersIn(list) === wanted && list.members.length === wanted.length ? list : undefined;
  });
}

describe("a cluster of real nodes", () => {
  it("takes a fourth node in and lets another one go, with no failed write", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const client = await cluster.client();
    const load = new Load({ clients: [client], prefix: "member/", perSecond: 100 });
    await load.progress(50);
    const listen = `ws://127.0.0.1:${await freePortBlock(1)}`;
    const d = new NodeProcess({
      id: "d",
      listen,
      peers: {},
      join: cluster.endpoints,
      dataDir: join(cluster.directory, "d"),
    });
    try {
      d.start();
      await untilVoters(client, "abcd");
      const leader = await cluster.leader();
      const leaver = cluster.nodes.find((node) => node !== leader) as NodeProcess;
      await client.members.remove(leaver.id);
      await untilVoters(client, ["a", "b", "c", "d"].filter((id) => id !== leaver.id).join(""));
      expect(await leaver.exited).toEqual({ code: 6, signal: null });
      expect(leaver.log).toContain("With this data directory it cannot come back");
      await load.progress(50);
      const records = await load.stop();
      expect(tally(records)).toMatchObject({ failed: 0, unknown: 0 });
      const status = await client.status();
      expect(status.nodes.map((node) => node.id)).toContain("d");
    } finally {
      await d.kill();
    }
  });

  it("ends a removed node that is started again with its old directory, with --join too, and takes it in with an empty one", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const client = await cluster.client();
    const leader = await cluster.leader();
    const c = cluster.nodes.find((node) => node !== leader) as NodeProcess;
    await c.kill();
    const { members } = await client.members.remove(c.id);
    expect(members).toHaveLength(2);
    const join = cluster.endpoints.filter((endpoint) => endpoint !== c.spec.listen);
    // The leader may still be about to tell it; the second time nobody speaks to it, and it asks.
    for (const [changes, by] of [
      [{}, ""],
      [{ join }, "the membership of entry \\d+ does not name it"],
    ] as const) {
      c.start(changes);
      expect(await c.exited).toEqual({ code: 6, signal: null });
      expect(c.log.split("it cannot come back")).toHaveLength(2);
      expect(c.log).toMatch(new RegExp(`was removed from cluster [0-9a-f]{32}: ${by}.*--join`));
    }
    await rm(c.spec.dataDir, { recursive: true });
    c.start({ join });
    await untilVoters(client, "abc");
  });

  it("keeps a wiped node out, tells the way, and has three voters again after it was taken", async () => {
    await using cluster = await RealCluster.start({ size: 3 });
    const client = await cluster.client();
    const load = new Load({ clients: [client], prefix: "wiped/", perSecond: 100 });
    await load.progress(50);
    const before = await client.members.list();
    const c = cluster.node("c");
    await c.kill();
    await rm(c.spec.dataDir, { recursive: true });
    c.start();
    await until("it is told why it stays out, and what to do", async () =>
      c.log.includes("--join") ? true : undefined,
    );
    expect((await cluster.view("c"))?.standing).toBe("unborn");
    await c.kill();
    await rm(c.spec.dataDir, { recursive: true });
    c.start({ join: cluster.endpoints.filter((endpoint) => endpoint !== c.spec.listen) });
    await until("its new directory is a voter, and the old one is none", async () => {
      const now = await client.members.list();
      const isNew = !before.members.some((old) =>
        now.members.some((one) => one.id === "c" && one.member === old.member),
      );
      if (!isNew || votersIn(now) !== "abc") throw new Error(`The members are ${JSON.stringify(now)}`);
      return true;
    });
    const records = await load.stop();
    expect(tally(records)).toMatchObject({ failed: 0, unknown: 0 });
    await cluster.node("a").kill();
    await client.kv.put("after", "b and the new c are a majority");
    cluster.node("a").start();
    await cluster.healthy();
    await expectKept(cluster, records, "wiped/");
  });
});
