import { join, type NodeCluster } from "@quorate/kv";
import type { Network } from "@quorate/raft";
import { memoryNetwork } from "@quorate/transport";
import { afterEach, describe, expect, it } from "vitest";

const started: NodeCluster[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((cluster) => cluster.close()));
});

async function started3(network: Network): Promise<NodeCluster[]> {
  const peers = { a: "ws://10.0.0.1:7101", b: "ws://10.0.0.2:7101", c: "ws://10.0.0.3:7101" };
  const clusters = await Promise.all(
    Object.keys(peers).map((id) => join({ id, peers, memory: true, network, insecure: true })),
  );
  started.push(...clusters);
  return clusters;
}

describe("join", () => {
  it("makes a whole cluster of one node in memory out of nothing but an id", async () => {
    const cluster = await join({ id: "a" });
    started.push(cluster);
    const { revision } = await cluster.kv.put("jobs/1", { state: "new" });
    const found = await cluster.kv.get("jobs/1");
    expect(found).toMatchObject({
      key: "jobs/1",
      value: { state: "new" },
      modRevision: revision,
      version: 1,
    });
    const status = await cluster.status();
    expect(status).toMatchObject({ leader: "a", nodes: [{ id: "a", role: "leader" }] });
  });

  it("lets three nodes in one process agree", async () => {
    const [a, b, c] = await started3(memoryNetwork());
    const { revision } = await a!.kv.put("key", "value");
    expect(await b!.kv.get("key")).toMatchObject({ value: "value", modRevision: revision });
    expect(await c!.kv.get("key")).toMatchObject({ value: "value", modRevision: revision });
  });
});
