/**
 * `quorate node`: one node in this process until a signal, its supervisor's end or a fault stops it. Only here does a
 * node's fault end a process; the library itself never exits.
 */
import type { NodeCluster } from "@quorate/kv";
import type { NodeStatus } from "@quorate/raft";
import type { GivenOptions } from "../arguments.ts";
import { exitCodeOf, exitCodes, quorateError, sentenceOf } from "../exitCodes.ts";
import { collectOnOwnThread } from "./garbageCollection.ts";
import { type NodeLogger, nodeLogger } from "./nodeLogger.ts";
import type { NodeSummary } from "./nodeMessages.ts";
import { type NodeOptions, nodeOptions } from "./nodeOptions.ts";
import { reportStatus, type SupervisorLink, supervisorLink } from "./supervisorLink.ts";

/** What a node may take to close before the process ends without it; its data is safe all the same. */
const closeTimeoutMs = 2_500;
/** The same, once the supervisor is gone: none of its nodes may be left two seconds later. */
const orphanedCloseTimeoutMs = 600;
/** While a cluster starts, and only then. */
const leaderPollMs = 20;

type Ending =
  | { readonly kind: "stop"; readonly why: string; readonly withinMs: number }
  | { readonly kind: "fault"; readonly error: unknown };

export async function runNode(given: GivenOptions): Promise<number> {
  collectOnOwnThread();
  const link = supervisorLink();
  try {
    const stop = stopRequested(link);
    const options = await nodeOptions(given);
    return await runUntilStopped(options, stop, link);
  } catch (error) {
    // Words typed wrongly are told as every command tells them.
    await link?.send({ kind: "failed", code: "INVALID_OPTIONS", message: sentenceOf(error) });
    throw error;
  } finally {
    // The channel and whatever else still keeps the process alive had their time.
    setImmediate(() => process.exit());
  }
}

async function runUntilStopped(
  options: NodeOptions,
  stop: Promise<Ending>,
  link: SupervisorLink | undefined,
): Promise<number> {
  const logger = nodeLogger(options.logLevel, options.id);
  let ending: Ending | undefined;
  try {
    logger.info({ listen: options.listen, dataDir: options.dataDir, pid: process.pid }, "starting");
    const starting = openNode(options, logger);
    const first = await Promise.race([starting, stop]);
    if ("kind" in first) {
      await closeWithin(starting, first, logger);
      return exitCodes.done;
    }
    ending = await Promise.race([stop, faultOf(first), ...serve(first, link)]);
    await closeWithin(starting, ending, logger);
    return exitCodes.done;
  } catch (error) {
    // Of a fault the node has said in its log why it stops; a supervisor is told all the same.
    if (ending?.kind !== "fault" || link !== undefined) await tellFailure(error, logger, link);
    return exitCodeOf(error);
  } finally {
    logger.flush();
  }
}

function stopRequested(link: SupervisorLink | undefined): Promise<Ending> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (asked) process.exit(exitCodes.done);
        asked = true;
        resolve({ kind: "stop", why: signal, withinMs: closeTimeoutMs });
      });
    }
    void link?.gone.then(() => {
      // Whatever the node is doing, it ends.
      setTimeout(() => process.exit(exitCodes.done), orphanedCloseTimeoutMs + 250).unref();
      resolve({ kind: "stop", why: "the supervisor is gone", withinMs: orphanedCloseTimeoutMs });
    });
  });
}

async function openNode(options: NodeOptions, logger: NodeLogger): Promise<NodeCluster> {
  const { id, listen, peers, via, learner, dataDir, secret, tls, insecure } = options;
  const { electionTimeoutMs, heartbeatMs, priority, snapshots } = options;
  const { join } = await import("@quorate/kv");
  return join({
    id,
    listen,
    dataDir,
    logger,
    insecure,
    ...(peers === undefined ? {} : { peers }),
    ...(via === undefined ? {} : { via, learner }),
    ...(secret === undefined ? {} : { secret }),
    ...(tls === undefined ? {} : { tls }),
    ...(electionTimeoutMs === undefined ? {} : { electionTimeoutMs }),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    ...(priority === undefined ? {} : { priority }),
    ...(snapshots === undefined ? {} : { snapshots }),
  });
}

/** Never resolves with a stop: the node closes only after one was asked for. */
function faultOf(cluster: NodeCluster): Promise<Ending> {
  return cluster.node.closed.then(
    () => new Promise<Ending>(() => {}),
    (error: unknown) => ({ kind: "fault", error }),
  );
}

/** Starts telling the supervisor; the list is empty, or holds a promise that never ends, to be raced with others. */
function serve(cluster: NodeCluster, link: SupervisorLink | undefined): readonly Promise<Ending>[] {
  if (link === undefined) return [];
  const lookNow = reportStatus(link, () => summarize(cluster.node.status()), Date.now, cluster.clock);
  return [tellReady(cluster, link, lookNow)];
}

async function tellReady(cluster: NodeCluster, link: SupervisorLink, lookNow: () => void): Promise<Ending> {
  for (;;) {
    try {
      // Asked before there is a leader, a read would come back with the growing pauses of a client that searches one.
      while (isLeaderless(cluster.node.status())) await afterMs(leaderPollMs);
      await cluster.kv.get("quorate", { timeoutMs: 60_000 });
      lookNow();
      await link.send({ kind: "ready" });
      return await new Promise<Ending>(() => {});
    } catch (error) {
      if (quorateError(error)?.code === "CLOSED") return { kind: "stop", why: "closed", withinMs: 0 };
      await afterMs(100);
    }
  }
}

function isLeaderless({ leader, standing }: NodeStatus): boolean {
  return leader === undefined && standing !== "closed";
}

export function summarize(status: NodeStatus): NodeSummary {
  const { clusterId, term, leader, commitIndex, appliedIndex, complaints } = status;
  return {
    clusterId: clusterId ?? null,
    role: roleOf(status),
    term,
    leader: leader === undefined ? null : leader.slice(0, leader.indexOf(".")),
    commitIndex,
    appliedIndex,
    complaints,
  };
}

function roleOf(status: NodeStatus): NodeSummary["role"] {
  if (status.standing === "unborn" || status.standing === "lost") return "unborn";
  if (status.floor !== undefined) return "mute";
  return status.role === "preCandidate" ? "candidate" : status.role;
}

/** One line on standard error, and to the supervisor, which shows it by itself. */
async function tellFailure(
  error: unknown,
  logger: NodeLogger,
  link: SupervisorLink | undefined,
): Promise<void> {
  const code = quorateError(error)?.code;
  const message = sentenceOf(error, "node");
  if (link === undefined) logger.error({ code, ...(code === undefined ? { err: error } : {}) }, message);
  else await link.send({ kind: "failed", code: code ?? "FAILED", message });
}

/** Also while it starts: what was opened is closed before the process ends, if it can be in time. */
async function closeWithin(cluster: Promise<NodeCluster>, ending: Ending, logger: NodeLogger): Promise<void> {
  if (ending.kind === "fault") throw ending.error;
  logger.info({ why: ending.why }, "stopping");
  const closing = cluster.then((opened) => opened.close());
  await Promise.race([closing, afterMs(ending.withinMs)]);
}

function afterMs(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs).unref();
  });
}
