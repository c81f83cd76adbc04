/**
 * Clients with leases on a simulated cluster, each with a process and a host of its own, and one who looks at every
 * instant of true time who of them believes what: two believers at once are what must never be.
 */
import type { Cluster, Lease, LeaseOptions } from "@quorate/client";
import { createCluster } from "@quorate/client/internal";
import { silentLogger } from "@quorate/raft";
import type { SimulatedHost, Simulation, World } from "@quorate/sim";
import { countedNetwork, type FrameCount } from "./countedNetwork.ts";
import { outcomeIn } from "./outcome.ts";
import { calmCluster, leaderOf, type Simulator } from "./scenarios.ts";

export const ttlMs = 2_000;

export interface LeaseClient {
  readonly name: string;
  readonly process: ReturnType<World["process"]>;
  readonly cluster: Cluster;
  readonly frames: FrameCount;
}

interface Grant {
  readonly client: LeaseClient;
  readonly lease: Lease;
}

export class LeaseWorld {
  readonly simulation: Simulation;
  readonly grants: Grant[] = [];
  /** Instants of true time at which two passed `check()` for one name; the first ones, as sentences. */
  readonly overlaps: string[] = [];
  readonly #sim: Simulator;
  #made = 0;

  constructor(sim: Simulator, simulation: Simulation) {
    this.#sim = sim;
    this.simulation = simulation;
  }

  static async open(sim: Simulator, seed: number, nodes: number = 3): Promise<LeaseWorld> {
    const simulation = await calmCluster(sim, { seed, nodes, layer: "store" });
    // The oracle of the usual workload knows of no other writes than its own.
    simulation.cluster.checks.application.onFirst = () => {};
    return new LeaseWorld(sim, simulation);
  }

  get nowMs(): number {
    return this.simulation.world.timeline.nowMs;
  }

  get leader(): SimulatedHost {
    return leaderOf(this.simulation);
  }

  connect(sessionTtlMs: number = ttlMs, requestTimeoutMs: number = 5_000): LeaseClient {
    const { world, cluster } = this.simulation;
    this.#made += 1;
    const name = `holder${this.#made}`;
    const process = world.process(name);
    const frames: FrameCount = { sent: 0, received: 0, bytes: 0 };
    const made = createCluster(
      {
        network: countedNetwork(world.network.portOf(process, name), frames),
        clock: process.clock,
        random: world.chance(`client ${name}`),
        logger: silentLogger,
      },
      {
        endpoints: cluster.hosts.map(({ address }) => address),
        requestTimeoutMs,
        sessionTtlMs,
        session: true,
      },
    );
    return { name, process, cluster: made, frames };
  }

  /** Waits, and is remembered when it is granted. */
  async acquire(client: LeaseClient, name: string, options: LeaseOptions = {}): Promise<Lease> {
    const lease = await client.cluster.lease.acquire(name, options);
    this.grants.push({ client, lease });
    return lease;
  }

  async run(durationMs: number, isDone: () => boolean = () => false): Promise<boolean> {
    return this.#sim.runFor(this.simulation, durationMs, () => {
      this.#look();
      return isDone();
    });
  }

  /** What `promise` gives, in virtual time. */
  async outcome<T>(promise: Promise<T>, withinMs: number = 10 * ttlMs): Promise<T> {
    return outcomeIn((forMs, isDone) => this.run(forMs, isDone), promise, withinMs);
  }

  /** Nothing reaches the client any more, and nothing comes from it; nobody is told. */
  blackHole({ name }: LeaseClient): void {
    const { network } = this.simulation.world;
    for (const host of this.simulation.cluster.hosts) {
      network.cut(name, host.name);
      network.cut(host.name, name);
    }
  }

  heal({ name }: LeaseClient): void {
    const { network } = this.simulation.world;
    for (const host of this.simulation.cluster.hosts) {
      network.heal(name, host.name);
      network.heal(host.name, name);
    }
  }

  kill(client: LeaseClient): void {
    client.process.kill();
    this.simulation.world.network.processEnded(client.process, false);
  }

  /** Kills the store's leader, and starts it again a little later. */
  killLeader(backMs: number = 500): void {
    const { cluster, world } = this.simulation;
    const host = this.leader;
    cluster.crash(host, false);
    world.timeline.schedule(backMs, undefined, () => cluster.start(host));
  }

  believers(name: string): readonly Grant[] {
    return this.grants.filter(
      ({ client, lease }) => client.process.isAlive && lease.names.includes(name) && lease.remainingMs() > 0,
    );
  }

  close(): void {
    for (const { client } of this.grants) void client.cluster.close();
  }

  /** Belief begins with an event, so it is enough to look after each. `remainingMs` changes nothing. */
  #look(): void {
    const names = new Set(this.grants.flatMap(({ lease }) => lease.names));
    for (const name of names) {
      const believers = this.believers(name);
      if (believers.length < 2 || this.overlaps.length > 5) continue;
      const who = believers.map(({ client, lease }) => `${client.name} (term ${lease.term})`);
      this.overlaps.push(`at ${this.nowMs}: ${name} is believed to be held by ${who.join(" and ")}`);
    }
  }
}
