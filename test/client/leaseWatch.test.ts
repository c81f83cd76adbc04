/** `lease.watch`: how it ends. What it tells is tried in test/sim/leases.test.ts. */
import { afterEach, describe, expect, it } from "vitest";
import { settle } from "../transport/world.ts";
import { errorFrom, FakeCluster, passing } from "./fakeCluster.ts";

let nodes: FakeCluster;

afterEach(() => {
  expect(nodes.clock.timers).toBe(0);
});

/** Until the watch ends. */
async function all(watch: AsyncIterable<{ readonly state: string }>, seen: string[] = []): Promise<string[]> {
  for await (const { state } of watch) seen.push(state);
  return seen;
}

describe("a watch of a lease", () => {
  it("rejects CLOSED at once where the cluster object is closed, and where it was", async () => {
    nodes = await FakeCluster.start(1);
    const cluster = nodes.connect();
    const seen: string[] = [];
    const ended = errorFrom(all(cluster.lease.watch("x"), seen));
    await settle();
    expect(seen).toEqual(["free"]);
    await cluster.close();
    expect(await ended).toMatchObject({ code: "CLOSED" });
    expect(await errorFrom(all(cluster.lease.watch("x")))).toMatchObject({ code: "CLOSED" });
  });

  it.each([0, 1])(
    "ends with its signal, also where that aborts before the first answer: %s answered",
    async (n) => {
      nodes = await FakeCluster.start(1);
      await using cluster = nodes.connect();
      const abort = new AbortController();
      const node = nodes.node("a");
      let asked = 0;
      node.behave = ({ body }, honest) => {
        if (body.kind !== "getLease") return honest();
        asked += 1;
        return asked > n ? "silence" : honest();
      };
      const watching = all(cluster.lease.watch("x", { signal: abort.signal }));
      await settle();
      abort.abort();
      expect(await watching).toHaveLength(n);
      expect(await all(cluster.lease.watch("x", { signal: abort.signal }))).toEqual([]);
    },
  );

  it("goes on after the time that one question may take, and keeps its process alive meanwhile", async () => {
    nodes = await FakeCluster.start(1);
    let holds = 0;
    const hold = (): (() => void) => {
      holds += 1;
      return () => {
        holds -= 1;
      };
    };
    await using cluster = nodes.connect({ hold });
    const abort = new AbortController();
    const watching = all(cluster.lease.watch("x", { signal: abort.signal }));
    await passing(nodes.clock, 70_000, settle());
    expect(nodes.node("a").asked.filter(({ kind }) => kind === "awaitLease")).toHaveLength(3);
    expect(holds).toBe(1);
    abort.abort();
    expect(await watching).toEqual(["free"]);
    expect(holds).toBe(0);
  });
});
