/**
 * Clients of the whole store: the shipped client, each in a process of its own, all on one host.
 *
 * They put unique values, conditionally at times, and read, a few operations at once; now and then one leaves, politely
 * or not, and another comes. All they are told goes to the oracle.
 */
import type { Cluster, CompactedError, ConflictError } from "@quorate/client";
import { createCluster } from "@quorate/client/internal";
import type { CommandResult } from "@quorate/client/protocol";
import type { StoreState } from "@quorate/kv/machine";
import { QuorateError } from "@quorate/raft";
import { traceLogger } from "../cluster/assembly.ts";
import type { SimulatedCluster, SimulatedHost } from "../cluster/cluster.ts";
import { clientsHost } from "../network/network.ts";
import { outcomeOf } from "../recording/outcomeOf.ts";
import type { Chance } from "../world/chance.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { ClientCall, ClientHistory } from "./clientHistory.ts";
import { depart } from "./departure.ts";
import { LeaseClients } from "./leaseClients.ts";
import { type ClientOperation, isOfLeases } from "./operation.ts";
import { StoreOracle } from "./oracle.ts";
import { WatchWitness } from "./watchWitness.ts";
import { emptyStats, type Workload, type WorkloadStats } from "./workload.ts";

const keys = ["k/a", "k/b", "k/c", "k/d"] as const;
const clientsAtOnce = 3;
const maxUnderWay = 4;
/** Of the reads, one in so many is of the past. */
const pastOneIn = 8;
const watchPatienceMs = 60_000;

interface StoreClient {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly cluster: Cluster;
  readonly witness: WatchWitness;
  underWay: number;
}

interface Asked {
  readonly key: string;
  readonly timeoutMs?: number;
  /** Whose hands it keeps busy. */
  readonly client?: StoreClient;
}

export class StoreWorkload implements Workload {
  readonly stats: WorkloadStats = emptyStats();
  readonly oracle: StoreOracle;
  private readonly cluster: SimulatedCluster;
  /** Which operations there are; read by `draw` alone, so that a replay needs none of it. */
  private readonly drawing: Chance;
  /** What clients are like, and operations that nobody drew. */
  private readonly chance: Chance;
  private readonly readShare: number;
  /** What clients watch, and how much history there is for it. */
  private readonly watching: Chance;
  private getsBegun = 0;
  private readonly clients: (StoreClient | undefined)[] = [];
  private clientsMade = 0;
  private lastSerial = 0;

  private readonly recorded: ClientHistory | undefined;
  readonly leases: LeaseClients;

  /** `recorded` gets all that the clients do, for the checker of linearizability. */
  constructor(
    cluster: SimulatedCluster,
    readShare: number,
    recorded?: ClientHistory,
    leaseClients: number = 0,
  ) {
    this.recorded = recorded;
    this.leases = new LeaseClients(cluster, leaseClients, (key) => this.begunSerial(key));
    this.cluster = cluster;
    this.drawing = cluster.world.chance("workload");
    this.chance = cluster.world.chance("clients");
    this.readShare = readShare;
    this.watching = cluster.world.chance("watches");
    this.oracle = new StoreOracle(cluster.checks.history);
    cluster.checks.application.onFirst = (entry, result, state) => {
      const store = state as StoreState;
      if (this.leases.areThere && this.leases.oracle.applied(entry, result as CommandResult, store)) {
        this.oracle.revisionIs(store.revision);
        return;
      }
      const serial = this.oracle.applied(entry, result);
      if (serial !== undefined) recorded?.tookEffect(serial);
    };
  }

  draw(): ClientOperation | undefined {
    const { drawing } = this;
    const client = drawing.below(clientsAtOnce);
    const choice = drawing.fraction();
    const key = drawing.pick(keys);
    if (choice < 0.004) {
      return { kind: "leave", client, polite: drawing.happens(0.5), silent: drawing.happens(0.5) };
    }
    if ((this.clients[client]?.underWay ?? 0) >= maxUnderWay) return undefined;
    if (choice < this.readShare) return { kind: "get", client, key };
    return { kind: "put", client, key, conditional: drawing.happens(0.2) };
  }

  perform(operation: ClientOperation): void {
    if (isOfLeases(operation)) this.leases.perform(operation);
    if (operation.kind !== "get" && operation.kind !== "put" && operation.kind !== "leave") return;
    const place = operation.client;
    if (operation.kind === "leave") {
      const leaving = this.clients[place];
      if (leaving !== undefined) this.leave(leaving, operation.polite, operation.silent);
      return;
    }
    this.clients[place] ??= this.connect();
    const client = this.clients[place];
    const { key } = operation;
    if (operation.kind === "get") void this.get(client.name, client.cluster, { key, client });
    else void this.put(client.name, client.cluster, { key, client, conditional: operation.conditional });
  }

  drawLease(): ClientOperation | undefined {
    return this.leases.draw();
  }

  look(): void {
    this.leases.oracle.look();
  }

  operate(): void {
    const operation = this.draw();
    if (operation !== undefined) this.perform(operation);
  }

  write(host: SimulatedHost, timeoutMs: number): Promise<boolean> {
    const store = host.running?.store;
    if (store === undefined) return Promise.resolve(false);
    const key = this.chance.pick(keys);
    return this.put(host.name, store, { key, timeoutMs, conditional: this.chance.happens(0.2) });
  }

  read(host: SimulatedHost, timeoutMs: number): Promise<boolean> {
    const store = host.running?.store;
    if (store === undefined) return Promise.resolve(false);
    return this.get(host.name, store, { key: this.chance.pick(keys), timeoutMs });
  }

  takesWrites(): boolean {
    return true;
  }

  checkFinally(host: SimulatedHost): void {
    const pairs = host.running?.store?.host.store.pairs;
    const revisions = new Map<string, number>();
    for (const { key, modRevision } of pairs?.pairs() ?? []) revisions.set(key, modRevision);
    this.oracle.checkFinally(pairs === undefined ? undefined : revisions);
  }

  checkHistory(): number {
    return this.recorded?.check(this.cluster.checks.history) ?? 0;
  }

  /** Ends every client, waits for none. */
  closeAll(): void {
    for (const client of this.clients.splice(0)) void client?.cluster.close();
  }

  connect(sessionTtlMs: number = 3_000): StoreClient {
    const { world } = this.cluster;
    this.clientsMade += 1;
    const name = `k${this.clientsMade}`;
    const process = world.process(name);
    const random = world.chance(`client ${name}`);
    const cluster = createCluster(
      {
        network: world.network.portOf(process, clientsHost),
        clock: process.clock,
        random,
        logger: traceLogger(world, name),
      },
      {
        endpoints: this.chance.shuffled(this.cluster.hosts).map((host) => host.address),
        requestTimeoutMs: this.chance.pick([300, 1_000, 5_000]),
        sessionTtlMs,
        session: true,
      },
    );
    const key = this.watching.happens(0.5) ? undefined : this.watching.pick(keys);
    const witness = new WatchWitness(this.cluster.checks.history, this.oracle, name, key);
    void this.watch(cluster, witness);
    if (this.watching.happens(0.3)) void this.limitHistory(cluster, 1 + this.watching.below(40));
    return { name, process, cluster, witness, underWay: 0 };
  }

  leave(
    client: StoreClient,
    isPolite: boolean = this.chance.happens(0.5),
    isSilent: boolean = this.chance.happens(0.5),
  ): void {
    const at = this.clients.indexOf(client);
    if (at >= 0) this.clients[at] = undefined;
    depart(this.cluster, client, "client", isPolite, isSilent);
  }

  /** The watches that lack something, in words: undefined where all that are open have been told everything. */
  untold(): string | undefined {
    const lacking = this.clients.filter((client) => client !== undefined && !client.witness.isComplete);
    return lacking.length === 0 ? undefined : lacking.map((client) => client?.witness.words).join(", ");
  }

  /** For as long as its client is there; begun anew where history was cut away. */
  private async watch(cluster: Cluster, witness: WatchWitness): Promise<void> {
    for (;;) {
      const toldBefore = this.oracle.told;
      const watch = cluster.kv.watch(witness.key ?? { prefix: "" }, { progress: true });
      try {
        const { revision } = await watch.started({ timeoutMs: watchPatienceMs });
        witness.began(revision, toldBefore);
        for await (const event of watch) {
          if (event.kind === "progress") witness.progressed(event.revision);
          else witness.told(event.key, event.revision, event.kind === "put" ? event.entry.value : undefined);
        }
      } catch (error) {
        if (!(error instanceof QuorateError)) throw error;
        await watch.return();
        if (isCompacted(error)) witness.compacted(error.floor);
        else if (error.code !== "TIMED_OUT") {
          this.cluster.world.trace.note(witness.client, `its watch ended: ${error.code}: ${error.message}`);
          return;
        }
      }
    }
  }

  /** Of a write to `key` that is about to be sent. */
  private begunSerial(key: string): number {
    this.lastSerial += 1;
    this.oracle.begins(key, this.lastSerial);
    return this.lastSerial;
  }

  private async put(
    name: string,
    cluster: Cluster,
    { key, conditional, timeoutMs, client }: Asked & { readonly conditional: boolean },
  ): Promise<boolean> {
    const serial = this.begunSerial(key);
    const floor = this.oracle.floor(key);
    const toldBefore = this.oracle.told;
    const ended = this.cluster.world.trace.observer?.operated(name, "write", `${key} ← ${serial}`);
    const call = this.recordPut(name, key, serial, conditional ? floor.revision : undefined);
    if (client !== undefined) client.underWay += 1;
    try {
      const { revision } = await cluster.kv.put(key, serial, {
        ...(conditional ? conditionOn(floor.revision) : {}),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      this.stats.acknowledged += 1;
      ended?.("ok");
      call?.ok({ kind: "done" });
      this.oracle.wrote(name, key, serial, revision, toldBefore);
      return true;
    } catch (error) {
      ended?.(outcomeOf(error));
      if (isConflict(error)) this.oracle.read(name, key, floor, error.currentRevision, undefined);
      endFailed(call, error);
      this.writeFailed(name, serial, error);
      return isConflict(error);
    } finally {
      if (client !== undefined) client.underWay -= 1;
    }
  }

  /** `onRevision`: the condition, 0 for an absent key; undefined: none. */
  private recordPut(
    name: string,
    key: string,
    serial: number,
    onRevision: number | undefined,
  ): ClientCall | undefined {
    if (onRevision === undefined) return this.recorded?.put(name, key, serial);
    return this.recorded?.replace(name, key, this.oracle.serialOf(onRevision), serial);
  }

  private writeFailed(name: string, serial: number, error: unknown): void {
    if (!(error instanceof QuorateError)) throw error;
    this.cluster.world.trace.note(name, `write ${serial} failed: ${error.code}, outcome ${error.outcome}`);
    if (error.outcome === "none") {
      this.stats.failed += 1;
      this.oracle.didNotWrite(serial);
    } else this.stats.unknown += 1;
  }

  private async get(name: string, cluster: Cluster, { key, timeoutMs, client }: Asked): Promise<boolean> {
    this.getsBegun += 1;
    if (this.getsBegun % pastOneIn === 0 && this.oracle.told > 0) {
      return this.getPast(name, cluster, { key, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
    }
    const floor = this.oracle.floor(key);
    const ended = this.cluster.world.trace.observer?.operated(name, "read", key);
    const call = this.recorded?.get(name, key);
    if (client !== undefined) client.underWay += 1;
    try {
      const pair = await cluster.kv.get(key, timeoutMs === undefined ? {} : { timeoutMs });
      this.stats.reads += 1;
      ended?.("ok");
      const serial = pair === undefined ? undefined : (pair.value as number);
      call?.ok({ kind: "value", value: serial });
      this.oracle.read(name, key, floor, pair?.modRevision ?? 0, serial);
      return true;
    } catch (error) {
      ended?.(outcomeOf(error));
      if (!(error instanceof QuorateError)) throw error;
      call?.failed();
      this.stats.readsFailed += 1;
      return false;
    } finally {
      if (client !== undefined) client.underWay -= 1;
    }
  }

  /** So little that reads of the past and watches meet its end. */
  private async limitHistory(cluster: Cluster, historyRevisions: number): Promise<void> {
    try {
      await cluster.kv.limit({ historyRevisions });
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
    }
  }

  /** Of a revision that was told: every node gives the same, or says that it was cut away. */
  private async getPast(name: string, cluster: Cluster, { key, timeoutMs }: Asked): Promise<boolean> {
    const { told } = this.oracle;
    const revision = 1 + ((this.getsBegun * 7_919) % told);
    try {
      const pair = await cluster.kv.get(key, { revision, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      this.stats.reads += 1;
      this.oracle.readPast(name, key, revision, pair?.value);
      return true;
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
      if (isCompacted(error)) {
        const { history } = this.cluster.checks;
        history.mark("read of the past refused");
        history.require(
          error.floor > revision && error.floor <= this.oracle.revision,
          "linearizable reads",
          () => `${name} was refused revision ${revision} by the floor ${error.floor}`,
        );
        return true;
      }
      this.stats.readsFailed += 1;
      return false;
    }
  }
}

/** By its code, as `isConflict`. */
function isCompacted(error: QuorateError): error is CompactedError {
  return error.code === "COMPACTED";
}

function conditionOn(revision: number): { readonly ifRevision: number } | { readonly ifAbsent: true } {
  return revision === 0 ? { ifAbsent: true } : { ifRevision: revision };
}

/** A conflict is an answer; of the others, only those that are certain had no effect. */
function endFailed(call: ClientCall | undefined, error: unknown): void {
  if (isConflict(error)) call?.ok({ kind: "refused" });
  else if (error instanceof QuorateError && error.outcome === "none") call?.failed();
  else call?.unknown();
}

/** By its code: the class itself comes with sockets, which a simulation does not load. */
function isConflict(error: unknown): error is ConflictError {
  return error instanceof QuorateError && error.code === "CONFLICT";
}
