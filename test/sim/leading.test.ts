/** How `election.lead()` ends, and what it tells of others meanwhile, in virtual time. */
import type { Lease, LeaseLostError } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { type LeaseClient, LeaseWorld, ttlMs } from "./leaseWorld.ts";

const fast = { leaseDurationMs: ttlMs, renewDeadlineMs: 1_500, retryPeriodMs: 400 };

function untilOver(lease: Lease): Promise<void> {
  return new Promise((resolve) => {
    lease.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function passed({ process }: LeaseClient, forMs: number): Promise<void> {
  return new Promise((resolve) => {
    process.clock.after(forMs, resolve);
  });
}

describe("to lead", () => {
  it("ends with the job's own error, and does not stand again", async () => {
    const world = await LeaseWorld.open(sim, 51);
    const a = world.connect();
    let runs = 0;
    const failed = a.cluster.election("x", fast).lead(() => {
      runs += 1;
      return Promise.reject(new Error("no money"));
    });
    await expect(world.outcome(failed)).rejects.toThrow("no money");
    await world.run(3 * ttlMs);
    expect(runs).toBe(1);
    expect(await world.outcome(a.cluster.election("x").candidates())).toEqual([]);
  });

  it("tells each loss with what the work threw after it, and goes on; without rejoining it rejects with that", async () => {
    const world = await LeaseWorld.open(sim, 57);
    const a = world.connect();
    const told: unknown[] = [];
    let runs = 0;
    const work = async (lease: Lease): Promise<string> => {
      runs += 1;
      if (runs === 4) return "done";
      await untilOver(lease);
      if (runs === 2) lease.check();
      if (runs === 1) throw new Error("the file is gone");
      return "too late";
    };
    const onLost = ({ code, cause }: LeaseLostError): number => told.push(code, cause);
    const leading = a.cluster.election("x", fast).lead(work, { onLost });
    for (const run of [1, 2, 3]) {
      await world.run(4 * ttlMs, () => runs === run);
      world.blackHole(a);
      await world.run(ttlMs);
      world.heal(a);
    }
    expect(await world.outcome(leading)).toBe("done");
    const gone = expect.objectContaining({ message: "the file is gone" });
    expect(told).toEqual(["LEASE_LOST", gone, "LEASE_LOST", undefined, "LEASE_LOST", undefined]);

    runs = 0;
    const once = a.cluster.election("y", fast).lead(work, { rejoin: false });
    const refused = expect(world.outcome(once)).rejects.toMatchObject({ code: "LEASE_LOST", cause: gone });
    await world.run(4 * ttlMs, () => runs === 1);
    world.blackHole(a);
    await world.run(ttlMs);
    await refused;
  });

  it("tells of a loss with that of another lease as its cause, which the work threw", async () => {
    const world = await LeaseWorld.open(sim, 66);
    const a = world.connect();
    const locked = (): Promise<void> => a.cluster.lock("inner").run(untilOver);
    const leading = a.cluster.election("outer", fast).lead(locked, { rejoin: false });
    const refused = expect(world.outcome(leading)).rejects.toMatchObject({
      lease: "outer",
      reason: "unreachable",
      cause: { code: "LEASE_LOST", lease: "inner", reason: "unreachable" },
    });
    await world.run(500);
    world.blackHole(a);
    await world.run(ttlMs);
    await refused;
  });

  it("waits for what it tells of a loss, and ends with what that throws or rejects with", async () => {
    const world = await LeaseWorld.open(sim, 58);
    const a = world.connect();
    const enough = new Error("enough");
    const listeners = [
      (): never => {
        throw enough;
      },
      async (): Promise<void> => {
        await passed(a, 300);
        throw enough;
      },
    ];
    for (const [at, onLost] of listeners.entries()) {
      const leading = a.cluster.election(`x${at}`, fast).lead(untilOver, { onLost });
      const refused = expect(world.outcome(leading)).rejects.toBe(enough);
      await world.run(500);
      world.blackHole(a);
      await world.run(ttlMs);
      world.heal(a);
      await refused;
    }
  });

  it("ends with what its listener of new leaders throws or rejects with: at once while it waits", async () => {
    const world = await LeaseWorld.open(sim, 59);
    const [a, b] = [world.connect(), world.connect()];
    const first = await world.outcome(b.cluster.election("x", fast).campaign());
    const enough = new Error("enough");
    const listeners = [
      (): never => {
        throw enough;
      },
      (): Promise<void> => Promise.reject(enough),
    ];
    for (const onNewLeader of listeners) {
      const waiting = a.cluster.election("x", fast).lead(untilOver, { onNewLeader });
      await expect(world.outcome(waiting, ttlMs)).rejects.toBe(enough);
    }
    expect(first.status).toBe("held");
    expect(await world.outcome(b.cluster.election("x").candidates())).toHaveLength(1);
  });

  it("ends with it when the work has settled while it leads, and with all errors where there are several", async () => {
    const world = await LeaseWorld.open(sim, 60);
    const a = world.connect();
    const enough = new Error("enough");
    const noMoney = new Error("no money");
    let runs = 0;
    const workOf = (ending: () => string) => async (): Promise<string> => {
      runs += 1;
      await passed(a, 2 * ttlMs);
      return ending();
    };
    const onNewLeader = async (): Promise<void> => {
      await passed(a, 500);
      throw enough;
    };
    const startedMs = world.nowMs;
    const done = a.cluster.election("x", fast).lead(
      workOf(() => "done"),
      { onNewLeader },
    );
    await expect(world.outcome(done)).rejects.toBe(enough);
    expect(world.nowMs - startedMs).toBeGreaterThan(2 * ttlMs);

    const failed = a.cluster.election("x", fast).lead(
      workOf(() => {
        throw noMoney;
      }),
      { onNewLeader },
    );
    await expect(world.outcome(failed)).rejects.toMatchObject({
      errors: [noMoney, enough],
      message: expect.stringContaining("no money"),
    });
    expect(runs).toBe(2);
  });

  it("ends with ABORTED by the signal while it waits, and with what the work gives while it leads", async () => {
    const world = await LeaseWorld.open(sim, 52);
    const [a, b] = [world.connect(), world.connect()];
    const stop = new AbortController();
    const untilStopped = (): Promise<string> =>
      new Promise((resolve) => {
        stop.signal.addEventListener("abort", () => resolve("ended by itself"), { once: true });
      });
    const leading = a.cluster.election("x", fast).lead(untilStopped, { signal: stop.signal });
    await world.run(500);
    const waiting = b.cluster.election("x", fast).lead(untilStopped, { signal: stop.signal });
    const refused = expect(world.outcome(waiting)).rejects.toMatchObject({ code: "ABORTED" });
    await world.run(500);
    stop.abort();
    expect(await world.outcome(leading)).toBe("ended by itself");
    await refused;
    expect(await world.outcome(a.cluster.election("x").candidates())).toEqual([]);
  });

  it("ends with CLOSED by a close: at once while it waits, after the work has settled while it leads", async () => {
    const world = await LeaseWorld.open(sim, 53);
    const [a, b] = [world.connect(), world.connect()];
    let settle: (gives: string) => void = () => {};
    const work = (): Promise<string> =>
      new Promise((resolve) => {
        settle = resolve;
      });
    let isOver = false;
    const leading = a.cluster
      .election("x", fast)
      .lead(work)
      .finally(() => {
        isOver = true;
      });
    const refused = expect(world.outcome(leading)).rejects.toMatchObject({
      code: "CLOSED",
      cause: { reason: "closed" },
    });
    await world.run(500);
    const waiting = b.cluster.election("x", fast).lead(work);
    const turnedAway = expect(world.outcome(waiting)).rejects.toMatchObject({ code: "CLOSED" });
    await world.run(500);
    await world.outcome(Promise.all([b.cluster.close(), a.cluster.close()]));
    await turnedAway;
    await world.run(500);
    expect(isOver).toBe(false);
    settle("done beside nobody");
    await refused;
  });

  it("ends with the work's own error also where it was closed under it", async () => {
    const world = await LeaseWorld.open(sim, 54);
    const a = world.connect();
    const leading = a.cluster.election("x", fast).lead(async (lease) => {
      await untilOver(lease);
      throw new Error("no money");
    });
    const failed = expect(world.outcome(leading)).rejects.toThrow("no money");
    await world.run(500);
    await world.outcome(a.cluster.close());
    await failed;
  });

  it("tells each new leader once, itself too, none that goes, and goes on when it was cut off", async () => {
    const world = await LeaseWorld.open(sim, 55);
    const [a, b] = [world.connect(), world.connect()];
    const told: string[] = [];
    const first = b.cluster.election("x", { ...fast, candidate: "b" });
    await world.outcome(first.campaign());
    world.blackHole(a);
    void a.cluster
      .election("x", { ...fast, candidate: "a" })
      .lead(untilOver, { onNewLeader: ({ candidate, term }) => told.push(`${candidate} ${term > 0}`) });
    // Longer than a request is tried.
    await world.run(20_000);
    expect(told).toEqual([]);
    world.heal(a);
    await world.run(5_000);
    expect(told).toEqual(["b true"]);
    await world.outcome(first.proclaim({ port: 7 }));
    await world.run(1_000);
    await world.outcome(first.resign());
    await world.run(1_000);
    expect(told).toEqual(["b true", "a true"]);
  });
});
