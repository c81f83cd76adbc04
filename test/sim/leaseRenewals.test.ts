/** How long a holder may go on: renewals on request, renewals by hand, and what is told of a lease to a third party. */
import { parseSequencer } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { LeaseWorld, ttlMs } from "./leaseWorld.ts";

describe("`ensure`", () => {
  it("renews where too little remains, and else asks nobody", async () => {
    const world = await LeaseWorld.open(sim, 61);
    const a = world.connect();
    const held = await world.outcome(world.acquire(a, "x", { renewEveryMs: 1_700 }));
    const before = held.remainingMs();
    world.blackHole(a);
    expect((await held.ensure(1_000)).remainingMs).toBe(before);
    world.heal(a);
    await world.run(1_000);
    expect(held.remainingMs()).toBeLessThan(1_000);
    const { remainingMs } = await world.outcome(held.ensure(1_500));
    expect(remainingMs).toBeGreaterThanOrEqual(1_500);
    expect(held.remainingMs()).toBe(remainingMs);
  });

  it("refuses what no renewal can give, and what a lease that ends has not left", async () => {
    const world = await LeaseWorld.open(sim, 62);
    const [a, b] = [world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x"));
    await expect(held.ensure(ttlMs)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(held.ensure(Number.NaN)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await world.outcome(b.cluster.lease.break("x"));
    await world.run(600);
    expect(held.status).toBe("jeopardy");
    await expect(held.ensure(1_800)).rejects.toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining("it was revoked"),
    });
    await world.run(ttlMs);
    expect(held.signal.reason).toMatchObject({ reason: "revoked" });
    await expect(held.ensure(1)).rejects.toMatchObject({ code: "LEASE_LOST", reason: "revoked" });
  });

  it("ends with the lease where the cluster is out of reach, however long a request may be tried", async () => {
    const world = await LeaseWorld.open(sim, 63);
    const a = world.connect(ttlMs, 60_000);
    const held = await world.outcome(world.acquire(a, "x"));
    world.blackHole(a);
    await world.run(800);
    await expect(world.outcome(held.ensure(1_800), ttlMs)).rejects.toMatchObject({
      code: "LEASE_LOST",
      reason: "unreachable",
    });
  });
});

describe("a lease that its holder renews by hand", () => {
  it("waits for its turn like any other, lives as long as it is renewed, and no longer", async () => {
    const world = await LeaseWorld.open(sim, 64);
    const [a, b] = [world.connect(), world.connect()];
    const first = await world.outcome(world.acquire(b, "x"));
    const waiting = world.acquire(a, "x", { renewEveryMs: Number.POSITIVE_INFINITY });
    await world.run(3 * ttlMs);
    await world.outcome(first.release());
    const held = await world.outcome(waiting);
    for (let n = 0; n < 5; n += 1) {
      await world.run(1_500);
      expect((await world.outcome(held.renew())).remainingMs).toBeGreaterThan(1_800);
    }
    const next = world.acquire(b, "x");
    await world.run(ttlMs);
    expect(held.signal.reason).toMatchObject({ reason: "no-progress" });
    await world.outcome(next);
    expect(world.overlaps).toEqual([]);
  });
});

describe("a sequencer", () => {
  it("is what the cluster confirms as long as that very grant is held, and a fence for writes", async () => {
    const world = await LeaseWorld.open(sim, 65);
    const [a, b, service] = [world.connect(), world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "orders:7"));
    const text = held.sequencer();
    expect(text).toBe(`orders:7:exclusive:${held.term}`);
    const verified = await world.outcome(service.cluster.lease.verify(text));
    expect(verified).toEqual({ name: "orders:7", mode: "exclusive", term: held.term });
    await world.outcome(service.cluster.kv.put("done", 1, { fence: verified }));
    await world.outcome(held.release());
    await expect(world.outcome(service.cluster.lease.verify(text))).rejects.toMatchObject({
      code: "STALE_TERM",
      term: held.term,
      highest: 0,
    });
    const next = await world.outcome(world.acquire(b, "orders:7"));
    await expect(world.outcome(service.cluster.lease.verify(text))).rejects.toMatchObject({
      highest: next.term,
    });
    await expect(
      world.outcome(service.cluster.kv.put("done", 2, { fence: parseSequencer(text) })),
    ).rejects.toMatchObject({ code: "STALE_TERM" });
  });

  it("of a waiter that was granted the lease and does not know is not confirmed", async () => {
    const world = await LeaseWorld.open(sim, 66);
    const [a, b, service] = [world.connect(), world.connect(10_000), world.connect()];
    const held = await world.outcome(world.acquire(a, "x"));
    void world.acquire(b, "x").catch(() => {});
    await world.run(200);
    b.process.pause();
    await world.outcome(held.release());
    const { state, term } = await world.outcome(service.cluster.lease.get("x"));
    expect(state).toBe("granted");
    await expect(world.outcome(service.cluster.lease.verify(`x:exclusive:${term}`))).rejects.toMatchObject({
      code: "STALE_TERM",
    });
  });

  it("is refused where it is none", () => {
    for (const text of ["", "x", "x:1", "x:exclusive:", "x:exclusive:0", ":exclusive:1", "x:shared:1"]) {
      expect(() => parseSequencer(text)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }
  });
});

describe("a candidate", () => {
  it("knows whether it leads", async () => {
    const world = await LeaseWorld.open(sim, 67);
    const a = world.connect();
    const election = a.cluster.election("x", {
      leaseDurationMs: 3_000,
      renewDeadlineMs: 2_000,
      retryPeriodMs: 500,
    });
    expect(election.isLeading).toBe(false);
    await world.outcome(election.campaign());
    expect(election.isLeading).toBe(true);
    world.blackHole(a);
    await world.run(2_000);
    expect(election.isLeading).toBe(false);
  });
});

describe("a listener that fails when its lease comes into jeopardy", () => {
  it("is an unhandled rejection, and keeps no lease of its session from being renewed", async () => {
    const unhandled: unknown[] = [];
    const stop = takeUnhandled(unhandled);
    try {
      const world = await LeaseWorld.open(sim, 65);
      const [a, b] = [world.connect(), world.connect()];
      const broken = await world.outcome(world.acquire(a, "x"));
      const other = await world.outcome(world.acquire(a, "y"));
      broken.onJeopardy(() => {
        throw new Error("at once");
      });
      broken.onJeopardy(() => Promise.reject(new Error("later")));
      await world.outcome(b.cluster.lease.break("x"));
      await world.run(3 * ttlMs);
      expect([broken.status, other.status]).toEqual(["lost", "held"]);
    } finally {
      stop();
    }
    expect(unhandled.map(String).sort()).toEqual(["Error: at once", "Error: later"]);
  });
});

/** In place of the runner's own listeners, which fail the run. */
function takeUnhandled(into: unknown[]): () => void {
  const before = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (reason) => into.push(reason));
  return () => {
    process.removeAllListeners("unhandledRejection");
    for (const listener of before) process.on("unhandledRejection", listener);
  };
}
