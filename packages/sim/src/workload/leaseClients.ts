/**
 * Clients that take leases of the store: the shipped client, each in a process and on a host of its own.
 *
 * They acquire, wait, hold, write under the fence, release, ask for handovers and break; and they stand still, are cut
 * off, have clocks that go wrong, and die. What they are given goes to the oracle (leaseOracle.ts).
 */
import type { Cluster, Lease } from "@quorate/client";
import { createCluster } from "@quorate/client/internal";
import { QuorateError } from "@quorate/raft";
import { traceLogger } from "../cluster/assembly.ts";
import type { SimulatedCluster } from "../cluster/cluster.ts";
import type { Chance } from "../world/chance.ts";
import type { SimulatedProcess } from "../world/process.ts";
import { depart } from "./departure.ts";
import { LeaseCandidate } from "./leaseCandidate.ts";
import { LeaseOracle, leaseNames } from "./leaseOracle.ts";
import { cutDirections, type LeaseOperation } from "./operation.ts";
import { sendsSeen } from "./sendsSeen.ts";
import type { LeaseLiveness } from "./workload.ts";

const maxUnderWay = 3;
const sessionTtlsMs = [1_300, 2_000, 4_000] as const;

interface LeaseClient {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly cluster: Cluster;
  readonly sessionTtlMs: number;
  /** Releases a lease that another wants, or that was broken; or goes on until it is lost. */
  readonly heedsHandover: boolean;
  /** Of its clock, as long as nothing is done to it: within the bound. */
  readonly rate: number;
  sentMs: number;
  underWay: number;
  /** The one that it was given last. */
  last: Lease | undefined;
}

/** What is done to a client; all else is asked by it. */
type Done = OperationOf<"leaseLeave" | "leaseStall" | "leaseCut" | "leaseClock">;
type OperationOf<Kind extends LeaseOperation["kind"]> = Extract<LeaseOperation, { kind: Kind }>;

export class LeaseClients implements LeaseLiveness {
  readonly longestTtlMs: number = Math.max(...sessionTtlsMs);
  readonly oracle: LeaseOracle;
  private readonly cluster: SimulatedCluster;
  private readonly drawing: Chance;
  private readonly chance: Chance;
  private readonly places: number;
  private readonly begun: (key: string) => number;
  private readonly clients: (LeaseClient | undefined)[] = [];
  private made = 0;

  /** `begun` is told of each write before it is sent, and gives it a serial. */
  constructor(cluster: SimulatedCluster, places: number, begun: (key: string) => number) {
    this.begun = begun;
    const { checks, world } = cluster;
    this.cluster = cluster;
    this.places = places;
    this.drawing = world.chance("leases");
    this.chance = world.chance("clients with leases");
    this.oracle = new LeaseOracle(checks.history, world.clockBound);
  }

  /** Any has ever been: before, there is nothing to look at. */
  get areThere(): boolean {
    return this.made > 0;
  }

  get areWanted(): boolean {
    return this.places > 0;
  }

  draw(): LeaseOperation | undefined {
    const { drawing } = this;
    const client = drawing.below(this.places);
    const choice = drawing.fraction();
    const name = drawing.pick(leaseNames);
    const forMs = drawing.between(50, 1_000) * drawing.pick([1, 1, 4]);
    if (choice < 0.54) return this.drawAcquire(client, name);
    if (choice < 0.74) return { kind: "fencedPut", client };
    if (choice < 0.78) return { kind: "requestHandover", client, name };
    if (choice < 0.81) {
      const afterMs = drawing.pick([0, 0, 500]);
      return { kind: "breakLease", client, name, afterMs, force: drawing.happens(0.3) };
    }
    if (choice < 0.88) {
      const [suspended, timersFirst] = [drawing.happens(0.3), drawing.happens(0.5)];
      return { kind: "leaseStall", client, suspended, timersFirst, forMs };
    }
    if (choice < 0.95) return { kind: "leaseCut", client, lost: drawing.pick(cutDirections), forMs };
    if (choice < 0.96)
      return { kind: "leaseClock", client, rate: drawing.pick([0.5, 0.991, 1.009, 2]), forMs };
    return { kind: "leaseLeave", client, polite: drawing.happens(0.4), silent: drawing.happens(0.5) };
  }

  perform(operation: LeaseOperation): void {
    const place = operation.client;
    if (this.clients[place]?.process.isAlive !== true) this.clients[place] = this.connect();
    const client = this.clients[place] as LeaseClient;
    switch (operation.kind) {
      case "leaseLeave":
        this.leave(client, operation);
        return;
      case "leaseStall":
        this.stall(client, operation);
        return;
      case "leaseCut":
        this.cut(client, operation);
        return;
      case "leaseClock":
        this.changeClock(client, operation);
        return;
      default:
        // One that stands still asks when it goes on.
        client.process.clock.defer(() => this.ask(client, operation));
    }
  }

  private ask(client: LeaseClient, operation: Exclude<LeaseOperation, Done>): void {
    const { cluster } = client;
    switch (operation.kind) {
      case "acquire":
        void this.acquire(client, operation);
        return;
      case "fencedPut":
        void this.fencedPut(client);
        return;
      case "breakLease": {
        const { afterMs, force, name } = operation;
        void this.asked(client, () => cluster.lease.break(name, { afterMs, force }));
        return;
      }
      case "requestHandover":
        void this.asked(client, () => cluster.lease.requestHandover(operation.name));
    }
  }

  candidate(): LeaseCandidate {
    return new LeaseCandidate(this.cluster, this.connect());
  }

  leftOver(): string | undefined {
    const leases = this.cluster.leader()?.running?.store?.host.store.leases;
    if (leases === undefined) return "nobody knows of its leases";
    for (const name of leaseNames) {
      const { grant, queue } = leases.get(name) ?? { grant: undefined, queue: [] };
      if (grant === undefined && queue.length > 0)
        return `nobody has ${name}, for which ${queue.length} wait`;
      if (grant !== undefined && !this.isThere(grant.holder)) {
        return `${grant.holder}, which is gone, still has ${name}`;
      }
    }
    return undefined;
  }

  private isThere(name: string): boolean {
    return this.clients.some((client) => client?.name === name && client.process.isAlive);
  }

  private drawAcquire(client: number, name: string): LeaseOperation | undefined {
    const { drawing } = this;
    const isBoth = drawing.happens(0.15);
    const patienceMs = drawing.pick([0, 300, 2_000, 6_000]);
    const holdMs = Math.ceil(drawing.exponential(drawing.pick([200, 2_000, 6_000])));
    const ttlMs = drawing.pick([0, 0, 0, 1_400, 3_000]);
    const priority = drawing.pick([0, 0, 0, 1]);
    const lockDelayMs = drawing.pick([0, 0, 0, 0, 400]);
    if ((this.clients[client]?.underWay ?? 0) >= maxUnderWay) return undefined;
    const names = isBoth ? leaseNames : [name];
    return { kind: "acquire", client, names, patienceMs, holdMs, ttlMs, priority, lockDelayMs };
  }

  private connect(): LeaseClient {
    const { hosts, world } = this.cluster;
    this.made += 1;
    const name = `l${this.made}`;
    const process = world.process(name);
    const rate = 1 + 0.009 * (2 * this.chance.fraction() - 1);
    process.clock.setRate(rate);
    const network = sendsSeen(world.network.portOf(process, name), () => {
      client.sentMs = process.clock.bootMs();
    });
    const sessionTtlMs = this.chance.pick(sessionTtlsMs);
    const cluster = createCluster(
      {
        network,
        clock: process.clock,
        random: world.chance(`client ${name}`),
        logger: traceLogger(world, name),
      },
      {
        endpoints: this.chance.shuffled(hosts).map((host) => host.address),
        requestTimeoutMs: this.chance.pick([300, 1_000, 5_000]),
        sessionTtlMs,
        session: true,
      },
    );
    const client: LeaseClient = {
      name,
      process,
      cluster,
      sessionTtlMs,
      heedsHandover: this.chance.happens(0.7),
      rate,
      sentMs: Number.NEGATIVE_INFINITY,
      underWay: 0,
      last: undefined,
    };
    return client;
  }

  private async acquire(client: LeaseClient, asked: OperationOf<"acquire">): Promise<void> {
    const { holdMs, lockDelayMs, names, patienceMs, priority } = asked;
    const ttlMs = asked.ttlMs === 0 ? client.sessionTtlMs : asked.ttlMs;
    const options = { ttlMs, priority, lockDelayMs, holder: client.name, asksHandover: priority > 0 };
    const { lease: leases, clock } = client.cluster;
    client.underWay += 1;
    await this.asked(client, async () => {
      const lease =
        patienceMs === 0
          ? await leases.tryAcquire(names, options)
          : await leases.acquire(names, { ...options, timeoutMs: patienceMs });
      if (lease === undefined) return;
      this.given(client, lease, ttlMs);
      const release = (): void => void this.asked(client, () => lease.release());
      clock.after(holdMs, release);
      if (!client.heedsHandover) return;
      lease.handoverSignal.addEventListener("abort", () => clock.after(1, release), { once: true });
    });
    client.underWay -= 1;
  }

  private given(client: LeaseClient, lease: Lease, ttlMs: number): void {
    const { checks, world } = this.cluster;
    const { name, process } = client;
    world.trace.note(name, `is given ${lease.names.join(" and ")} under term ${lease.term}`);
    client.last = lease;
    const marked = (): void => {
      const { reason } = lease.signal.reason as { readonly reason: string };
      world.trace.note(name, `has ${lease.names.join(" and ")} of term ${lease.term} no more: ${reason}`);
      checks.history.mark(`lease lost: ${reason}`);
    };
    if (lease.signal.aborted) marked();
    else lease.signal.addEventListener("abort", marked, { once: true });
    this.oracle.given({ name, process, lease, ttlMs, sentMs: () => client.sentMs });
  }

  private async fencedPut(client: LeaseClient): Promise<void> {
    const { last } = client;
    if (last === undefined) return;
    this.oracle.asked(last);
    const key = `fenced/${last.name}`;
    const serial = this.begun(key);
    await this.asked(client, () => client.cluster.kv.put(key, serial, { fence: last }));
  }

  /** What becomes of it is seen in the log. */
  private async asked(client: LeaseClient, ask: () => Promise<unknown>): Promise<void> {
    try {
      await ask();
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
      this.cluster.world.trace.note(client.name, `was answered ${error.code}`);
    }
  }

  private leave(client: LeaseClient, { client: place, polite, silent }: OperationOf<"leaseLeave">): void {
    this.clients[place] = undefined;
    depart(this.cluster, client, "lease client", polite, silent);
  }

  private stall(
    { name, process }: LeaseClient,
    { forMs, suspended, timersFirst }: OperationOf<"leaseStall">,
  ): void {
    const { checks, world } = this.cluster;
    if (process.isPaused) return;
    world.trace.note(name, suspended ? "suspended" : "paused");
    checks.history.mark(suspended ? "lease client suspended" : "lease client paused");
    if (suspended) process.suspend();
    else process.pause();
    world.timeline.schedule(forMs, undefined, () => {
      world.trace.note(name, "resumed");
      process.resume(timersFirst);
    });
  }

  private cut({ name }: LeaseClient, { forMs, lost }: OperationOf<"leaseCut">): void {
    const { checks, hosts, world } = this.cluster;
    world.trace.note(name, `cut off, loses ${lost}`);
    checks.history.mark(`lease client cut off: ${lost}`);
    const paths = hosts.flatMap((host): (readonly [string, string])[] => [
      ...(lost === "replies" ? [] : [[name, host.name] as const]),
      ...(lost === "requests" ? [] : [[host.name, name] as const]),
    ]);
    for (const [from, to] of paths) world.network.cut(from, to);
    world.timeline.schedule(forMs, undefined, () => {
      for (const [from, to] of paths) world.network.heal(from, to);
    });
  }

  private changeClock(
    { name, process, rate: ordinary }: LeaseClient,
    { forMs, rate }: OperationOf<"leaseClock">,
  ): void {
    const { world } = this.cluster;
    world.trace.note(name, `clock runs at ${rate}`);
    process.clock.setRate(rate);
    world.timeline.schedule(forMs, undefined, () => process.clock.setRate(ordinary));
  }
}
