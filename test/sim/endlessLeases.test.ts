/** Leases that no silence ends: only their holder does, or an administrator. */
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { LeaseWorld, ttlMs } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

const endless = { ttlMs: Number.POSITIVE_INFINITY };

describe("a lease without an end", () => {
  it("outlives its holder's silence and a change of the store's leader, and ends when it is released", async () => {
    const world = await LeaseWorld.open(sim, 71);
    const [a, b] = [world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x", endless));
    expect(held.check().remainingMs).toBe(Number.POSITIVE_INFINITY);
    const next = world.acquire(b, "x");
    world.blackHole(a);
    await world.run(10 * ttlMs);
    world.killLeader();
    await world.run(10 * ttlMs);
    expect(held.status).toBe("held");
    world.heal(a);
    await world.outcome(held.release());
    await world.outcome(next);
    const sessions = await world.outcome(b.cluster.sessions.list());
    expect(sessions.map((session) => session.ttlMs)).toEqual([ttlMs]);
    expect([world.overlaps, verdict(world.simulation)]).toEqual([[], "nothing violated"]);
  });

  it("is given back at last where its release could not be sent for long", async () => {
    const world = await LeaseWorld.open(sim, 72);
    const [a, b] = [world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x", endless));
    const next = world.acquire(b, "x");
    world.blackHole(a);
    void held.release({ timeoutMs: 100 }).catch(() => {});
    await world.run(5 * ttlMs);
    expect(world.grants).toHaveLength(1);
    world.heal(a);
    await world.outcome(next);
  });

  it("tells its holder of a break, and waits for its release; after a break by force its session is gone too", async () => {
    const world = await LeaseWorld.open(sim, 73);
    const [a, b, c] = [world.connect(), world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x", endless));
    const second = world.acquire(b, "x", endless);
    await world.run(100);
    await world.outcome(c.cluster.lease.break("x"));
    await world.run(5 * ttlMs);
    expect([held.status, held.handoverSignal.aborted]).toEqual(["jeopardy", true]);
    held.check();
    await world.outcome(held.release());
    const taken = await world.outcome(second);
    world.kill(b);
    await world.run(20 * ttlMs);
    expect(await world.outcome(c.cluster.lease.get("x"))).toMatchObject({ state: "held", term: taken.term });
    const third = world.acquire(c, "x");
    await world.run(100);
    await world.outcome(c.cluster.lease.break("x", { force: true }));
    await world.outcome(third);
    await world.run(2 * ttlMs);
    const sessions = await world.outcome(c.cluster.sessions.list());
    expect(sessions.filter((session) => session.ttlMs === Number.POSITIVE_INFINITY)).toEqual([]);
    expect(world.overlaps).toEqual([]);
  });

  it("is lost by a holder whose lease was broken by force, with the reason", async () => {
    const world = await LeaseWorld.open(sim, 74);
    const [a, c] = [world.connect(), world.connect()];
    const held = await world.outcome(world.acquire(a, "x", endless));
    await world.outcome(c.cluster.lease.break("x", { force: true }));
    await world.run(2 * ttlMs);
    expect(held.status).toBe("lost");
    expect(held.signal.reason).toMatchObject({ reason: "revoked" });
  });

  it("leaves no session behind where whoever asked for it gives up, or an answer is lost", async () => {
    const world = await LeaseWorld.open(sim, 76);
    const [a, b] = [world.connect(), world.connect()];
    await world.outcome(a.cluster.kv.put("n", 1));
    for (const timeoutMs of [1, 2, 3, 5, 8]) {
      const asked = a.cluster.lease.acquire("x", { ...endless, timeoutMs });
      await world.outcome(
        asked.then(
          (lease) => lease.release(),
          () => {},
        ),
      );
    }
    // Its answer does not arrive, and the next leader is asked again.
    const late = a.cluster.lease.acquire("x", endless);
    await world.run(3);
    world.killLeader();
    await world.outcome((await world.outcome(late)).release());
    await world.run(1_000);
    const sessions = await world.outcome(b.cluster.sessions.list());
    expect(sessions.map((session) => session.ttlMs)).toEqual([ttlMs]);
  });

  it("has a session of which everything remains, by its metrics", async () => {
    const world = await LeaseWorld.open(sim, 77);
    const a = world.connect();
    await world.outcome(world.acquire(a, "x", endless));
    const remaining = a.cluster.metrics().sessions.open.map(({ remainingMs }) => remainingMs);
    expect(remaining).toEqual([expect.any(Number), Number.POSITIVE_INFINITY]);
    expect(await world.outcome(a.cluster.health())).toMatchObject({ isHealthy: true });
  });

  it.each([{ progressMs: 100 }, { renewDeadlineMs: 100 }, { renewEveryMs: Number.POSITIVE_INFINITY }])(
    "contradicts %j",
    async (options) => {
      const world = await LeaseWorld.open(sim, 75);
      const acquiring = world.connect().cluster.lease.acquire("x", { ...endless, ...options });
      await expect(world.outcome(acquiring)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    },
  );
});
