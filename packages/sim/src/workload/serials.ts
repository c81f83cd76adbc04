/**
 * Clients of the bare node: unique writes and linearizable reads through nodes chosen by chance, and the oracle over
 * what they were told.
 *
 * Every outcome is taken at its word: an acknowledged write is there for ever, a definite failure never is, an unknown
 * one at most once. A read must see whatever was acknowledged, by anyone, before it was asked.
 */
import { QuorateError } from "@quorate/raft";
import type { SimulatedCluster, SimulatedHost } from "../cluster/cluster.ts";
import { encodeSerial, type Listed } from "../cluster/listMachine.ts";
import type { History } from "../invariants/history.ts";
import { outcomeOf } from "../recording/outcomeOf.ts";
import type { Chance } from "../world/chance.ts";
import { abortAfter, readAt } from "./bareReads.ts";
import type { ClientOperation } from "./operation.ts";
import { emptyStats, type Workload, type WorkloadStats } from "./workload.ts";

export class SerialWorkload implements Workload {
  readonly stats: WorkloadStats = emptyStats();
  /** The index of each acknowledged write, by serial. */
  readonly acknowledged: Map<number, number> = new Map();
  /** Writes that certainly did not happen. */
  readonly failed: Set<number> = new Set();
  /** The highest index whose write was acknowledged to anybody. */
  private acknowledgedIndex = 0;
  private lastSerial = 0;
  private readonly cluster: SimulatedCluster;
  private readonly history: History;
  private readonly chance: Chance;
  private readonly readShare: number;

  constructor(cluster: SimulatedCluster, readShare: number) {
    this.cluster = cluster;
    this.history = cluster.checks.history;
    this.chance = cluster.world.chance("workload");
    this.readShare = readShare;
  }

  /** Mostly through a node that believes to lead, as clients do, at times through any. */
  draw(): ClientOperation | undefined {
    const { chance, cluster } = this;
    const hosts = cluster.up().filter((host) => host.running !== undefined && !host.isPaused);
    if (hosts.length === 0) return undefined;
    const any = chance.pick(hosts);
    const isRead = chance.happens(this.readShare);
    const leaders = hosts.filter((host) => host.member?.state?.role === "leader");
    const timeoutMs = chance.between(50, 2_000);
    if (isRead) return { kind: "read", node: any.name, timeoutMs };
    const writer = leaders.length > 0 && chance.happens(0.9) ? chance.pick(leaders) : any;
    return { kind: "write", node: writer.name, timeoutMs };
  }

  perform(operation: ClientOperation): void {
    if (operation.kind !== "read" && operation.kind !== "write") return;
    const host = this.cluster.hosts.find(({ name }) => name === operation.node);
    if (host?.running === undefined || host.isPaused) return;
    void this[operation.kind](host, operation.timeoutMs);
  }

  operate(): void {
    const operation = this.draw();
    if (operation !== undefined) this.perform(operation);
  }

  /** Only a leader takes a write of the bare node. */
  takesWrites(host: SimulatedHost): boolean {
    return host === this.cluster.leader();
  }

  /** Writes or reads through `host`; resolves, with whether it worked, or never if the node dies first. */
  async write(host: SimulatedHost, timeoutMs: number): Promise<boolean> {
    const list = host.running?.list;
    if (list === undefined) return false;
    this.lastSerial += 1;
    const serial = this.lastSerial;
    const ended = this.cluster.world.trace.observer?.operated(`at ${host.name}`, "write", `${serial}`);
    const abort = abortAfter(this.cluster, host, timeoutMs);
    try {
      const applied = await list.raft.propose(encodeSerial(serial), { signal: abort.signal });
      ended?.("ok");
      this.succeeded(host, serial, applied.index, applied.result);
      return true;
    } catch (error) {
      ended?.(outcomeOf(error));
      this.writeFailed(host, serial, error);
      return false;
    } finally {
      abort.cancel();
    }
  }

  read(host: SimulatedHost, timeoutMs: number): Promise<boolean> {
    return readAt(this.cluster, host, timeoutMs, this.acknowledgedIndex, this.stats);
  }

  /** At the end, on a converged log: what was acknowledged is there, once; what failed is not. */
  checkFinally(host: SimulatedHost): void {
    const serials = host.running?.list?.machine.serials ?? [];
    const counts = new Map<number, number>();
    for (const serial of serials) counts.set(serial, (counts.get(serial) ?? 0) + 1);
    for (const [serial, count] of counts) {
      this.history.require(count === 1, "exactly once", () => `write ${serial} is in the log ${count} times`);
      this.history.require(
        serial <= this.lastSerial && !this.failed.has(serial),
        "exactly once",
        () => `write ${serial} is in the log, though its client was told that it did not happen`,
      );
    }
    for (const serial of this.acknowledged.keys()) {
      this.history.require(counts.has(serial), "durability", () => `acknowledged write ${serial} is gone`);
    }
  }

  private succeeded(host: SimulatedHost, serial: number, index: number, result: Listed): void {
    this.stats.acknowledged += 1;
    this.acknowledged.set(serial, index);
    this.acknowledgedIndex = Math.max(this.acknowledgedIndex, index);
    this.history.require(
      result.serial === serial && this.history.commitIndex >= index,
      "durability",
      () => `${host.name} acknowledges write ${serial} at ${index} with the result of ${result.serial}`,
    );
  }

  private writeFailed(host: SimulatedHost, serial: number, error: unknown): void {
    if (!(error instanceof QuorateError)) throw error;
    this.cluster.world.trace.note(
      host.name,
      `write ${serial} failed: ${error.code}, outcome ${error.outcome}`,
    );
    if (error.outcome === "none") {
      this.stats.failed += 1;
      this.failed.add(serial);
    } else this.stats.unknown += 1;
  }
}
