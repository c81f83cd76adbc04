/**
 * Work that is to be done once: a record of it is kept under the term of whoever did it. Written on the public API
 * alone.
 *
 * What is promised: as long as there is a record, the work is not run again; and no two run it at the same time who
 * check their lease. What is not: a process that dies after the work and before the record leaves none, so the work is
 * run again. Give an outside service an idempotency key.
 */
import type { Cluster, Json, RequestOptions } from "../cluster.ts";
import type { Lease, LeaseOptions } from "../leaseApi.ts";
import { taken } from "../optionNames.ts";
import { type WorkPorts, workUnder } from "./workUnderLease.ts";

/** `signal` and `timeoutMs` end the waiting for the lease; work that was done is recorded as long as that is held. */
export interface OnceOptions extends RequestOptions {
  readonly ttlMs?: LeaseOptions["ttlMs"];
}

export interface OnceResult<Result> {
  readonly result: Result;
  /** False where the record told it. */
  readonly ran: boolean;
}

const prefix = "quorate/once/";
/** The longest that a request may take. */
const longestMs = 2_147_483_647;

/** `key` names the work: "charge/42/2026-11". The result is kept as JSON, and given to whoever asks later. */
export async function doOnce<Result extends Json>(
  cluster: Pick<Cluster, "kv" | "lease"> & WorkPorts,
  key: string,
  work: (lease: Lease) => Result | Promise<Result>,
  options: OnceOptions,
): Promise<OnceResult<Result>> {
  const { ttlMs, ...request } = taken("cluster.once", options);
  const record = prefix + key;
  const recorded = async (): Promise<OnceResult<Result> | undefined> => {
    const found = await cluster.kv.get(record, request);
    return found === undefined
      ? undefined
      : { result: (found.value as { readonly result: Result }).result, ran: false };
  };
  const before = await recorded();
  if (before !== undefined) return before;
  const lease = await cluster.lease.acquire(record, ttlMs === undefined ? request : { ...request, ttlMs });
  const outcome = await workUnder(
    cluster,
    lease,
    async (held) => {
      const meanwhile = await recorded();
      if (meanwhile !== undefined) return meanwhile;
      const result = await held.run(work);
      // It is done: whoever asked may have gone by now, or be in a hurry, but without a record it would be done again.
      await cluster.kv.put(record, { result }, { fence: held, signal: held.signal, timeoutMs: longestMs });
      return { result, ran: true };
    },
    {},
  );
  if (outcome.kind === "done") return outcome.result;
  throw outcome.error;
}
