/**
 * Clients of the bare cores: unique writes and linearizable reads through nodes chosen by chance, held to the same
 * oracle as those of the bare node (workload/serialOracle.ts). No promise is made but for `write` and `read`, which the
 * recovery waits for.
 */
import type { Outcome } from "../page/browser/recording.ts";
import { checkRead } from "../workload/bareReads.ts";
import type { ClientOperation } from "../workload/operation.ts";
import { drawSerialOperation, SerialOracle } from "../workload/serialOracle.ts";
import { emptyStats, type Workload, type WorkloadStats } from "../workload/workload.ts";
import type { Chance } from "../world/chance.ts";
import type { CoreCluster, CoreHost } from "./coreCluster.ts";
import type { ReadEnd, WriteEnd } from "./coreRequests.ts";

type Told = (worked: boolean) => void;

export class CoreWorkload implements Workload {
  readonly stats: WorkloadStats = emptyStats();
  readonly oracle: SerialOracle;
  private readonly cluster: CoreCluster;
  private readonly chance: Chance;
  private readonly readShare: number;

  constructor(cluster: CoreCluster, readShare: number) {
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
    if (host === undefined || host.isPaused) return;
    if (operation.kind === "write") this.beginWrite(host, operation.timeoutMs, () => {});
    else this.beginRead(host, operation.timeoutMs, () => {});
  }

  operate(): void {
    const operation = this.draw();
    if (operation !== undefined) this.perform(operation);
  }

  /** Only a leader takes a write. */
  takesWrites(host: CoreHost): boolean {
    return host === this.cluster.leader();
  }

  /** Resolves with whether it worked, or never if the node dies first. */
  write(host: CoreHost, timeoutMs: number): Promise<boolean> {
    return this.promised((told) => this.beginWrite(host, timeoutMs, told));
  }

  read(host: CoreHost, timeoutMs: number): Promise<boolean> {
    return this.promised((told) => this.beginRead(host, timeoutMs, told));
  }

  checkFinally(host: CoreHost): void {
    this.oracle.checkFinally(host.running?.machine.serials ?? []);
  }

  private promised(begin: (told: Told) => void): Promise<boolean> {
    return new Promise((resolve) => {
      begin((worked) => {
        this.cluster.world.settlesPromises = true;
        resolve(worked);
      });
    });
  }

  private beginWrite(host: CoreHost, timeoutMs: number, told: Told): void {
    const { running } = host;
    if (running === undefined) {
      told(false);
      return;
    }
    const serial = this.oracle.begins();
    const ended = this.cluster.world.trace.observer?.operated(`at ${host.name}`, "write", `${serial}`);
    const end = this.once(host, timeoutMs, (outcome: WriteEnd | "timed out") => {
      const counted = this.countWrite(host, serial, outcome);
      ended?.(counted);
      told(counted === "ok");
    });
    running.write(serial, end);
  }

  private countWrite(host: CoreHost, serial: number, outcome: WriteEnd | "timed out"): Outcome {
    if (outcome !== "timed out" && outcome.kind === "applied") {
      this.stats.acknowledged += 1;
      this.oracle.wrote(host, serial, outcome.index, outcome.result);
      return "ok";
    }
    const isUnknown = outcome === "timed out" || outcome.kind === "unknown";
    const why = outcome === "timed out" ? outcome : outcome.reason;
    this.cluster.world.trace.note(
      host.name,
      `write ${serial} ${isUnknown ? "is unknown" : "failed"}: ${why}`,
    );
    if (isUnknown) {
      this.stats.unknown += 1;
      return "unknown";
    }
    this.stats.failed += 1;
    this.oracle.didNotWrite(serial);
    return "failed";
  }

  private beginRead(host: CoreHost, timeoutMs: number, told: Told): void {
    const { running } = host;
    if (running === undefined) {
      told(false);
      return;
    }
    const { history } = this.cluster.checks;
    const floor = { committed: history.commitIndex, acknowledged: this.oracle.acknowledgedIndex };
    const ended = this.cluster.world.trace.observer?.operated(`at ${host.name}`, "read", "read index");
    const end = this.once(host, timeoutMs, (outcome: ReadEnd | "timed out") => {
      const worked = outcome !== "timed out" && outcome.kind === "confirmed";
      if (worked) {
        this.stats.reads += 1;
        checkRead(history, host, floor, { ...outcome, seen: running.machine.appliedIndex });
      } else this.stats.readsFailed += 1;
      ended?.(worked ? "ok" : "failed");
      told(worked);
    });
    running.read(end);
  }

  /** Whichever comes first: the answer, or the end of the client's patience. */
  private once<End>(
    host: CoreHost,
    timeoutMs: number,
    tell: (end: End | "timed out") => void,
  ): (end: End) => void {
    let isOver = false;
    const finish = (end: End | "timed out"): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      tell(end);
    };
    const cancel = this.cluster.world.timeline.schedule(timeoutMs, host.process, () => finish("timed out"));
    return finish;
  }
}
