/** Elections, locks and work that is done once, in virtual time. */
import { type Lease, LeaseLostError } from "@quorate/client";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { type LeaseClient, LeaseWorld, ttlMs } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

/** As fast as the cluster's election timeouts allow. */
const fast = { leaseDurationMs: ttlMs, renewDeadlineMs: 1_500, retryPeriodMs: 400 };

/** Work that goes on until its lease says that it is over. */
function untilOver(lease: Lease): Promise<string> {
  return new Promise((resolve) => {
    lease.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
}

describe("an election", () => {
  it("has one leader, and a new one when that crashes; everybody is told", async () => {
    const world = await LeaseWorld.open(sim, 21);
    const clients = [world.connect(), world.connect(), world.connect()];
    const led: string[] = [];
    const told: string[] = [];
    clients.forEach((client, at) => {
      const election = client.cluster.election("billing", { ...fast, candidate: `c${at}` });
      void election
        .lead(
          (lease) => {
            world.grants.push({ client, lease });
            led.push(`c${at}`);
            return untilOver(lease);
          },
          at === 2 ? { onNewLeader: ({ candidate }) => told.push(candidate) } : {},
        )
        .catch(() => {});
    });
    await world.run(1_000);
    expect(led).toHaveLength(1);
    const first = led[0] as string;
    const watcher = clients[2] as LeaseClient;
    expect(await world.outcome(watcher.cluster.election("billing").leader())).toMatchObject({
      candidate: first,
    });
    const atMs = world.nowMs;
    world.kill(clients[Number(first.slice(1))] as LeaseClient);
    await world.run(2 * ttlMs, () => led.length === 2);
    expect(world.nowMs - atMs).toBeLessThan(ttlMs + 150);
    await world.run(100);
    expect(world.overlaps).toEqual([]);
    if (first !== "c2") expect(told).toEqual(led);
  });

  it("runs the work again after a loss, and gives what the work gives when it has settled", async () => {
    const world = await LeaseWorld.open(sim, 22);
    const [a, b] = [world.connect(), world.connect()];
    const runs: string[] = [];
    const done = a.cluster.election("x", fast).lead(async (lease) => {
      runs.push(`a ${lease.term > 0}`);
      return runs.length === 1 ? untilOver(lease) : "finished";
    });
    await world.run(500, () => runs.length === 1);
    const other = world.acquire(b, "x");
    world.blackHole(a);
    const held = await world.outcome(other);
    world.heal(a);
    await world.run(3 * ttlMs);
    expect(runs).toHaveLength(1);
    await world.outcome(held.release());
    expect(await world.outcome(done)).toBe("finished");
    expect(await world.outcome(b.cluster.lease.get("x"))).toMatchObject({ state: "free" });
  });

  it("rejects with the loss where it is not to rejoin, and with the work's own error, which no release masks", async () => {
    const world = await LeaseWorld.open(sim, 23);
    const [a, b] = [world.connect(), world.connect()];
    const lost = a.cluster.election("x", fast).lead(untilOver, { rejoin: false });
    const refused = expect(world.outcome(lost)).rejects.toBeInstanceOf(LeaseLostError);
    await world.run(500);
    world.blackHole(a);
    await world.run(ttlMs);
    await refused;
    const failed = b.cluster.election("y", fast).lead(() => Promise.reject(new Error("no money")));
    await expect(world.outcome(failed)).rejects.toThrow("no money");
    expect(await world.outcome(b.cluster.lease.get("y"))).toMatchObject({ state: "free" });
  });

  it("releases only when the work has settled", async () => {
    const world = await LeaseWorld.open(sim, 24);
    const [a, b] = [world.connect(), world.connect()];
    let finish: () => void = () => {};
    const stop = new AbortController();
    const leading = a.cluster.election("x", fast).lead(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
      { signal: stop.signal },
    );
    await world.run(500);
    const next = world.acquire(b, "x");
    stop.abort();
    await world.run(2 * ttlMs);
    expect(world.grants).toHaveLength(0);
    finish();
    await world.outcome(leading);
    await world.outcome(next);
  });

  it("asks the leader to hand over to a better candidate, by priority or by the oldest version", async () => {
    const world = await LeaseWorld.open(sim, 25);
    const [a, b, c] = [world.connect(), world.connect(), world.connect()];
    const strategy = "oldest-version";
    const newer = await world.outcome(
      a.cluster.election("x", { ...fast, strategy, version: "1.10.0" }).campaign(),
    );
    const newest = b.cluster.election("x", { ...fast, strategy, version: "2.0.0" }).campaign();
    await world.run(200);
    expect(newer.handoverSignal.aborted).toBe(false);
    const oldest = c.cluster.election("x", { ...fast, strategy, version: "1.9.3" }).campaign();
    await world.run(200);
    expect(newer.handoverSignal.aborted).toBe(true);
    await world.outcome(newer.release());
    const lease = await world.outcome(oldest);
    await world.outcome(lease.release());
    await world.outcome(newest);
  });

  it("is led from the zone that was preferred, and tells who stands", async () => {
    const world = await LeaseWorld.open(sim, 29);
    const clients = [world.connect(), world.connect(), world.connect()];
    const standing = (at: number, zone: string, version: string) =>
      clients[at]?.cluster.election("x", {
        ...fast,
        strategy: "oldest-version",
        preferredZones: ["eu-1", "eu-2"],
        candidate: `c${at}`,
        zone,
        version,
      });
    const far = await world.outcome(standing(0, "us-1", "1.0.0")!.campaign());
    const second = standing(1, "eu-2", "1.0.0")!.campaign();
    const best = standing(2, "eu-1", "2.0.0")!.campaign();
    await world.run(200);
    expect(far.handoverSignal.aborted).toBe(true);
    const candidates = await world.outcome(standing(0, "us-1", "1.0.0")!.candidates());
    expect(
      candidates.map(({ holder, zone, version, state }) => `${holder} ${zone} ${version} ${state}`),
    ).toEqual(["c0 us-1 1.0.0 held", "c2 eu-1 2.0.0 waiting", "c1 eu-2 1.0.0 waiting"]);
    await world.outcome(far.release());
    await world.outcome((await world.outcome(best)).release());
    await world.outcome(second);
  });

  it("is taken from a leader that goes on, by a better candidate that preempts", async () => {
    const world = await LeaseWorld.open(sim, 30);
    const [a, b] = [world.connect(), world.connect()];
    const options = { ...fast, strategy: "priority", preempt: true } as const;
    const led: string[] = [];
    const leading = a.cluster
      .election("x", { ...options, priority: 1 })
      .lead((lease) => untilOver(lease).finally(() => led.push(String(lease.signal.reason?.reason))), {
        rejoin: false,
      });
    const refused = expect(world.outcome(leading)).rejects.toMatchObject({ reason: "preempted" });
    await world.run(500);
    const atMs = world.nowMs;
    const lease = await world.outcome(b.cluster.election("x", { ...options, priority: 2 }).campaign());
    expect(world.nowMs - atMs).toBeLessThan(ttlMs + 150);
    await refused;
    expect(led).toEqual(["preempted"]);
    const lower = a.cluster.election("x", { ...options, priority: 1 }).campaign();
    await world.run(3 * ttlMs);
    expect(lease.status).toBe("held");
    await world.outcome(lease.release());
    await world.outcome(lower);
    expect(verdict(world.simulation)).toBe("nothing violated");
  });

  it("lets its leader proclaim, and resign", async () => {
    const world = await LeaseWorld.open(sim, 26);
    const a = world.connect();
    const election = a.cluster.election("x", { ...fast, candidate: "a" });
    await expect(world.outcome(election.proclaim("early"))).rejects.toMatchObject({ code: "REFUSED" });
    await world.outcome(election.campaign());
    await world.outcome(election.proclaim({ port: 7 }));
    expect(await world.outcome(election.leader())).toMatchObject({ candidate: "a", data: { port: 7 } });
    await world.outcome(election.resign());
    expect(await world.outcome(election.leader())).toBeUndefined();
  });

  it("ends the process of work that goes on after the loss, where that was asked for", async () => {
    const world = await LeaseWorld.open(sim, 27);
    const a = world.connect();
    const exits: LeaseLostError[] = [];
    const options = { exitOnLossMs: 500, exit: (error: LeaseLostError) => exits.push(error) };
    void a.cluster.election("x", fast).lead(() => new Promise(() => {}), options);
    await world.run(500);
    world.blackHole(a);
    await world.run(1_550);
    expect(exits).toEqual([]);
    await world.run(600);
    expect(exits).toMatchObject([{ code: "LEASE_LOST", reason: "unreachable" }]);
  });

  it.each([
    [{ leaseDurationMs: 10_000 }, /leaseDurationMs \(10000\) must be greater than renewDeadlineMs \(10000\)/],
    [{ retryPeriodMs: 9_000 }, /renewDeadlineMs \(10000\) must be greater than 1.2 × retryPeriodMs \(9000\)/],
    [{ retryPeriodMs: 0 }, /retryPeriodMs is 0/],
    [{ version: "1.2.3" }, /needs the strategy/],
    [{ strategy: "oldest-version", version: "1.2" }, /version is 1.2/],
    [{ strategy: "youngest" }, /strategy is youngest/],
    [{ preferredZones: ["eu-1"] }, /needs to know the zone/],
    [{ preferredZones: ["eu-1", "eu-1"], zone: "eu-1" }, /each once/],
    [{ preempt: true }, /To preempt needs a strategy/],
  ])("refuses %j, as client-go would", async (options, sentence) => {
    const world = await LeaseWorld.open(sim, 28);
    expect(() => world.connect().cluster.election("x", options as never)).toThrow(sentence);
  });
});

describe("a lock", () => {
  it("is held by one at a time, whose work is never beside another's", async () => {
    const world = await LeaseWorld.open(sim, 31);
    const clients = Array.from({ length: 4 }, () => world.connect());
    let inside = 0;
    let most = 0;
    let done = 0;
    for (const { cluster, process } of clients) {
      for (let n = 0; n < 5; n += 1) {
        const work = async (): Promise<void> => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise<void>((resolve) => process.clock.after(20, resolve));
          inside -= 1;
        };
        void cluster
          .lock("m")
          .run(work)
          .then(() => {
            done += 1;
          });
      }
    }
    await world.run(10_000, () => done === 20);
    expect([done, most]).toEqual([20, 1]);
  });

  it("of several names is taken whole, renewed while the work runs, and tells it when it is lost", async () => {
    const world = await LeaseWorld.open(sim, 32);
    const a = world.connect();
    const using = a.cluster.using(["x", "y"], 1_500, async (signal, lease) => {
      expect(lease.names).toEqual(["x", "y"]);
      await new Promise<void>((resolve) => {
        a.process.clock.after(4_000, resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      return signal.aborted;
    });
    expect(await world.outcome(using)).toBe(false);
    const lost = a.cluster.using("x", 1_500, (signal) => {
      world.blackHole(a);
      return new Promise<boolean>((resolve) => signal.addEventListener("abort", () => resolve(true)));
    });
    await expect(world.outcome(lost)).rejects.toMatchObject({ code: "LEASE_LOST" });
  });

  it("is not waited for by `tryAcquire`, and is released by `await using`", async () => {
    const world = await LeaseWorld.open(sim, 33);
    const [a, b] = [world.connect(), world.connect()];
    const holding = async (): Promise<void> => {
      await using lock = await a.cluster.lock("m").acquire({ timeoutMs: 1_000 });
      expect(await b.cluster.lock("m").tryAcquire()).toBeUndefined();
      lock.check();
    };
    await world.outcome(holding());
    expect(await world.outcome(b.cluster.lock("m").tryAcquire())).toBeDefined();
    const late = a.cluster.lock("m").acquire({ timeoutMs: 300 });
    await expect(world.outcome(late)).rejects.toMatchObject({
      code: "TIMED_OUT",
      outcome: "none",
      message: expect.stringMatching(/^m could not be had within 300 ms: others hold it/),
    });
  });
});

describe("work that is to be done once", () => {
  it("is run by one, and its result given to everybody", async () => {
    const world = await LeaseWorld.open(sim, 41);
    const clients = Array.from({ length: 3 }, () => world.connect());
    let runs = 0;
    const results = await world.outcome(
      Promise.all(
        clients.map(({ cluster }) =>
          cluster.once("charge/42/2026-11", () => {
            runs += 1;
            return { charged: 42 };
          }),
        ),
      ),
    );
    expect(runs).toBe(1);
    expect(results.map(({ result }) => result)).toEqual(Array(3).fill({ charged: 42 }));
    expect(results.filter(({ ran }) => ran)).toHaveLength(1);
  });

  it("is recorded also where whoever asked for it gives up meanwhile, or the cluster is away for a moment", async () => {
    const world = await LeaseWorld.open(sim, 43);
    const a = world.connect(20_000);
    let runs = 0;
    const given = new AbortController();
    const work = () => {
      runs += 1;
      given.abort();
      world.blackHole(a);
      return runs;
    };
    const asked = a.cluster.once("x", work, { signal: given.signal, timeoutMs: 300 });
    await world.run(3_000);
    world.heal(a);
    expect(await world.outcome(asked)).toEqual({ result: 1, ran: true });
    expect(await world.outcome(a.cluster.once("x", work))).toEqual({ result: 1, ran: false });
    expect(runs).toBe(1);
  });

  it("whose lease was lost before it was recorded is lost", async () => {
    const world = await LeaseWorld.open(sim, 44);
    const a = world.connect();
    const asked = a.cluster.once("x", () => world.blackHole(a) ?? 1);
    await expect(world.outcome(asked)).rejects.toMatchObject({ code: "LEASE_LOST", reason: "unreachable" });
  });

  it("that failed leaves no record, and is run again", async () => {
    const world = await LeaseWorld.open(sim, 42);
    const a = world.connect();
    const failing = a.cluster.once("x", () => Promise.reject(new Error("no")));
    await expect(world.outcome(failing)).rejects.toThrow("no");
    expect(await world.outcome(a.cluster.once("x", () => 7))).toEqual({ result: 7, ran: true });
  });
});
