/** Cut off from the majority, a leader acknowledges nothing and answers no linearizable read. */
import type { ResponseBody } from "@quorate/client/protocol";
import { describe, expect, it } from "vitest";
import { outcomeOf } from "./rig/load.ts";
import { RealCluster } from "./rig/realCluster.ts";
import { until } from "./rig/waiting.ts";

/** Holds everything that one side says to the other, in both directions, or lets it pass again. */
function partition(
  cluster: RealCluster,
  sides: readonly [readonly string[], readonly string[]],
  mode: "frozen" | "open",
): void {
  for (const [here, there] of [sides, [sides[1], sides[0]]] as const) {
    for (const from of here) for (const to of there) cluster.proxy(to).set(from, { mode });
  }
}

/** What a single node answers, or that it answers nothing in time. */
async function answerOf(asking: Promise<ResponseBody>): Promise<string> {
  try {
    return (await asking).kind;
  } catch {
    return "no answer";
  }
}

async function newLeaderAmong(cluster: RealCluster, ids: readonly string[]): Promise<string> {
  return until("the majority has a leader", async () => {
    for (const id of ids) if ((await cluster.view(id))?.role === "leader") return id;
    return undefined;
  });
}

describe("a leader in the minority", () => {
  it("acknowledges no write and answers no read; what it appended is gone after the partition", async () => {
    await using cluster = await RealCluster.start({ size: 5, proxies: true });
    const leader = (await cluster.leader()).id;
    const follower = cluster.nodes.map((node) => node.id).find((id) => id !== leader) as string;
    const minority = [leader, follower];
    const majority = cluster.nodes.map((node) => node.id).filter((id) => !minority.includes(id));
    const client = await cluster.client(minority);
    await client.kv.put("before", "1");
    for (const id of majority) cluster.proxy(id).set("client", { mode: "frozen" });
    partition(cluster, [minority, majority], "frozen");

    const cutOff = Array.from({ length: 20 }, (_, i) => `cut/${i}`);
    const [asked, direct, reads] = await Promise.all([
      Promise.all(cutOff.map((key) => outcomeOf(client.kv.put(key, "lost", { timeoutMs: 1_500 })))),
      Promise.all(minority.map((id) => answerOf(cluster.speaker(id).put(`cut/by-${id}`, "lost", 1_500)))),
      Promise.all(minority.map((id) => answerOf(cluster.speaker(id).get("before", 1_500)))),
    ]);
    expect(asked.filter((outcome) => outcome.kind === "acknowledged")).toEqual([]);
    for (const answer of [...direct, ...reads]) expect(["failed", "no answer"]).toContain(answer);

    const successor = cluster.speaker(await newLeaderAmong(cluster, majority));
    expect((await successor.put("during", "2")).kind).toBe("executed");
    expect((await successor.get("during")).kind).toBe("got");

    partition(cluster, [minority, majority], "open");
    for (const id of majority) cluster.proxy(id).set("client", { mode: "open" });
    await cluster.healthy();
    for (const { id } of cluster.nodes) {
      expect([...(await cluster.readAll(id, "cut/")).keys()], `node ${id}`).toEqual([]);
      expect([...(await cluster.readAll(id, "")).keys()].sort(), `node ${id}`).toEqual(["before", "during"]);
    }
    expect((await client.kv.get("during"))?.value).toBe("2");
  });

  it("is replaced also where its connections are reset, and follows afterwards", async () => {
    await using cluster = await RealCluster.start({ size: 3, proxies: true });
    const leader = (await cluster.leader()).id;
    const others = cluster.nodes.map((node) => node.id).filter((id) => id !== leader);
    for (const id of others) {
      cluster.proxy(id).set(leader, { mode: "reset" });
      cluster.proxy(leader).set(id, { mode: "reset" });
    }
    await newLeaderAmong(cluster, others);
    for (const id of others) {
      cluster.proxy(id).set(leader, { mode: "open" });
      cluster.proxy(leader).set(id, { mode: "open" });
    }
    await cluster.healthy();
  });
});

describe("a damaged byte on a link", () => {
  it("costs that connection at most, and never reaches a log", async () => {
    await using cluster = await RealCluster.start({ size: 3, proxies: true });
    const client = await cluster.client();
    for (let i = 0; i < 30; i += 1) {
      const leader = (await cluster.leader()).id;
      for (const { id } of cluster.nodes) if (id !== leader) cluster.proxy(id).corruptNext(leader);
      await client.kv.put(`damaged/${i}`, "x".repeat(500));
    }
    await cluster.healthy();
    const all = await Promise.all(cluster.nodes.map(({ id }) => cluster.readAll(id, "damaged/")));
    for (const found of all) {
      expect(found.size).toBe(30);
      expect([...found.values()].every((pair) => pair.value === "x".repeat(500))).toBe(true);
    }
  });
});
