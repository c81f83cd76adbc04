/** A lock: a lease, taken for a piece of work. Written on the public API alone. */
import type { Cluster, RequestOptions } from "../cluster.ts";
import type { Lease, LeaseOptions } from "../leaseApi.ts";
import { taken } from "../optionNames.ts";
import {
  requireWorkOptions,
  type Work,
  type WorkOptions,
  type WorkPorts,
  workUnder,
} from "./workUnderLease.ts";

export interface Lock {
  readonly name: string;
  /** Waits for its turn; `signal` and `timeoutMs` take the place back. Hold it with `await using`. */
  acquire(options?: LeaseOptions): Promise<Lease>;
  /** Undefined where somebody has it. */
  tryAcquire(options?: LeaseOptions): Promise<Lease | undefined>;
  /**
   * Acquires, runs, and releases when `work` has settled; gives what it gives. Rejects `LeaseLostError` where the lock
   * was lost meanwhile, whatever the work came to: what it threw is the error's `cause`.
   */
  run<Result>(work: Work<Result>, options?: LeaseOptions & WorkOptions): Promise<Result>;
}

export type LockCluster = Pick<Cluster, "lease"> & WorkPorts;

export function createLock(cluster: LockCluster, name: string): Lock {
  return {
    name,
    acquire: async (options) => cluster.lease.acquire(name, taken("lock.acquire", options)),
    tryAcquire: async (options) => cluster.lease.tryAcquire(name, taken("lock.tryAcquire", options)),
    run: async (work, options = {}) => runLocked(cluster, name, work, taken("lock.run", options)),
  };
}

/** As redlock has it: all of the names or none, `ms` the time to live, renewed as long as `work` runs. */
export function usingLocks<Result>(
  cluster: LockCluster,
  names: string | readonly string[],
  ms: number,
  work: (signal: AbortSignal, lease: Lease) => Result | Promise<Result>,
  options: RequestOptions = {},
): Promise<Result> {
  const request = taken("cluster.using", options);
  return runLocked(cluster, names, (lease) => work(lease.signal, lease), { ...request, ttlMs: ms });
}

async function runLocked<Result>(
  cluster: LockCluster,
  names: string | readonly string[],
  work: Work<Result>,
  { exitOnLossMs, exit, ...options }: LeaseOptions & WorkOptions,
): Promise<Result> {
  const workOptions: WorkOptions = {
    ...(exitOnLossMs === undefined ? {} : { exitOnLossMs }),
    ...(exit === undefined ? {} : { exit }),
  };
  requireWorkOptions(workOptions);
  const lease = await cluster.lease.acquire(names, options);
  const outcome = await workUnder(cluster, lease, work, workOptions);
  if (outcome.kind === "done") return outcome.result;
  throw outcome.error;
}
