/**
 * Clients of the bare node: unique writes and linearizable reads through nodes chosen by chance. What they are told
 * goes to the oracle (serialOracle.ts, bareReads.ts).
 */
import { QuorateError } from "@quorate/raft";
import type { SimulatedCluster, SimulatedHost } from "../cluster/cluster.ts";
import { encodeSerial } from "../cluster/listMachine.ts";
import { outcomeOf } from "../recording/outcomeOf.ts";
import type { Chance } from "../world/chance.ts";
import { abortAfter, readAt } from "./bareReads.ts";
import type { ClientOperation } from "./operation.ts";
import { drawSerialOperation, SerialOracle } from "./serialOracle.ts";
import { emptyStats, type Workload, type WorkloadStats } from "./workload.ts";

export class SerialWorkload implements Workload {
  readonly stats: WorkloadStats = emptyStats();
  readonly oracle: SerialOracle;
  private readonly cluster: SimulatedCluster;
  private readonly chance: Chance;
  private readonly readShare: number;

  constructor(cluster: SimulatedCluster, readShare: number) {
    this.cluster = cluster;
    this.oracle = new SerialOracle(cluster.checks.history);
    this.chance = cluster.world.chance("workload");
    this.readShare = readShare;
  }

  draw(): ClientOperation | undefined {
    return drawSerialOperation(this.cluster, this.chance, this.readShare);
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
    const serial = this.oracle.begins();
    const ended = this.cluster.world.trace.observer?.operated(`at ${host.name}`, "write", `${serial}`);
    const abort = abortAfter(this.cluster, host, timeoutMs);
    try {
      const applied = await list.raft.propose(encodeSerial(serial), { signal: abort.signal });
      ended?.("ok");
      this.stats.acknowledged += 1;
      this.oracle.wrote(host, serial, applied.index, applied.result);
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
    return readAt(this.cluster, host, timeoutMs, this.oracle.acknowledgedIndex, this.stats);
  }

  checkFinally(host: SimulatedHost): void {
    this.oracle.checkFinally(host.running?.list?.machine.serials ?? []);
  }

  private writeFailed(host: SimulatedHost, serial: number, error: unknown): void {
    if (!(error instanceof QuorateError)) throw error;
    this.cluster.world.trace.note(
      host.name,
      `write ${serial} failed: ${error.code}, outcome ${error.outcome}`,
    );
    if (error.outcome === "none") {
      this.stats.failed += 1;
      this.oracle.didNotWrite(serial);
    } else this.stats.unknown += 1;
  }
}
