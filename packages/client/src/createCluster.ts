/**
 * Puts a client together from its ports: with a real network it is what `connect()` gives, over a loopback what
 * `join()` gives, and in virtual time what a simulation gives. Knows no WebSocket.
 */
import { type Cancel, type Clock, type Logger, type Network, QuorateError, type Random } from "@quorate/raft";
import { Caller, errorOf } from "./caller.ts";
import type { ResolvedClientOptions } from "./clientOptions.ts";
import type { Cluster, ClusterStatus, MemberList, RequestOptions } from "./cluster.ts";
import { clusterStatus, type StatusReply } from "./clusterStatus.ts";
import type { ConnectionLimits } from "./connection.ts";
import { keyValueStore, patienceOptions } from "./kv.ts";
import { leaseStore } from "./leaseStore.ts";
import { clusterMembers, type JoinRequest, requestJoin } from "./members.ts";
import { taken } from "./optionNames.ts";
import { Calls, type Patience, within } from "./patience.ts";
import { recipesOf } from "./recipes/recipes.ts";
import { Router } from "./router.ts";
import { type ClusterHealth, healthOf } from "./seen/health.ts";
import { Observed } from "./seen/observed.ts";
import { Session } from "./session.ts";
import { clusterSessions } from "./sessions.ts";
import { takeSnapshot } from "./storeSnapshot.ts";
import { transferLeadership } from "./transferLeadership.ts";
import { Watches } from "./watches.ts";
import { sessionlessWriter } from "./writer.ts";

export interface ClusterPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Keeps the process alive until its result is called; left out where nothing has to. */
  readonly hold?: () => Cancel;
}

export interface ClusterOptions extends ResolvedClientOptions {
  /** The node that reads go to as long as it answers: in a node's own process, that node. */
  readonly preferredEndpoint?: string;
}

const limits: ConnectionLimits = {
  maxRequests: 4_096,
  maxBufferedBytes: 64 * 1024 * 1024,
  dialTimeoutMs: 1_000,
  lateMs: 100,
  silenceMs: 1_000,
  streamQuietMs: 4_000,
};

const maxCalls = 16_384;
const maxWaitingWrites = 8_192;
/** How long `status` and `close` wait for nodes that do not answer. */
const statusTimeoutMs = 1_000;
const closeTimeoutMs = 1_000;

export interface ClientCluster extends Cluster {
  /** Like `close`, with the sentence that calls under way, and later ones, are told. */
  stop(reason: string): Promise<void>;
  /** Asks the cluster to take a node in; asked again, it is done once. */
  requestJoin(request: JoinRequest, options: RequestOptions): Promise<MemberList>;
}

export function createCluster(ports: ClusterPorts, options: ClusterOptions): ClientCluster {
  const { clock, hold = () => () => {} } = ports;
  const { requestTimeoutMs, sessionTtlMs, endpoints, preferredEndpoint } = options;
  const router = new Router(ports, { endpoints, preferred: preferredEndpoint, limits });
  const calls = new Calls(clock, maxCalls, hold);
  const caller = new Caller(router);
  const sessions = options.session
    ? new Session(
        { caller, router, logger: ports.logger },
        {
          ttlMs: sessionTtlMs,
          requestTimeoutMs,
          maxWaiting: maxWaitingWrites,
          closeTimeoutMs,
        },
      )
    : undefined;
  const writer = sessions ?? sessionlessWriter(caller);
  const watches = new Watches({
    router,
    clock,
    logger: ports.logger,
    hold,
    requestTimeoutMs,
    errorOf: (failure) => errorOf(failure, "none"),
  });
  let closing: Promise<void> | undefined;

  async function end(reason: string): Promise<void> {
    const release = hold();
    calls.close(reason);
    watches.close(reason);
    await writer.close();
    router.close();
    release();
  }

  const seen = new Observed({ caller, router, sessions });
  const asking = { calls, caller, requestTimeoutMs };
  const kv = keyValueStore({ ...asking, writer, watches });
  const cluster: ClientCluster = {
    kv,
    lease: leaseStore({ ...asking, router, sessions, writer, kv, counts: seen.leases }),
    ...recipesOf(() => cluster, seen.works),
    members: clusterMembers(asking),
    sessions: clusterSessions(asking),
    requestJoin: async (request, joinOptions) => requestJoin(asking, request, joinOptions),
    clock,
    status: async (statusOptions = {}) => askAll(router, calls, taken("cluster.status", statusOptions)),
    metrics: () => seen.metrics(),
    health: async (healthOptions = {}) =>
      askHealth(cluster, { timeoutMs: statusTimeoutMs, ...taken("cluster.health", healthOptions) }),
    snapshot: async (snapshotOptions = {}) =>
      takeSnapshot(asking, taken("cluster.snapshot", snapshotOptions)),
    transferLeadership: async (transferOptions = {}) =>
      transferLeadership(asking, taken("cluster.transferLeadership", transferOptions)),
    stop(reason) {
      closing ??= end(reason);
      return closing;
    },
    close: () => cluster.stop("This cluster object was closed."),
    [Symbol.asyncDispose]: () => cluster.close(),
  };
  return cluster;
}

async function askHealth(cluster: ClientCluster, options: RequestOptions): Promise<ClusterHealth> {
  const [status, members] = await Promise.all([
    cluster.status(options),
    cluster.members.list(options).catch(problemIn),
  ]);
  return healthOf({ status, members, metrics: cluster.metrics() });
}

function problemIn(error: unknown): { readonly problem: string } {
  if (!(error instanceof QuorateError)) throw error;
  if (error.code === "ABORTED" || error.code === "CLOSED") throw error;
  return { problem: error.message };
}

/** First those that are known, then those that they name. */
async function askAll(router: Router, calls: Calls, options: RequestOptions): Promise<ClusterStatus> {
  const patient = patienceOptions({ timeoutMs: statusTimeoutMs, ...options }, statusTimeoutMs);
  return calls.run(patient, async (patience) => {
    const replies = new Map<string, StatusReply>();
    for (let wave = 0; wave < 2; wave += 1) {
      const unasked = router.book.all.filter((endpoint) => !replies.has(endpoint));
      const answers = await Promise.all(unasked.map((endpoint) => askOne(router, endpoint, patience)));
      for (const answer of answers) replies.set(answer.endpoint, answer);
    }
    router.trim();
    if (patience.ended?.kind === "aborted") {
      throw new QuorateError("ABORTED", "The caller's signal ended the request.", {
        cause: patience.ended.reason,
      });
    }
    return clusterStatus([...replies.values()], router.book.members);
  });
}

async function askOne(router: Router, endpoint: string, patience: Patience): Promise<StatusReply> {
  const answer = await within(router.askStatus(endpoint), patience);
  if (answer?.kind === "answered") return { endpoint, status: answer.status, problem: "" };
  const problem = answer?.reason ?? `${endpoint} did not answer within ${patience.timeoutMs} ms`;
  return { endpoint, status: undefined, problem };
}
