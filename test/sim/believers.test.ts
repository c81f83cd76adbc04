/**
 * Two believers: never. A holder is taken out of the world in every way that we know, while others wait for its lease;
 * at every instant of true time it is looked who passes `check()`, on clocks whose rates differ by as much as is
 * allowed. Afterwards the store refuses what the old holder writes under its term.
 */
import { QuorateError } from "@quorate/raft";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { type LeaseClient, LeaseWorld, ttlMs } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

/** Acceptance asks for a hundred; the nightly run has them, this one a sample. */
const trials = Number(process.env.QUORATE_LEASE_TRIALS ?? 6);

interface Trial {
  readonly world: LeaseWorld;
  readonly holder: LeaseClient;
  readonly waiter: LeaseClient;
  readonly third: LeaseClient;
  /** Drawn anew for each trial. */
  readonly chance: ReturnType<LeaseWorld["simulation"]["world"]["chance"]>;
}

/** What happens to the holder, or around it. Resolves when it is over; the waiter goes on waiting. */
type Misfortune = (trial: Trial) => Promise<void>;

async function openTrial(seed: number): Promise<Trial> {
  const world = await LeaseWorld.open(sim, seed);
  const chance = world.simulation.world.chance("trial");
  const drift = (): number => 1 + 0.0095 * (2 * chance.fraction() - 1);
  for (const host of world.simulation.cluster.hosts) host.process?.clock.setRate(drift());
  const [holder, waiter, third] = [world.connect(), world.connect(), world.connect()];
  for (const { process } of [holder, waiter, third]) process.clock.setRate(drift());
  return { world, holder, waiter, third, chance };
}

/** The holder has it and others wait; then the misfortune; then somebody else has it, and all is as it should be. */
async function play(seed: number, misfortune: Misfortune, mayOverlap: boolean = false): Promise<void> {
  const trial = await openTrial(seed);
  const { world, holder, waiter, third, chance } = trial;
  const held = await world.outcome(world.acquire(holder, "x"));
  const next = world.acquire(waiter, "x");
  await world.run(50);
  const last = world.acquire(third, "x");
  last.catch(() => {});
  await world.run(2 * ttlMs * chance.fraction());
  await misfortune(trial);
  await Promise.race([world.outcome(next, 12 * ttlMs), world.outcome(last, 12 * ttlMs)]);
  const successor = world.grants.find(({ lease }) => lease !== held)?.lease;
  expect(successor?.term).toBeGreaterThan(held.term);
  await world.run(2 * ttlMs);
  if (!mayOverlap) expect(world.overlaps).toEqual([]);
  expect(held.remainingMs()).toBe(0);
  expect(() => held.check()).toThrow(/not held any more/);
  await expectFenced(trial, held.term);
  const terms = world.grants.map(({ lease }) => lease.term);
  expect(terms).toEqual([...terms].sort((a, b) => a - b));
  expect(new Set(terms).size).toBe(terms.length);
  expect(verdict(world.simulation)).toBe("nothing violated");
}

async function expectFenced({ world, waiter }: Trial, term: number): Promise<void> {
  const late = waiter.cluster.kv.put("total", 1, { fence: { name: "x", term } });
  await expect(world.outcome(late)).rejects.toMatchObject({ code: "STALE_TERM", outcome: "none" });
}

const misfortunes: readonly (readonly [string, Misfortune])[] = [
  [
    "its path black-holed",
    async ({ world, holder }) => {
      world.blackHole(holder);
      await world.run(3 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "its process stopped, or its loop blocked, for three times its time to live",
    async ({ world, holder, chance }) => {
      holder.process.pause();
      await world.run(3 * ttlMs);
      holder.process.resume(chance.happens(0.5));
    },
  ],
  [
    "its machine asleep",
    async ({ world, holder }) => {
      holder.process.suspend();
      await world.run(3 * ttlMs);
      holder.process.resume(true);
    },
  ],
  [
    "a frozen holder whose renewal is delayed",
    async ({ world, holder }) => {
      const { network } = world.simulation.world;
      const hosts = world.simulation.cluster.hosts.map(({ name }) => name);
      for (const host of hosts) network.clog(holder.name, host);
      await world.run(0.6 * ttlMs);
      holder.process.pause();
      await world.run(0.3 * ttlMs);
      for (const host of hosts) network.unclog(holder.name, host);
      await world.run(3 * ttlMs);
      holder.process.resume(true);
    },
  ],
  [
    "cut off, and the store's leader killed",
    async ({ world, holder, chance }) => {
      world.blackHole(holder);
      await world.run(0.9 * ttlMs * chance.fraction());
      world.killLeader();
      await world.run(3 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "cut off, and the store's leader stopped for a while",
    async ({ world, holder, chance }) => {
      world.blackHole(holder);
      await world.run(0.9 * ttlMs * chance.fraction());
      const { cluster } = world.simulation;
      const { leader } = world;
      cluster.pause(leader);
      await world.run(1.5 * ttlMs);
      cluster.resume(leader, chance.happens(0.5));
      await world.run(2 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "its renewal logged between a silence mark and the leader's death",
    async ({ world, holder, chance }) => {
      world.blackHole(holder);
      await world.run(0.5 * ttlMs);
      world.heal(holder);
      await world.run(0.3 * ttlMs + 100 * chance.fraction());
      world.killLeader();
      await world.run(20 * chance.fraction());
      world.blackHole(holder);
      await world.run(3 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "only its answers lost, one way",
    async ({ world, holder }) => {
      const { network } = world.simulation.world;
      for (const { name } of world.simulation.cluster.hosts) network.cut(name, holder.name);
      await world.run(4 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "a release in flight while it is cut off",
    async ({ world, holder, chance }) => {
      await world.run(100 * chance.fraction());
      void world.grants[0]?.lease.release().catch(() => {});
      await world.run(2 * chance.fraction());
      world.blackHole(holder);
      await world.run(2 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "broken without force while it is cut off, and the leader killed",
    async ({ world, holder, waiter, chance }) => {
      await world.outcome(waiter.cluster.lease.break("x"));
      if (chance.happens(0.7)) world.blackHole(holder);
      if (chance.happens(0.5)) world.killLeader();
      await world.run(3 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "answers that come late, and then none",
    async ({ world, holder, chance }) => {
      const { network } = world.simulation.world;
      const hosts = world.simulation.cluster.hosts.map(({ name }) => name);
      for (const host of hosts) network.clog(host, holder.name);
      await world.run((0.6 + 0.25 * chance.fraction()) * ttlMs);
      for (const host of hosts) network.unclog(host, holder.name);
      await world.run(3);
      world.blackHole(holder);
      await world.run(3 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "preempted, at times while it is cut off, or with the leader killed",
    async ({ world, holder, waiter, chance }) => {
      if (chance.happens(0.7)) world.blackHole(holder);
      void world
        .acquire(waiter, "x", { priority: 1, preempts: true })
        .then((lease) => lease.release())
        .catch(() => {});
      await world.run(200 * chance.fraction());
      if (chance.happens(0.5)) world.killLeader(200);
      await world.run(ttlMs / 2);
      world.heal(holder);
    },
  ],
  [
    "a lease that was broken, and cut off just before that is finished",
    async ({ world, holder, waiter, chance }) => {
      await world.outcome(waiter.cluster.lease.break("x"));
      await world.run((0.5 + 0.2 * chance.fraction()) * ttlMs);
      world.blackHole(holder);
      await world.run(3 * ttlMs);
      world.heal(holder);
    },
  ],
  [
    "a claim racing a pass-on",
    async ({ world, waiter, chance }) => {
      await world.run(10);
      waiter.process.pause();
      void world.grants[0]?.lease.release().catch(() => {});
      // The window of a claim: a little before it ends, or after.
      await world.run(1_150 + 100 * chance.fraction());
      waiter.process.resume(chance.happens(0.5));
      if (chance.happens(0.3)) world.killLeader();
    },
  ],
];

describe("two clients never believe in one lease at once: a holder with", () => {
  it.each(misfortunes)(
    "%s",
    async (title, misfortune) => {
      for (let trial = 1; trial <= trials; trial += 1) await play(trial * 31 + title.length, misfortune);
    },
    600_000,
  );

  it("a forced break may overlap, for which its documentation says that only fencing protects then", async () => {
    for (let trial = 1; trial <= 3; trial += 1) {
      await play(
        trial,
        async ({ world, holder, waiter }) => {
          world.blackHole(holder);
          await world.outcome(waiter.cluster.lease.break("x", { force: true }));
          await world.run(200);
          expect(world.overlaps.length).toBeGreaterThan(0);
          await world.run(2 * ttlMs);
          world.heal(holder);
        },
        true,
      );
    }
  });
});

describe("an acquire that is retried after a lost answer", () => {
  it("gives one grant, or none that anybody believes in", async () => {
    for (let seed = 1; seed <= trials; seed += 1) {
      const { world, holder, waiter, chance } = await openTrial(seed);
      await world.outcome(holder.cluster.kv.put("warm", 1));
      const { network } = world.simulation.world;
      const acquiring = world.acquire(holder, "x", { timeoutMs: 3 * ttlMs });
      acquiring.catch((error: unknown) => expect(error).toBeInstanceOf(QuorateError));
      await world.run(3 * chance.fraction());
      for (const { name } of world.simulation.cluster.hosts) network.cut(name, holder.name);
      await world.run(ttlMs * 2 * chance.fraction());
      if (chance.happens(0.3)) world.killLeader();
      world.heal(holder);
      const other = world.acquire(waiter, "x");
      await world.run(ttlMs * 4);
      for (const { lease } of world.grants) void lease.release();
      await world.outcome(other);
      expect(world.overlaps).toEqual([]);
      expect(verdict(world.simulation)).toBe("nothing violated");
    }
  }, 600_000);
});
