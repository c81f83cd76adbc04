/**
 * A cluster in virtual time as a test drives it: its nodes and clients by their names, what befalls them, and time.
 *
 * Each client is a process of its own, on a host and with a clock of its own. What is done here is done at once; only
 * what waits gives a promise, and every wait is in virtual time.
 */

import type { Cluster } from "@quorate/client";
import { type ClientOptions, createCluster, resolveClientOptions } from "@quorate/client/internal";
import type { NodeCluster } from "@quorate/kv";
import { type Clock, QuorateError } from "@quorate/raft";
import { traceLogger } from "../cluster/assembly.ts";
import type { SimulatedCluster, SimulatedHost } from "../cluster/cluster.ts";
import { cutsBetween } from "../faults/partitions.ts";
import { refuseUnless, requireNames } from "../requirements.ts";
import type { Chance } from "../world/chance.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { PendingCalls } from "./pendingCalls.ts";
import { inRealTime } from "./realTime.ts";

/** As for `connect()`; the endpoints are those of all nodes, unless others are given. */
export type VirtualClientOptions = Partial<ClientOptions>;

interface Client {
  readonly name: string;
  process: SimulatedProcess;
  connections: number;
}

interface Condition {
  readonly isMet: () => boolean;
  readonly met: () => void;
  readonly failed: (error: unknown) => void;
}

export class VirtualWorld {
  /** The names of the nodes: n1, n2, … */
  readonly nodes: readonly string[];
  /** True time, which no fault touches. */
  readonly clock: Clock;
  readonly #cluster: SimulatedCluster;
  readonly #clients: Map<string, Client> = new Map();
  readonly #calls: PendingCalls;
  readonly #conditions: Set<Condition> = new Set();
  readonly #laws: Map<string, () => boolean> = new Map();
  readonly #fail: (error: unknown) => void;
  readonly #wakings: Chance;
  #outside: Promise<void> | undefined;
  #outsideCount = 0;
  #isOver = false;

  /** @internal */
  constructor(cluster: SimulatedCluster, calls: PendingCalls, fail: (error: unknown) => void) {
    const { timeline } = cluster.world;
    this.#fail = fail;
    this.#cluster = cluster;
    this.#calls = calls;
    this.#wakings = cluster.world.chance("wakings");
    this.nodes = cluster.hosts.map(({ name }) => name);
    this.clock = {
      nowMs: () => timeline.nowMs,
      bootMs: () => timeline.nowMs,
      after: (delayMs, fn) => timeline.schedule(delayMs, undefined, fn),
      defer: (fn) => void timeline.schedule(0, undefined, fn),
    };
  }

  /** True time since the nodes were started. */
  get nowMs(): number {
    return this.#cluster.world.timeline.nowMs;
  }

  /** The node that leads, in the newest term; undefined while none does. */
  get leader(): string | undefined {
    return this.#cluster.leader()?.name;
  }

  /**
   * What `connect()` gives in a process of this name, which is started if it does not run; in one that runs it is one
   * connection more. Throws `INVALID_OPTIONS`.
   */
  connect(name: string, options: VirtualClientOptions = {}): Cluster {
    this.#requireOpen();
    refuseUnless(/^[\w.-]{1,64}$/.test(name), "the name of a client", name, "1 to 64 letters, digits or -._");
    refuseUnless(!this.nodes.includes(name), "the name of a client", name, "none of a node");
    requireNames(options, ["endpoints", "requestTimeoutMs", "sessionTtlMs", "session"]);
    const { world, hosts } = this.#cluster;
    const client = this.#startedClient(name);
    client.connections += 1;
    const { process } = client;
    const resolved = resolveClientOptions({ endpoints: hosts.map(({ address }) => address), ...options });
    const made = createCluster(
      {
        network: world.network.portOf(process, name),
        clock: process.clock,
        random: world.chance(`client ${name} ${client.connections}`),
        logger: traceLogger(world, name),
      },
      resolved,
    );
    return this.#calls.watched<Cluster>(name, made);
  }

  /** What `join()` gave in the process of this node. Throws `INVALID_OPTIONS` while it is down. */
  node(name: string): NodeCluster {
    this.#requireOpen();
    const store = this.#host(name).running?.store;
    if (store === undefined) throw invalid(`${name} is down: start it, and wait until it is up.`);
    return this.#calls.watched<NodeCluster>(name, store);
  }

  /** Resolves after `ms` of true time. */
  sleep(ms: number): Promise<void> {
    this.#requireOpen();
    const { timeline } = this.#cluster.world;
    const passed = new Promise<void>((resolve) => {
      timeline.schedule(ms, undefined, resolve);
    });
    return this.#calls.follow("world", `sleep(${ms})`, passed);
  }

  /** Resolves right after the event that makes `condition` true; at once, where it is. It is asked after each event. */
  until(condition: () => boolean): Promise<void> {
    this.#requireOpen();
    const met = new Promise<void>((resolve, reject) => {
      this.#conditions.add({ isMet: condition, met: resolve, failed: reject });
    });
    const words = String(condition).replace(/\s+/g, " ");
    return this.#calls.follow("world", `until(${words.length > 80 ? `${words.slice(0, 80)}…` : words})`, met);
  }

  /**
   * What has to hold after every event from now on, said in a sentence: the run rejects with `INVARIANT_BROKEN` at the
   * first at which `condition` is false, or with what it throws.
   */
  always(sentence: string, condition: () => boolean): void {
    this.#requireOpen();
    this.#laws.set(sentence, condition);
  }

  /** Runs `fn` in real time, and lets no virtual time pass until it has settled: for a database, a file, a socket. */
  outside<T>(fn: () => T | Promise<T>): Promise<T> {
    this.#requireOpen();
    const result = inRealTime(async () => fn());
    this.#outsideCount += 1;
    const done = (): void => {
      this.#outsideCount -= 1;
    };
    const settled = result.then(done, done);
    const before = this.#outside;
    this.#outside = before === undefined ? settled : before.then(() => settled);
    return this.#calls.follow("world", "outside(…)", result);
  }

  /** For `forMs`, or until `resume`, the process is not scheduled, or its event loop is blocked. */
  pause(name: string, forMs?: number): void {
    this.#standStill(name, false, forMs);
  }

  /** Its whole machine is suspended: as `pause`, and `nowMs` of its clock stands still too, but not `bootMs`. */
  suspend(name: string, forMs?: number): void {
    this.#standStill(name, true, forMs);
  }

  /** It finds all that has arrived meanwhile. Nothing, where it does not stand still. */
  resume(name: string): void {
    const host = this.#hostOrUndefined(name);
    const process = this.#process(name);
    if (!process.isPaused) return;
    // An event loop may see to its timers first, or to what has arrived.
    const timersFirst = this.#wakings.happens(0.5);
    if (host !== undefined) this.#cluster.resume(host, timersFirst);
    else {
      this.#note(name, "resumed");
      process.resume(timersFirst);
    }
  }

  /** Kills the process. `silent`: its machine lost power, and the others find out by silence. */
  crash(name: string, { silent = false }: { readonly silent?: boolean } = {}): void {
    const process = this.#process(name);
    const host = this.#hostOrUndefined(name);
    if (host !== undefined) this.#cluster.crash(host, silent);
    else {
      this.#note(name, silent ? "power cut" : "killed");
      process.kill();
      this.#cluster.world.network.processEnded(process, silent);
    }
  }

  /** Starts a node that is down. A client is started by `connect`. */
  start(name: string): void {
    this.#requireOpen();
    const host = this.#host(name);
    if (host.isUp) throw invalid(`${name} runs already.`);
    this.#cluster.start(host);
  }

  /**
   * Cuts every path between different groups, silently, until `heal`. One group alone is cut off from all others that
   * there are by now.
   */
  partition(...groups: readonly (readonly string[])[]): void {
    const [only = []] = groups;
    const others = [...this.nodes, ...this.#clients.keys()].filter((name) => !only.includes(name));
    const apart = groups.length === 1 ? [only, others] : groups;
    for (const [at, name] of apart.flat().entries()) {
      this.#requireName(name);
      if (apart.flat().indexOf(name) !== at) throw invalid(`${name} is in two groups of a partition.`);
    }
    this.#note("##", `partition ${apart.map((group) => group.join(" ")).join(" | ")}`);
    for (const [from, to] of cutsBetween(...apart)) this.#cluster.world.network.cut(from, to);
  }

  /** Cuts one path in one direction, silently. */
  cut(from: string, to: string): void {
    this.#requireName(from);
    this.#requireName(to);
    this.#note("##", `cut ${from} → ${to}`);
    this.#cluster.world.network.cut(from, to);
  }

  /** Heals every path. */
  heal(): void {
    this.#note("##", "every path heals");
    this.#cluster.world.paths.healAll();
  }

  /** From now on its clock, and its timers with it, runs `rate` times as fast as true time. */
  setClockRate(name: string, rate: number): void {
    refuseUnless(rate > 0 && rate <= 100, "the rate of a clock", rate, "over 0 and at most 100");
    const process = this.#process(name);
    const host = this.#hostOrUndefined(name);
    if (host !== undefined) host.clockRate = rate;
    this.#note(name, `clock runs at ${rate}`);
    process.clock.setRate(rate);
  }

  /** Its clock leaps forward, and what becomes due by that is due at once. */
  leapClock(name: string, byMs: number): void {
    refuseUnless(byMs >= 0 && byMs <= 1e9, "the leap of a clock", byMs, "from 0 to 10^9 ms");
    const process = this.#process(name);
    this.#note(name, `clock leaps by ${byMs}`);
    process.clock.leap(byMs);
  }

  /** A line of yours in the trace, which is then part of its hash. */
  note(text: string): void {
    this.#note("test", text);
  }

  /** After an event: asks for what has to hold. @internal */
  look(): void {
    for (const [sentence, condition] of this.#laws) {
      try {
        if (condition()) continue;
        const where = `at ${this.nowMs} ms of virtual time`;
        this.#fail(new QuorateError("INVARIANT_BROKEN", `It does not hold ${where}: ${sentence}.`));
      } catch (error) {
        this.#fail(error);
      }
    }
  }

  /** Whether time has to stand still: for what is outside, or for who waited for a condition, who is told. @internal */
  mustStop(): boolean {
    let isAnyMet = false;
    for (const condition of this.#conditions) {
      try {
        if (!condition.isMet()) continue;
        condition.met();
      } catch (error) {
        condition.failed(error);
      }
      this.#conditions.delete(condition);
      isAnyMet = true;
    }
    return isAnyMet || this.#outsideCount > 0;
  }

  /** Resolves when nothing outside is waited for any more. @internal */
  async settled(): Promise<void> {
    while (this.#outsideCount > 0) await this.#outside;
  }

  /** What keeps it from doing anything, in words; nothing where it runs. @internal */
  plightOf(name: string): string {
    const process = this.#hostOrUndefined(name)?.process ?? this.#clients.get(name)?.process;
    if (process === undefined) return "";
    if (!process.isAlive) return " (killed)";
    return process.isPaused ? " (stands still)" : "";
  }

  /** @internal */
  end(): void {
    this.#isOver = true;
  }

  #startedClient(name: string): Client {
    const known = this.#clients.get(name);
    if (known?.process.isAlive === true) return known;
    const process = this.#cluster.world.process(name);
    this.#note(name, "process starts");
    const client = known ?? { name, process, connections: 0 };
    client.process = process;
    this.#clients.set(name, client);
    return client;
  }

  #standStill(name: string, isSuspended: boolean, forMs: number | undefined): void {
    const process = this.#process(name);
    const host = this.#hostOrUndefined(name);
    if (process.isPaused) throw invalid(`${name} stands still already.`);
    if (host !== undefined) this.#cluster.pause(host, isSuspended);
    else {
      this.#note(name, isSuspended ? "suspended" : "paused");
      if (isSuspended) process.suspend();
      else process.pause();
    }
    if (forMs === undefined) return;
    this.#cluster.world.timeline.schedule(forMs, undefined, () => {
      if (process.isAlive && this.#process(name) === process) this.resume(name);
    });
  }

  /** The process of that name, which runs or stands still. */
  #process(name: string): SimulatedProcess {
    this.#requireOpen();
    this.#requireName(name);
    const process = this.#hostOrUndefined(name)?.process ?? this.#clients.get(name)?.process;
    if (process?.isAlive !== true) throw invalid(`${name} is down.`);
    return process;
  }

  #hostOrUndefined(name: string): SimulatedHost | undefined {
    return this.#cluster.hosts.find((host) => host.name === name);
  }

  #host(name: string): SimulatedHost {
    const host = this.#hostOrUndefined(name);
    if (host === undefined) throw invalid(`There is no node ${name}: they are ${this.nodes.join(", ")}.`);
    return host;
  }

  #requireName(name: string): void {
    if (this.nodes.includes(name) || this.#clients.has(name)) return;
    const names = [...this.nodes, ...this.#clients.keys()];
    throw invalid(`Nobody is called ${name}: there are ${names.join(", ")}.`);
  }

  #requireOpen(): void {
    if (this.#isOver) throw new QuorateError("CLOSED", "This virtual cluster ended with its callback.");
  }

  #note(who: string, text: string): void {
    this.#requireOpen();
    this.#cluster.world.trace.note(who, text);
  }
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_OPTIONS", sentence);
}
