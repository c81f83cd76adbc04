/**
 * What clients of the list of serials hold the cluster to, whoever carries their operations.
 *
 * Every outcome is taken at its word: an acknowledged write is there for ever, a definite failure never is, an unknown
 * one at most once.
 */
import type { Listed } from "../cluster/listMachine.ts";
import type { FaultyCluster, FaultyHost } from "../faults/faultyCluster.ts";
import type { History } from "../invariants/history.ts";
import type { Chance } from "../world/chance.ts";
import type { ClientOperation } from "./operation.ts";

export class SerialOracle {
  /** The index of each acknowledged write, by serial. */
  readonly acknowledged: Map<number, number> = new Map();
  /** Writes that certainly did not happen. */
  readonly failed: Set<number> = new Set();
  /** The highest index whose write was acknowledged to anybody. */
  acknowledgedIndex = 0;
  private lastSerial = 0;
  private readonly history: History;

  constructor(history: History) {
    this.history = history;
  }

  /** The serial of a write that begins. */
  begins(): number {
    this.lastSerial += 1;
    return this.lastSerial;
  }

  wrote(host: FaultyHost, serial: number, index: number, result: Listed): void {
    this.acknowledged.set(serial, index);
    this.acknowledgedIndex = Math.max(this.acknowledgedIndex, index);
    this.history.require(
      result.serial === serial && this.history.commitIndex >= index,
      "durability",
      () => `${host.name} acknowledges write ${serial} at ${index} with the result of ${result.serial}`,
    );
  }

  didNotWrite(serial: number): void {
    this.failed.add(serial);
  }

  /** At the end, on a converged log: what was acknowledged is there, once; what failed is not. */
  checkFinally(serials: readonly number[]): void {
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
}

/** Mostly through a node that believes to lead, as clients do, at times through any. */
export function drawSerialOperation(
  cluster: FaultyCluster,
  chance: Chance,
  readShare: number,
): ClientOperation | undefined {
  const hosts = cluster.hosts.filter((host) => host.isUp && host.running !== undefined && !host.isPaused);
  if (hosts.length === 0) return undefined;
  const any = chance.pick(hosts);
  const isRead = chance.happens(readShare);
  const leaders = hosts.filter((host) => host.member?.state?.role === "leader");
  const timeoutMs = chance.between(50, 2_000);
  if (isRead) return { kind: "read", node: any.name, timeoutMs };
  const writer = leaders.length > 0 && chance.happens(0.9) ? chance.pick(leaders) : any;
  return { kind: "write", node: writer.name, timeoutMs };
}
