/** Leases over a simulated cluster: taken, waited for, handed on. And what a holder may count on. */
import { LeaseLostError } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { LeaseWorld, ttlMs } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

describe("a lease", () => {
  it("is held under a term, renewed for as long as its holder lives, and goes on to the next when released", async () => {
    const world = await LeaseWorld.open(sim, 1);
    const [a, b] = [world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x"));
    expect(held.check().remainingMs).toBeGreaterThan(ttlMs / 2);
    const next = world.acquire(b, "x");
    await world.run(5 * ttlMs);
    expect(held.status).toBe("held");
    expect(world.grants).toHaveLength(1);
    const atMs = world.nowMs;
    void held.release();
    expect(() => held.check()).toThrow(LeaseLostError);
    const taken = await world.outcome(next);
    expect(world.nowMs - atMs).toBeLessThan(50);
    expect(taken.term).toBeGreaterThan(held.term);
    expect(held.signal.reason).toMatchObject({ reason: "released" });
    expect([world.overlaps, verdict(world.simulation)]).toEqual([[], "nothing violated"]);
  });

  it("of a crashed holder passes within its time to live and a little", async () => {
    const world = await LeaseWorld.open(sim, 2);
    const [a, b] = [world.connect(), world.connect()];
    await world.outcome(world.acquire(a, "x"));
    const next = world.acquire(b, "x");
    await world.run(700);
    const atMs = world.nowMs;
    world.kill(a);
    const { term } = await world.outcome(next);
    expect(world.nowMs - atMs).toBeLessThan(ttlMs + 150);
    expect(world.overlaps).toEqual([]);
    expect(await world.outcome(b.cluster.lease.history("x"))).toMatchObject([
      { term: 1, end: "expired" },
      { term, end: null, toRevision: null },
    ]);
  });

  it("that its holder lost by its own deadline, in a session that lives on, is passed on and remembered as lost", async () => {
    const world = await LeaseWorld.open(sim, 4);
    const [a, b] = [world.connect(), world.connect()];
    // Between two renewals of its session.
    const held = await world.outcome(world.acquire(a, "x", { renewDeadlineMs: 300 }));
    const next = world.acquire(b, "x");
    await world.run(500);
    expect(held.signal.reason).toMatchObject({ reason: "unreachable" });
    const { term } = await world.outcome(next);
    expect(await world.outcome(b.cluster.lease.history("x"))).toMatchObject([
      { term: held.term, end: "lost" },
      { term, end: null },
    ]);
    expect(world.overlaps).toEqual([]);
  });

  it("is not waited for by who asks with `tryAcquire`, or takes its place back", async () => {
    const world = await LeaseWorld.open(sim, 3);
    const [a, b, c] = [world.connect(), world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x"));
    expect(await world.outcome(b.cluster.lease.tryAcquire("x"))).toBeUndefined();
    const abort = new AbortController();
    const waiting = b.cluster.lease.acquire("x", { signal: abort.signal });
    const refused = expect(world.outcome(waiting)).rejects.toMatchObject({ code: "ABORTED" });
    await world.run(100);
    abort.abort();
    await refused;
    const next = world.acquire(c, "x");
    await world.run(100);
    expect(await world.outcome(c.cluster.lease.get("x"))).toMatchObject({ waiting: 1, state: "held" });
    await world.outcome(held.release());
    await world.outcome(next);
  });

  it("of several names is granted whole, under one term", async () => {
    const world = await LeaseWorld.open(sim, 4);
    const [a, b] = [world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x"));
    const both = b.cluster.lease.acquire(["x", "y"]);
    await world.run(200);
    expect(await world.outcome(a.cluster.lease.tryAcquire("y"))).toBeUndefined();
    await world.outcome(held.release());
    const lease = await world.outcome(both);
    expect(lease.names).toEqual(["x", "y"]);
    const infos = await world.outcome(a.cluster.lease.list());
    expect(infos.map(({ name, term }) => [name, term])).toEqual([
      ["x", lease.term],
      ["y", lease.term],
    ]);
  });

  it("lets its holder write under its term, and nobody under an older one", async () => {
    const world = await LeaseWorld.open(sim, 5);
    const [a, b] = [world.connect(), world.connect()];
    const old = await world.outcome(world.acquire(a, "x"));
    await world.outcome(a.cluster.kv.put("total", 1, { fence: old }));
    await world.outcome(old.release());
    const now = await world.outcome(world.acquire(b, "x"));
    await expect(world.outcome(a.cluster.kv.put("total", 2, { fence: old }))).rejects.toMatchObject({
      code: "STALE_TERM",
      outcome: "none",
      highest: now.term,
    });
    await world.outcome(b.cluster.kv.put("total", 3, { fence: now }));
    expect((await world.outcome(a.cluster.kv.get("total")))?.value).toBe(3);
  });

  it("goes with the session of a client that closes, and so do its attached keys", async () => {
    const world = await LeaseWorld.open(sim, 6);
    const [a, b] = [world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x"));
    await world.outcome(a.cluster.kv.put("here/a", 1, { attached: true }));
    const next = world.acquire(b, "x");
    await world.run(200);
    void a.cluster.close();
    expect(() => held.check()).toThrow(/its cluster object was closed/);
    await world.outcome(next);
    expect(await world.outcome(b.cluster.kv.get("here/a"))).toBeUndefined();
    expect(world.overlaps).toEqual([]);
  });

  it("tells who watches it, and asks its holder to hand over", async () => {
    const world = await LeaseWorld.open(sim, 7);
    const [a, b] = [world.connect(), world.connect()];
    const seen: (string | null)[] = [];
    const abort = new AbortController();
    const watching = (async () => {
      for await (const info of b.cluster.lease.watch("x", { signal: abort.signal })) {
        seen.push(`${info.state} ${info.holder} ${JSON.stringify(info.data)} ${info.handoverRequested}`);
      }
    })();
    await world.run(100);
    const held = await world.outcome(world.acquire(a, "x", { holder: "me", data: 1 }));
    await world.run(100);
    await world.outcome(held.proclaim({ port: 80 }));
    await world.run(100);
    expect(held.handoverSignal.aborted).toBe(false);
    expect(await world.outcome(b.cluster.lease.requestHandover("x"))).toBe(true);
    await world.run(100);
    expect(held.handoverSignal.aborted).toBe(true);
    await world.outcome(held.release());
    await world.run(100);
    abort.abort();
    await world.outcome(watching);
    expect(seen).toEqual([
      "free null undefined false",
      "held me 1 false",
      'held me {"port":80} false',
      'held me {"port":80} true',
      "free null undefined false",
    ]);
  });

  it("that is granted to a waiter of whom somebody wants it already tells its new holder so", async () => {
    const world = await LeaseWorld.open(sim, 11);
    const [a, b, c] = [world.connect(), world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x"));
    const next = world.acquire(b, "x", { priority: 1 });
    await world.run(100);
    b.process.pause();
    await world.outcome(held.release());
    const wanted = world.acquire(c, "x", { priority: 2, asksHandover: true });
    await world.run(100);
    b.process.resume(true);
    const taken = await world.outcome(next);
    expect(taken.handoverSignal.aborted).toBe(true);
    await world.outcome(taken.release());
    await world.outcome(wanted);
  });

  it("is renewed only while its work reports progress, where it was asked to be", async () => {
    const world = await LeaseWorld.open(sim, 8);
    const [a, b] = [world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x", { progressMs: 1_000 }));
    const next = world.acquire(b, "x");
    for (let n = 0; n < 10; n += 1) {
      await world.run(500);
      held.progress();
    }
    expect(held.status).toBe("held");
    await world.run(3 * ttlMs);
    expect(held.status).toBe("lost");
    expect(held.signal.reason).toMatchObject({ reason: "no-progress" });
    await world.outcome(next);
    expect(world.overlaps).toEqual([]);
  });

  it("leaves notes for the next holder, which only its holder can write", async () => {
    const world = await LeaseWorld.open(sim, 9);
    const [a, b] = [world.connect(), world.connect()];
    const first = await world.outcome(world.acquire(a, "billing"));
    expect(await world.outcome(first.lastCheckpoint())).toBeUndefined();
    await world.outcome(first.checkpoint({ customer: 41 }));
    await world.outcome(first.release());
    const second = await world.outcome(world.acquire(b, "billing"));
    expect(await world.outcome(second.lastCheckpoint())).toEqual({ customer: 41 });
    await expect(world.outcome(first.checkpoint({ customer: 42 }))).rejects.toThrow(LeaseLostError);
  });
});
