/** What administrators see of the sessions of all clients, and how they end one. */
import { afterEach, describe, expect, it } from "vitest";
import { errorFrom, FakeCluster, passing } from "./fakeCluster.ts";

let nodes: FakeCluster;

afterEach(() => {
  expect(nodes.clock.timers).toBe(0);
});

describe("a list of sessions", () => {
  it("has each client's time to live, what it holds and waits for, and its keys, the oldest first", async () => {
    nodes = await FakeCluster.start(3);
    await using a = nodes.connect({ sessionTtlMs: 8_000 });
    await using b = nodes.connect();
    await passing(nodes.clock, 1_000, a.lease.acquire(["x", "y"], { holder: "billing 1" }));
    await a.kv.put("here/a", 1, { attached: true });
    const waiting = errorFrom(b.lease.acquire("x", { timeoutMs: 2_000 }));
    await nodes.clock.pass(100);
    const [first, second, ...others] = await a.sessions.list();
    expect(first).toMatchObject({
      ttlMs: 8_000,
      silentMs: 0,
      held: 1,
      waiting: 0,
      keys: 1,
      holder: "billing 1",
    });
    expect(second).toMatchObject({ ttlMs: 15_000, held: 0, waiting: 1, keys: 0, holder: "" });
    expect(others).toEqual([]);
    expect(await b.sessions.list({ limit: 1 })).toEqual([first]);
    expect(await b.sessions.list({ after: first?.session ?? 0 })).toEqual([second]);
    await passing(nodes.clock, 5_000, waiting);
  });

  it("refuses a limit and an id that are none", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    for (const options of [{ limit: 0 }, { limit: 10_001 }, { after: -1 }, { after: Number.NaN }]) {
      expect(await errorFrom(cluster.sessions.list(options))).toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(await errorFrom(cluster.sessions.close(0))).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("a session that is closed by somebody else", () => {
  it("takes its keys with it, but is left alone while it holds a lease, also by its own client", async () => {
    nodes = await FakeCluster.start(1);
    await using holder = nodes.connect();
    await using admin = nodes.connect();
    const lease = await passing(nodes.clock, 1_000, holder.lease.acquire("x"));
    await holder.kv.put("here", 1, { attached: true });
    const [{ session } = { session: 0 }] = await admin.sessions.list();
    for (const cluster of [admin, holder]) {
      expect(await errorFrom(cluster.sessions.close(session))).toMatchObject({
        code: "REFUSED",
        outcome: "none",
        message: expect.stringContaining("Break the leases"),
      });
    }
    expect(nodes.store.sessions.has(session)).toBe(true);
    await passing(nodes.clock, 1_000, lease.release());
    expect(await admin.sessions.close(session)).toBe(true);
    expect(await admin.kv.get("here")).toBeUndefined();
    expect(await admin.sessions.close(session)).toBe(false);
  });
});
