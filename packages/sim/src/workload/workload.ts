/** What clients do to a simulated cluster, and what they hold it to. */
import type { FaultyHost } from "../faults/faultyCluster.ts";
import type { LeaseCandidate } from "./leaseCandidate.ts";
import type { ClientOperation } from "./operation.ts";

export interface WorkloadStats {
  acknowledged: number;
  /** With a definite outcome: certainly not done. */
  failed: number;
  unknown: number;
  reads: number;
  readsFailed: number;
}

export function emptyStats(): WorkloadStats {
  return { acknowledged: 0, failed: 0, unknown: 0, reads: 0, readsFailed: 0 };
}

/** Something worth telling, and when it happened, in virtual milliseconds from the start. */
export interface Happening {
  readonly atMs: number;
  readonly sentence: string;
}

/** Clients with leases, as the liveness phase needs them. */
export interface LeaseLiveness {
  /** Clients take leases in this run. */
  readonly areWanted: boolean;
  /** Of a session of theirs. */
  readonly longestTtlMs: number;
  /** What a client still has that is gone, or nobody has though somebody waits, in words; as the leader has it. */
  leftOver(): string | undefined;
  /** A new client, which has asked for nothing yet. */
  candidate(): LeaseCandidate;
}

export interface Workload {
  readonly stats: WorkloadStats;
  /** One more operation, chosen by chance; undefined: nobody has a hand free. */
  draw(): ClientOperation | undefined;
  perform(operation: ClientOperation): void;
  /** As `draw`, of the clients with leases, which have a pace of their own. */
  drawLease?(): ClientOperation | undefined;
  /** Left out where nobody takes leases. */
  readonly leases?: LeaseLiveness;
  /** Called after each event. */
  look?(): void;
  /** Draws one and performs it. */
  operate(): void;
  /** One write, or linearizable read, through `host`; resolves with whether it worked. */
  write(host: FaultyHost, timeoutMs: number): Promise<boolean>;
  read(host: FaultyHost, timeoutMs: number): Promise<boolean>;
  /** Whether a write through this node can work at all. */
  takesWrites(host: FaultyHost): boolean;
  /** When all nodes are equal: what was acknowledged is there, what failed is not. `host` is one of them. */
  checkFinally(host: FaultyHost): void;
  /** The open watches that lack something, in words; left out where there are none. */
  untold?(): string | undefined;
  /** Holds all that clients were told against the checker; gives back how many operations, 0 if none was recorded. */
  checkHistory?(): number;
  /** What clients sent more than once, not knowing what became of it, and where each copy was applied. */
  repetitions?(): readonly Happening[];
}
