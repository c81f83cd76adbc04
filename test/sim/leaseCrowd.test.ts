/**
 * Everything that can be done to leases at once, by clients that are cut off, killed and closed in between, while the
 * store's leader changes: every promise ends, with an error of its own where it rejects, no two believe, and nothing is
 * left at the cluster when all have gone.
 */
import type { Lease, LeaseOptions } from "@quorate/client";
import { QuorateError } from "@quorate/raft";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { type LeaseClient, LeaseWorld } from "./leaseWorld.ts";
import { verdict } from "./scenarios.ts";

const names = ["a", "b", "c"];
const sessionTtlMs = 2_000;
const fast = { leaseDurationMs: 2_500, renewDeadlineMs: 1_800, retryPeriodMs: 500 };
const steps = 150;

class Crowd {
  readonly world: LeaseWorld;
  readonly clients: LeaseClient[];
  readonly stop = new AbortController();
  /** What is not settled yet. */
  readonly pending: Set<string> = new Set();
  /** Rejections that are none of the cluster object's errors. */
  readonly odd: unknown[] = [];
  readonly #held: Lease[] = [];
  readonly #below: (bound: number) => number;
  #made = 0;

  constructor(world: LeaseWorld) {
    this.world = world;
    this.clients = Array.from({ length: 6 }, () => world.connect(sessionTtlMs));
    const chance = world.simulation.world.chance("crowd");
    this.#below = (bound) => chance.uint32() % bound;
  }

  async step(): Promise<void> {
    const at = this.#below(this.clients.length);
    const client = this.clients[at] as LeaseClient;
    const name = names[this.#below(names.length)] as string;
    const acts: (() => void)[] = [
      () => this.#acquire(client, name),
      () => this.#acquire(client, name),
      () => this.#acquire(client, this.#below(2) === 0 ? ["a", "b"] : ["c", "b", "a"]),
      () => this.#track("try", this.#taken(client, client.cluster.lease.tryAcquire(name, this.#options()))),
      () => this.#onHeld("release", (lease) => lease.release()),
      () => this.#onHeld("proclaim", async (lease) => lease.status === "held" && lease.proclaim(name)),
      () => this.#track("break", client.cluster.lease.break(name, { afterMs: this.#below(3) * 200 })),
      () => this.#track("handover", client.cluster.lease.requestHandover(name)),
      () => this.#lead(client, name),
      () => this.#cutOff(client),
      () => this.#use(client, name),
      () => this.#replace(at, client),
      () => {
        if (this.world.simulation.cluster.leader() !== undefined)
          this.world.killLeader(200 + this.#below(600));
      },
    ];
    acts[this.#below(acts.length)]?.();
    await this.world.run(this.#below(300));
  }

  waitForAll(): void {
    for (const client of this.clients) {
      this.#acquire(client, names);
      for (const name of names) {
        this.#acquire(client, name);
        this.#lead(client, name);
        this.#use(client, name);
      }
    }
  }

  #options(): LeaseOptions {
    return {
      ...(this.#below(3) === 0 ? { ttlMs: [1_500, 3_000][this.#below(2)] as number } : {}),
      ...(this.#below(4) === 0 ? { priority: this.#below(3), asksHandover: true, preempts: true } : {}),
      ...(this.#below(6) === 0 ? { lockDelayMs: 300 } : {}),
    };
  }

  #acquire(client: LeaseClient, which: string | readonly string[]): void {
    const stop = new AbortController();
    if (this.#below(3) === 0) void this.#pause(client, this.#below(600)).then(() => stop.abort());
    const signal = AbortSignal.any([stop.signal, this.stop.signal]);
    const acquiring = client.cluster.lease.acquire(which, { ...this.#options(), signal });
    this.#track("acquire", this.#taken(client, acquiring));
  }

  async #taken(client: LeaseClient, acquiring: Promise<Lease | undefined>): Promise<void> {
    const lease = await acquiring;
    if (lease === undefined) return;
    this.world.grants.push({ client, lease });
    this.#held.push(lease);
    await this.#pause(client, this.#below(1_500));
    await lease.release();
  }

  #lead(client: LeaseClient, name: string): void {
    const election = client.cluster.election(name, fast);
    const work = async (lease: Lease): Promise<void> => {
      this.world.grants.push({ client, lease });
      await this.#pause(client, this.#below(800), lease.signal);
      if (this.#below(3) === 0) lease.check();
    };
    this.#track("lead", election.lead(work, { signal: this.stop.signal }));
  }

  #use(client: LeaseClient, name: string): void {
    const work = (signal: AbortSignal): Promise<void> => this.#pause(client, this.#below(500), signal);
    this.#track("using", client.cluster.using(name, sessionTtlMs, work, { signal: this.stop.signal }));
  }

  #onHeld(what: string, act: (lease: Lease) => Promise<unknown>): void {
    const lease = this.#held[this.#below(this.#held.length || 1)];
    if (lease !== undefined) this.#track(what, act(lease));
  }

  #cutOff(client: LeaseClient): void {
    this.world.blackHole(client);
    void this.#pause(client, this.#below(4_000)).then(() => this.world.heal(client));
  }

  /** It goes, politely, and another one comes. */
  #replace(at: number, client: LeaseClient): void {
    this.#track("close", client.cluster.close());
    this.clients[at] = this.world.connect(sessionTtlMs);
  }

  #pause(client: LeaseClient, delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      client.process.clock.after(delayMs, resolve);
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #track(what: string, promise: Promise<unknown>): void {
    this.#made += 1;
    const id = `${what} ${this.#made}`;
    this.pending.add(id);
    promise
      .catch((error: unknown) => {
        if (!(error instanceof QuorateError)) this.odd.push(error);
      })
      .finally(() => this.pending.delete(id));
  }
}

describe("a crowd that does everything with leases at once", () => {
  it.each([1, 2, 3, 4])("leaves nothing behind, seed %s", { timeout: 60_000 }, async (seed) => {
    const world = await LeaseWorld.open(sim, seed);
    const crowd = new Crowd(world);
    for (let step = 0; step < steps; step += 1) await crowd.step();
    for (const client of crowd.clients) world.heal(client);
    await world.run(5_000);
    // All of them wait for somebody else, and give up.
    const keeper = world.connect(60_000);
    for (const name of names) await world.outcome(world.acquire(keeper, name));
    crowd.waitForAll();
    await world.run(500);
    crowd.stop.abort();
    await world.run(30_000, () => crowd.pending.size === 0);
    expect([[...crowd.pending], crowd.odd, world.overlaps]).toEqual([[], [], []]);
    await world.run(200);
    for (const name of names) {
      expect(await world.outcome(keeper.cluster.lease.get(name))).toMatchObject({ waiting: 0 });
    }
    const sessions = crowd.clients.map((client) => client.cluster.metrics().sessions.open.length);
    expect(Math.max(...sessions), "the one for writes is left").toBeLessThanOrEqual(1);

    await world.outcome(keeper.cluster.close());
    // Sessions of those that went while they were cut off end by their time.
    await world.run(2 * sessionTtlMs);
    const { cluster } = world.connect(60_000);
    for (const name of names) {
      expect(await world.outcome(cluster.lease.get(name))).toMatchObject({ session: null });
    }
    await world.outcome(Promise.all(crowd.clients.map((client) => client.cluster.close())));
    expect(await world.outcome(cluster.sessions.list())).toEqual([]);
    expect(verdict(world.simulation)).toBe("nothing violated");
  });
});
