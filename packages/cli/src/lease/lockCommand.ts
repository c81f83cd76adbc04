/**
 * `quorate lock NAME -- CMD…` and `quorate elect NAME -- CMD…`: a command under a lease. Exit codes of their own are
 * kept apart from the command's: 120 not acquired, 121 lost, 125 for every failure of ours, 126 and 127 as of `env`.
 */
import { hostname } from "node:os";
import type { Cluster, Lease } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { connectionOptions, withCluster } from "../commands/clusterConnection.ts";
import { CommandFailure, exitCodes, quorateError } from "../exitCodes.ts";
import { durationOption } from "../optionValues.ts";
import { UsageError } from "../usageError.ts";
import { type Ending, runGuarded } from "./guardedChild.ts";
import { Interruption } from "./interruption.ts";
import { SilenceNotice } from "./silenceNotice.ts";

export const defaultTtlMs = 15_000;

/** The command is asked to end when two renewals have failed: a quarter of the time is left then. */
const graceOfTtl = 0.25;
const mostGraceMs = 5_000;

/** How long the cluster may take to say whether it is there, when a wait is over. */
const answerMs = 1_000;

export interface Waiting {
  readonly ttlMs: number;
  /** 0: not at all; undefined: as long as it takes. */
  readonly waitMs: number | undefined;
}

export async function runLock(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const waiting = waitingOptions(options);
  return withLeases(waiting.ttlMs, options, async (cluster, interruption) => {
    const [name = "", ...words] = positionals;
    const lease = await acquired(cluster, name, waiting, interruption);
    return exitCodeOfEnding(await runUnder(lease, words, waiting.ttlMs, interruption));
  });
}

export async function runElect(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const ttlMs = durationOption(options, "ttl") ?? defaultTtlMs;
  return withLeases(ttlMs, options, async (cluster, interruption) => {
    const [name = "", ...words] = positionals;
    for (;;) {
      const lease = await acquired(cluster, name, { ttlMs, waitMs: undefined }, interruption);
      const ending = await runUnder(lease, words, ttlMs, interruption);
      // Who was asked to end, and lost the lease as well, does not begin anew.
      const isOver = ending.kind !== "lost" || options.once === true || interruption.signal.aborted;
      if (isOver) return exitCodeOfEnding(ending);
      process.stderr.write(
        `quorate: gave up or lost ${JSON.stringify(name)} of term ${lease.term}; standing again.\n`,
      );
    }
  });
}

export function waitingOptions(options: GivenOptions): Waiting {
  const waitMs = durationOption(options, "wait");
  if (options.try && waitMs !== undefined) {
    throw new UsageError("--try and --wait contradict each other: --try does not wait.");
  }
  return { ttlMs: durationOption(options, "ttl") ?? defaultTtlMs, waitMs: options.try ? 0 : waitMs };
}

export async function withLeases(
  ttlMs: number,
  options: GivenOptions,
  use: (cluster: Cluster, interruption: Interruption) => Promise<number>,
): Promise<number> {
  // To the end of the session: what is not given back stays taken for its time.
  using interruption = new Interruption();
  return await withCluster(connectionOptions(options), (cluster) => use(cluster, interruption), {
    session: true,
    sessionTtlMs: ttlMs,
  });
}

/** Rejects with exit code 120 where somebody else has it for as long as we may wait. */
export async function acquired(
  cluster: Cluster,
  name: string,
  { waitMs }: Waiting,
  { signal: interrupted }: Interruption,
): Promise<Lease> {
  const holder = `${hostname()}/${process.pid}`;
  const late = new AbortController();
  const timer = waitMs ? setTimeout(() => late.abort(), waitMs) : undefined;
  const signal = AbortSignal.any([interrupted, late.signal]);
  try {
    if (waitMs === 0) {
      const lease = await tried(cluster, name, { holder, signal });
      if (lease !== undefined) return lease;
      throw notAcquired(`Somebody else has ${JSON.stringify(name)}.`);
    }
    using _notice = new SilenceNotice(cluster, name);
    return await cluster.lease.acquire(name, { holder, signal });
  } catch (error) {
    if (quorateError(error)?.code !== "ABORTED") throw error;
    // Of a cluster that does not answer nobody knows who has what: that is a failure, and no lock of somebody else's.
    await cluster.lease.get(name, { timeoutMs: answerMs });
    const why = interrupted.aborted
      ? `still waited for when ${interrupted.reason} came`
      : `not free within ${waitMs} ms`;
    throw notAcquired(`${JSON.stringify(name)} was ${why}.`);
  } finally {
    clearTimeout(timer);
  }
}

/** A cluster that grants nothing yet is no failure of ours. */
async function tried(
  cluster: Cluster,
  name: string,
  options: { readonly holder: string; readonly signal: AbortSignal },
): Promise<Lease | undefined> {
  try {
    return await cluster.lease.tryAcquire(name, options);
  } catch (error) {
    const fields = quorateError(error);
    throw fields?.code === "GRACE_PERIOD" ? notAcquired(fields.message) : error;
  }
}

async function runUnder(
  lease: Lease,
  words: readonly string[],
  ttlMs: number,
  interruption: Interruption,
): Promise<Ending> {
  interruption.isCommandRunning = true;
  try {
    return await runGuarded(lease, {
      words: words as [string, ...string[]],
      environment: {
        ...process.env,
        QUORATE_TERM: String(lease.term),
        // Renewals move it on: it is the earliest that it can be.
        QUORATE_DEADLINE: String(Math.floor(wallNowMs() + lease.remainingMs())),
      },
      graceMs: Math.min(mostGraceMs, ttlMs * graceOfTtl),
    });
  } finally {
    interruption.isCommandRunning = false;
    await released(lease);
  }
}

/** The command's end is what counts; a lease that cannot be given back ends by its time. */
async function released(lease: Lease): Promise<void> {
  try {
    await lease.release();
  } catch (error) {
    process.stderr.write(`quorate: ${(error as Error).message} The lease ends by its time.\n`);
  }
}

function exitCodeOfEnding(ending: Ending): number {
  switch (ending.kind) {
    case "exited":
      return ending.code;
    case "lost":
      process.stderr.write(
        "quorate: the lease was asked for, in danger or lost, and the command was ended.\n",
      );
      return exitCodes.leaseLost;
    case "notStarted":
      throw new CommandFailure(ending.code, `The command cannot be run: ${ending.message}.`);
    default:
      return unknownEnding(ending);
  }
}

function unknownEnding(ending: never): never {
  throw new Error(`unreachable: ${JSON.stringify(ending)}`);
}

function notAcquired(sentence: string): CommandFailure {
  return new CommandFailure(exitCodes.notAcquired, sentence);
}

/** The environment of another program speaks of wall time, in ms since 1970. */
function wallNowMs(): number {
  return performance.timeOrigin + performance.now();
}
