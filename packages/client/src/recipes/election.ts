/**
 * Leader election: candidates for one role, of which one leads at a time, under a term. Written on the public API
 * alone: the cluster decides who leads, by the order and the priorities of those who wait for the lease.
 */
import { QuorateError } from "@quorate/raft";
import type { Cluster, RequestOptions, Value } from "../cluster.ts";
import type { Lease, LeaseCandidate, LeaseInfo } from "../leaseApi.ts";
import type { LeaseLostError } from "../leaseLostError.ts";
import { taken } from "../optionNames.ts";
import { type ElectionOptions, electionLease } from "./electionOptions.ts";
import { tellNewLeaders } from "./newLeaders.ts";
import { pauseFor } from "./pause.ts";
import {
  requireWorkOptions,
  type Work,
  type WorkOptions,
  type WorkPorts,
  workUnder,
} from "./workUnderLease.ts";

export interface Leader {
  readonly term: number;
  readonly candidate: string;
  readonly data: unknown;
}

export interface LeadOptions extends WorkOptions {
  /**
   * Ends the campaigning: a candidate that waits rejects `ABORTED`. Work under way is waited for, so give it the same
   * signal; `lead` then gives what it gives.
   */
  readonly signal?: AbortSignal;
  /** After a loss, campaign again. Default true; with false it rejects `LeaseLostError`. */
  readonly rejoin?: boolean;
  /**
   * As client-go's `OnStoppedLeading`: called after each loss, once the work has settled, before it campaigns again.
   * What the work threw of its own is the error's `cause`. It may be `async`, and is waited for. What it throws or
   * rejects with, `lead` rejects with.
   */
  readonly onLost?: (error: LeaseLostError) => unknown;
  /**
   * As client-go's: called once with each new leader that this process hears of, in the order of their terms: the one
   * that leads when the campaign begins, and this candidate too. Not when a leader goes: `election.observe` and
   * `election.leader` tell that, and the own loss `lease.signal`. While this process is cut off, it hears of nobody.
   *
   * It may be `async`; one call is not waited for before the next, and `lead` settles when all have. What it throws or
   * rejects with, `lead` rejects with: at once while it waits, and once the work has settled while it leads.
   */
  readonly onNewLeader?: (leader: Leader) => unknown;
}

export interface Election {
  readonly name: string;
  /** Whether this candidate leads now, by its own deadline, as `lease.check()` decides it. */
  readonly isLeading: boolean;
  /**
   * Campaigns, runs `work` as the leader, gives up the role when it has settled, and gives what it gives. After a loss
   * it waits for the work to settle, tells `onLost`, and campaigns again. The work is to call `lease.check()` before
   * each effect.
   *
   * Rejects with what `work` throws while it leads, and does not campaign again then; `ABORTED` where the signal ends
   * the waiting; `CLOSED` where the cluster object is closed, after the work has settled; with what a callback has
   * failed with; with an `AggregateError` where there are several of these.
   */
  lead<Result>(work: Work<Result>, options?: LeadOptions): Promise<Result>;
  /** Waits until this candidate leads. Hold the lease with `await using`; `release` resigns. */
  campaign(options?: RequestOptions): Promise<Lease>;
  /** Who leads, then who stands, in the order in which they would lead. */
  candidates(options?: RequestOptions): Promise<readonly LeaseCandidate[]>;
  /**
   * Who leads now, as a majority of the cluster has it; undefined where nobody does. Rejects `TIMED_OUT` without a
   * majority: nobody can tell then.
   */
  leader(options?: RequestOptions): Promise<Leader | undefined>;
  /** Who leads now, and each change that is seen. Ends with `signal`. */
  observe(options?: { readonly signal?: AbortSignal }): AsyncIterable<Leader | undefined>;
  /** What everybody reads of the leader from now on: only while this candidate leads. */
  proclaim(data: Value, options?: RequestOptions): Promise<void>;
  /** Gives up the role. Does nothing where this candidate does not lead. */
  resign(options?: RequestOptions): Promise<void>;
}

/** Between campaigns that were refused. */
const firstPauseMs = 50;
const longestPauseMs = 1_000;

export type ElectionCluster = Pick<Cluster, "lease"> & WorkPorts;

export function createElection(cluster: ElectionCluster, name: string, options: ElectionOptions): Election {
  const leaseOptions = electionLease(options);
  let current: Lease | undefined;

  async function campaign(request: RequestOptions = {}): Promise<Lease> {
    const lease = await cluster.lease.acquire(name, { ...leaseOptions, ...request });
    current = lease;
    return lease;
  }

  const election: Election = {
    name,
    get isLeading() {
      return current !== undefined && current.remainingMs() > 0;
    },
    campaign: async (request) => campaign(taken("election.campaign", request)),
    lead: async (work, leadOptions = {}) =>
      lead(cluster, election, work, taken("election.lead", leadOptions)),
    candidates: async (request) => cluster.lease.candidates(name, taken("election.candidates", request)),
    leader: async (request) => leaderIn(await cluster.lease.get(name, taken("election.leader", request))),
    observe: (observeOptions) => observe(cluster, name, taken("election.observe", observeOptions)?.signal),
    async proclaim(data, request) {
      taken("election.proclaim", request);
      if (current === undefined || !election.isLeading) throw notLeading(name);
      await current.proclaim(data, request);
    },
    async resign(request) {
      taken("election.resign", request);
      await current?.release(request);
    },
  };
  return election;
}

async function lead<Result>(
  cluster: ElectionCluster,
  election: Election,
  work: Work<Result>,
  options: LeadOptions,
): Promise<Result> {
  requireWorkOptions(options);
  const newLeaders = tellNewLeaders(cluster.clock, election, options.onNewLeader);
  const leading = standAndWork(cluster, election, work, options, newLeaders.failed);
  const [led] = await Promise.allSettled([leading]);
  const failures = await newLeaders.end();
  const errors = [...new Set([...(led.status === "rejected" ? [led.reason] : []), ...failures])];
  if (errors.length > 1) throw new AggregateError(errors, severalSentence(election.name, errors));
  if (failures.length > 0) throw failures[0];
  return leading;
}

async function standAndWork<Result>(
  cluster: ElectionCluster,
  election: Election,
  work: Work<Result>,
  options: LeadOptions,
  failed: AbortSignal,
): Promise<Result> {
  const { signal, rejoin = true } = options;
  const stop = signal === undefined ? failed : AbortSignal.any([signal, failed]);
  for (;;) {
    const lease = await campaignOn(cluster, election, stop, failed);
    const outcome = await workUnder(cluster, lease, work, options);
    if (outcome.kind === "done") return outcome.result;
    if (outcome.kind === "lost") await options.onLost?.(outcome.error);
    if (outcome.kind === "failed" || !rejoin) throw outcome.error;
  }
}

/** A place that went with its session is taken anew; the cluster may be away, or refuse, for as long as it likes. */
async function campaignOn(
  { clock }: ElectionCluster,
  election: Election,
  signal: AbortSignal,
  failed: AbortSignal,
): Promise<Lease> {
  for (let delayMs = firstPauseMs; ; delayMs = Math.min(2 * delayMs, longestPauseMs)) {
    try {
      return await election.campaign({ signal });
    } catch (error) {
      if (failed.aborted) throw failed.reason;
      if (signal.aborted || !(error instanceof QuorateError) || !error.retryable) throw error;
    }
    // A refusal may come at once, of this process itself: without a pause nothing else would ever run in it.
    await pauseFor(clock, delayMs, signal);
  }
}

async function* observe(
  cluster: ElectionCluster,
  name: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Leader | undefined> {
  let last: string | undefined;
  for await (const info of cluster.lease.watch(name, signal === undefined ? {} : { signal })) {
    const leader = leaderIn(info);
    const shown = JSON.stringify([leader?.term, leader?.data]);
    if (shown === last) continue;
    last = shown;
    yield leader;
  }
}

/** A grant that nobody knows of yet leads nobody. */
function leaderIn({ state, term, holder, data }: LeaseInfo): Leader | undefined {
  if (term === null || (state !== "held" && state !== "ending")) return undefined;
  return { term, candidate: holder ?? "", data };
}

function notLeading(name: string): QuorateError {
  return new QuorateError("REFUSED", `This candidate does not lead ${JSON.stringify(name)} now.`);
}

function severalSentence(name: string, errors: readonly unknown[]): string {
  return `Several things failed while this candidate stood for ${JSON.stringify(name)}: ${errors.map(String).join("; ")}`;
}
