/** Requests that wait for something to happen, by the thousands, keep nobody else from being answered. */
import { setMaxListeners } from "node:events";
import { afterEach, expect, it } from "vitest";
import { settle } from "../transport/world.ts";
import { FakeCluster, passing } from "./fakeCluster.ts";

let nodes: FakeCluster;

afterEach(() => {
  expect(nodes.clock.timers).toBe(0);
});

it("5,000 waits on one connection leave room for renewals and reads, and are no sign of a node that stands still", async () => {
  nodes = await FakeCluster.start(1);
  await using cluster = nodes.connect();
  await cluster.kv.put("n", 1);
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const watching = Array.from({ length: 5_000 }, async (_, at) => {
    for await (const info of cluster.lease.watch(`x/${at}`, { signal: ended.signal })) {
      expect(info.state).toBe("free");
    }
  });
  await settle();
  const [node] = nodes.nodes;
  const waits = (): number => node?.asked.filter(({ kind }) => kind === "awaitLease").length ?? 0;
  await nodes.clock.pass(100);
  expect(waits()).toBe(5_000);
  expect((await passing(nodes.clock, 2_000, cluster.kv.get("n")))?.value).toBe(1);
  expect(node?.connections).toBe(1);
  ended.abort();
  await Promise.all(watching);
});
