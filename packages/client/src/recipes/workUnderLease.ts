/**
 * Runs work as long as a lease is held, and gives the lease back when the work has **settled**: never before, for it
 * would go on beside its successor's.
 */
import { type Clock, QuorateError } from "@quorate/raft";
import type { Lease } from "../leaseApi.ts";
import { LeaseLostError } from "../leaseLostError.ts";

const closedUnderWay =
  "The cluster object was closed while work ran under one of its leases, which ended with it: that work may have gone " +
  "on beside another holder's. End the work first, and close then.";

export type Work<Result> = (lease: Lease) => Result | Promise<Result>;

export interface WorkOptions {
  /**
   * Work that goes on for so long after its lease was lost ends this process, with exit code 1: it ignores its signal,
   * and somebody else does the same work by now. Default: it is waited for.
   */
  readonly exitOnLossMs?: number;
  /** For tests, in place of `process.exit(1)`. */
  readonly exit?: (error: LeaseLostError) => void;
}

export interface WorkPorts {
  readonly clock: Clock;
  /** Told of work under way. */
  readonly works?: { began(lease: Lease): () => void };
}

export type WorkOutcome<Result> =
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: unknown }
  /** Whatever it gave: part of it may have been done beside another holder's. What it threw is the error's cause. */
  | { readonly kind: "lost"; readonly error: LeaseLostError };

/** Before a lease is acquired for it: throws `INVALID_OPTIONS`. */
export function requireWorkOptions({ exitOnLossMs = 0 }: WorkOptions): void {
  if (exitOnLossMs >= 0) return;
  throw new QuorateError(
    "INVALID_OPTIONS",
    `exitOnLossMs is ${exitOnLossMs}; it has to be a number of milliseconds from 0.`,
  );
}

export async function workUnder<Result>(
  { clock, works }: WorkPorts,
  lease: Lease,
  work: Work<Result>,
  options: WorkOptions,
): Promise<WorkOutcome<Result>> {
  const hasSettled = works?.began(lease);
  const stopWatching = watchOverdue(clock, lease, options);
  try {
    const outcome = await settled(lease, work);
    return judged(outcome, lossOf(lease));
  } finally {
    hasSettled?.();
    stopWatching();
    await lease[Symbol.asyncDispose]();
  }
}

async function settled<Result>(lease: Lease, work: Work<Result>): Promise<WorkOutcome<Result>> {
  try {
    lease.check();
    return { kind: "done", result: await work(lease) };
  } catch (error) {
    return { kind: "failed", error };
  }
}

/** What has become of the work, which has settled, by what has become of its lease. */
function judged<Result>(outcome: WorkOutcome<Result>, loss: LeaseLostError | undefined): WorkOutcome<Result> {
  if (loss === undefined || loss.reason === "released") return outcome;
  const failure = outcome.kind === "failed" && !tellsOf(loss, outcome.error) ? outcome : undefined;
  if (loss.reason !== "closed") return { kind: "lost", error: failure ? caused(loss, failure.error) : loss };
  // Its own error tells more.
  if (failure !== undefined) return failure;
  return { kind: "failed", error: new QuorateError("CLOSED", closedUnderWay, { cause: loss }) };
}

/** The loss of another lease, which the work held besides, is an error of its own. */
function tellsOf({ lease, term }: LeaseLostError, error: unknown): boolean {
  return error instanceof LeaseLostError && error.lease === lease && error.term === term;
}

/** Not the loss itself, which everybody is told who has its signal. */
function caused({ lease, term, reason }: LeaseLostError, cause: unknown): LeaseLostError {
  return new LeaseLostError(lease, term, reason, cause);
}

/** As of now; the signal may not have fired yet. */
function lossOf(lease: Lease): LeaseLostError | undefined {
  try {
    lease.check();
    return undefined;
  } catch (error) {
    if (error instanceof LeaseLostError) return error;
    throw error;
  }
}

function watchOverdue(clock: Clock, lease: Lease, options: WorkOptions): () => void {
  const { exitOnLossMs, exit = () => process.exit(1) } = options;
  if (exitOnLossMs === undefined) return () => {};
  let cancelTimer = (): void => {};
  const onLoss = (): void => {
    cancelTimer = clock.after(exitOnLossMs, () => exit(lease.signal.reason as LeaseLostError));
  };
  lease.signal.addEventListener("abort", onLoss, { once: true });
  return () => {
    lease.signal.removeEventListener("abort", onLoss);
    cancelTimer();
  };
}
