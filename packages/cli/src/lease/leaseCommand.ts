/** `quorate lease ACTION`: looks at leases, holds one, ends one. */
import type { Cluster, LeaseCandidate, LeaseInfo, LeaseTenure } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { connectionOptions, withCluster } from "../commands/clusterConnection.ts";
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { durationOption, integerOption } from "../optionValues.ts";
import { textTable } from "../textTable.ts";
import { UsageError } from "../usageError.ts";
import { acquired, waitingOptions, withLeases } from "./lockCommand.ts";

export async function runLease(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [action, name] = positionals;
  switch (action) {
    case "acquire":
      return hold(named(name, action), options);
    case "release":
      return withCluster(connectionOptions(options), (cluster) =>
        askForHandover(cluster, named(name, action)),
      );
    case "show":
      return withCluster(connectionOptions(options), (cluster) =>
        show(cluster, named(name, action), options),
      );
    case "list":
      return withCluster(connectionOptions(options), (cluster) => list(cluster, name ?? "", options));
    case "break":
      return withCluster(connectionOptions(options), (cluster) =>
        breakLease(cluster, named(name, action), options),
      );
    case "grant-at-once":
      return withCluster(connectionOptions(options), grantAtOnce);
    default:
      throw new UsageError(
        `There is no action "${action}": acquire, release, show, list, break or grant-at-once.`,
      );
  }
}

function named(name: string | undefined, action: string): string {
  if (name !== undefined) return name;
  throw new UsageError(`NAME is missing: quorate lease ${action} NAME.`);
}

/** Until a signal, the end of the standard input, somebody's asking for it, or the loss. */
function hold(name: string, options: GivenOptions): Promise<number> {
  const waiting = waitingOptions(options);
  return withLeases(waiting.ttlMs, options, async (cluster, interruption) => {
    const lease = await acquired(cluster, name, waiting, interruption);
    const { term } = lease;
    process.stdout.write(options.json ? `${JSON.stringify({ name, term })}\n` : `${term}\n`);
    const over = AbortSignal.any([interruption.signal, lease.signal, lease.handoverSignal]);
    await new Promise<void>((resolve) => {
      if (over.aborted) resolve();
      over.addEventListener("abort", () => resolve());
      process.stdin.once("end", resolve).once("error", () => resolve());
      process.stdin.resume();
    });
    process.stdin.destroy();
    if (lease.signal.aborted)
      throw new CommandFailure(exitCodes.leaseLost, String(lease.signal.reason?.message));
    await lease.release();
    return exitCodes.done;
  });
}

async function askForHandover(cluster: Cluster, name: string): Promise<number> {
  if (await cluster.lease.requestHandover(name)) return exitCodes.done;
  throw nobodyHolds(name);
}

async function breakLease(cluster: Cluster, name: string, options: GivenOptions): Promise<number> {
  const afterMs = durationOption(options, "after");
  const force = options.force === true;
  if (force && afterMs !== undefined) {
    throw new UsageError("--force and --after contradict each other: --force waits for nobody.");
  }
  if (await cluster.lease.break(name, { force, ...(afterMs === undefined ? {} : { afterMs }) })) {
    return exitCodes.done;
  }
  throw nobodyHolds(name);
}

async function grantAtOnce(cluster: Cluster): Promise<number> {
  if (await cluster.lease.grantAtOnce()) return exitCodes.done;
  throw new CommandFailure(exitCodes.notFound, "The cluster grants leases already.");
}

function nobodyHolds(name: string): CommandFailure {
  return new CommandFailure(exitCodes.notFound, `Nobody holds ${JSON.stringify(name)}.`);
}

async function show(cluster: Cluster, name: string, options: GivenOptions): Promise<number> {
  const info = await cluster.lease.get(name);
  const history = await cluster.lease.history(name);
  const candidates = await cluster.lease.candidates(name);
  const lines = [
    ...leaseLines([info]),
    ...(candidates.length < 2 ? [] : ["", ...candidateLines(candidates)]),
    ...(history.length === 0 ? [] : ["", ...historyLines(history)]),
  ];
  const facts = { ...info, candidates, history };
  process.stdout.write(options.json ? `${JSON.stringify(facts)}\n` : `${lines.join("\n")}\n`);
  return exitCodes.done;
}

async function list(cluster: Cluster, prefix: string, options: GivenOptions): Promise<number> {
  const limit = integerOption(options, "limit", { from: 1, to: 10_000 }) ?? 1_000;
  const found = await cluster.lease.list({ prefix, limit });
  if (options.json) for (const info of found) process.stdout.write(`${JSON.stringify(info)}\n`);
  else process.stdout.write(`${leaseLines(found).join("\n")}\n`);
  if (found.length === limit && !options.json) {
    process.stderr.write(
      `quorate: these are the first ${limit}, and there may be more: name a PREFIX, or a --limit up to 10000\n`,
    );
  }
  return exitCodes.done;
}

/** In the order in which they would be granted it. */
export function candidateLines(candidates: readonly LeaseCandidate[]): readonly string[] {
  const rows = candidates.map(({ holder, state, priority, version, zone, session }) => [
    holder === "" ? "-" : holder,
    state,
    String(priority),
    version === "" ? "-" : version,
    zone === "" ? "-" : zone,
    String(session),
  ]);
  return textTable(["CANDIDATE", "STATE", "PRIORITY", "VERSION", "ZONE", "SESSION"], rows);
}

/** The oldest first. */
function historyLines(history: readonly LeaseTenure[]): readonly string[] {
  const rows = history.map(({ term, toRevision, holder, session, end }) => [
    String(term),
    toRevision === null ? "-" : String(toRevision),
    holder === "" ? "-" : holder,
    String(session),
    end ?? "in force",
  ]);
  return textTable(["TERM", "UNTIL REVISION", "HOLDER", "SESSION", "END"], rows);
}

export function leaseLines(leases: readonly LeaseInfo[]): readonly string[] {
  const rows = leases.map(({ name, state, term, holder, waiting, transitions }) => [
    name,
    state,
    term === null ? "-" : String(term),
    holder === null || holder === "" ? "-" : holder,
    String(waiting),
    String(transitions),
  ]);
  return textTable(["NAME", "STATE", "TERM", "HOLDER", "WAITING", "GRANTS"], rows);
}
