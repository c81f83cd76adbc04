/** Answers that are large, alone or together: no client loses its connection for having asked. */
import { join, type NodeCluster } from "@quorate/kv";
import { afterEach, describe, expect, it } from "vitest";

const started: NodeCluster[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((cluster) => cluster.close()));
});

async function alone(): Promise<NodeCluster> {
  const cluster = await join({ id: "a" });
  started.push(cluster);
  return cluster;
}

describe("a list of leases", () => {
  it("has all of them, also where their data is more than a frame holds", async () => {
    const { lease } = await alone();
    const names = Array.from({ length: 300 }, (_, n) => `shard/${String(n).padStart(3, "0")}`);
    const data = new Uint8Array(65_000);
    await Promise.all(names.map((name) => lease.acquire(name, { data })));
    const found = await lease.list({ prefix: "shard/" });
    expect(found.map(({ name }) => name)).toEqual(names);
    const some = await lease.list({ prefix: "shard/", limit: 200 });
    expect(some.map(({ name }) => name)).toEqual(names.slice(0, 200));
  });
});

describe("many large reads at once", () => {
  it("are all answered", async () => {
    const { kv } = await alone();
    for (let n = 0; n < 16; n += 1) await kv.put(`k${n}`, new Uint8Array(65_000));
    const pages = await Promise.all(Array.from({ length: 150 }, () => kv.list({ prefix: "" })));
    expect(pages.every(({ entries }) => entries.length === 16)).toBe(true);
  });
});
