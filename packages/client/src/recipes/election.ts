/**
 * Leader election: candidates for one role, of which one leads at a time, under a term. Written on the public API
 * alone: the cluster decides who leads, by the order and the priorities of those who wait for the lease.
 */
import { QuorateError } from "@quorate/raft";
import type { Cluster, RequestOptions, Value } from "../cluster.ts";
import type { Lease, LeaseCandidate, LeaseInfo } from "../leaseApi.ts";
import { type ElectionOptions, electionLease } from "./electionOptions.ts";
import { type Work, type WorkOptions, type WorkPorts, workUnder } from "./workUnderLease.ts";

export interface Leader {
  readonly term: number;
  readonly candidate: string;
  readonly data: unknown;
}

export interface LeadOptions extends WorkOptions {
  /** Ends the campaigning. Work under way is waited for, so give it the same signal. */
  readonly signal?: AbortSignal;
  /** After a loss, campaign again. Default true; with false it rejects `LeaseLostError`. */
  readonly rejoin?: boolean;
  /** Called with each new leader, this one too; undefined: nobody leads. */
  readonly onNewLeader?: (leader: Leader | undefined) => void;
}

export interface Election {
  readonly name: string;
  /** Whether this candidate leads now, by its own deadline, as `lease.check()` decides it. */
  readonly isLeading: boolean;
  /**
   * Campaigns, runs `work` as the leader, gives up the role when it has settled, and gives what it gives. After a loss
   * it waits for the work to settle and campaigns again. The work is to call `lease.check()` before each effect.
   */
  lead<Result>(work: Work<Result>, options?: LeadOptions): Promise<Result>;
  /** Waits until this candidate leads. Hold the lease with `await using`; `release` resigns. */
  campaign(options?: RequestOptions): Promise<Lease>;
  /** Who leads, then who stands, in the order in which they would lead. */
  candidates(options?: RequestOptions): Promise<readonly LeaseCandidate[]>;
  /** Undefined where nobody leads. */
  leader(options?: RequestOptions): Promise<Leader | undefined>;
  /** Who leads now, and each change that is seen. Ends with `signal`. */
  observe(options?: { readonly signal?: AbortSignal }): AsyncIterable<Leader | undefined>;
  /** What everybody reads of the leader from now on: only while this candidate leads. */
  proclaim(data: Value, options?: RequestOptions): Promise<void>;
  /** Gives up the role. Does nothing where this candidate does not lead. */
  resign(options?: RequestOptions): Promise<void>;
}

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
    campaign,
    lead: (work, leadOptions = {}) => lead(cluster, election, work, leadOptions),
    candidates: (request) => cluster.lease.candidates(name, request),
    leader: async (request) => leaderIn(await cluster.lease.get(name, request)),
    observe: (observeOptions) => observe(cluster, name, observeOptions?.signal),
    async proclaim(data, request) {
      if (current === undefined || !election.isLeading) throw notLeading(name);
      await current.proclaim(data, request);
    },
    async resign(request) {
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
  const { signal, rejoin = true } = options;
  const stopObserving = tellNewLeaders(election, options);
  try {
    for (;;) {
      const lease = await campaignOn(election, signal);
      const outcome = await workUnder(cluster, lease, work, options);
      if (outcome.kind === "done") return outcome.result;
      if (outcome.kind === "failed" || !rejoin) throw outcome.error;
    }
  } finally {
    stopObserving();
  }
}

/** A place that went with its session is taken anew; the cluster may be away for as long as it likes. */
async function campaignOn(election: Election, signal: AbortSignal | undefined): Promise<Lease> {
  for (;;) {
    try {
      return await election.campaign(signal === undefined ? {} : { signal });
    } catch (error) {
      if (signal?.aborted || !(error instanceof QuorateError) || !error.retryable) throw error;
    }
  }
}

function tellNewLeaders(election: Election, { onNewLeader }: LeadOptions): () => void {
  if (onNewLeader === undefined) return () => {};
  const ended = new AbortController();
  const observing = (async () => {
    for await (const leader of election.observe({ signal: ended.signal })) onNewLeader(leader);
  })();
  // The cluster object was closed: the campaign says so.
  observing.catch(() => {});
  return () => ended.abort();
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
