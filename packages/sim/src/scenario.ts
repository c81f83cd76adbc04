/**
 * The steps of a scenario that is driven by hand, over what `openSimulation` gives. All waiting is in virtual time and
 * bounded; what does not come in time is an error, with the last lines of the trace.
 */
import { configurationOf, hasQuorum, QuorateError, type StateMachine } from "@quorate/raft";
import type { SimulatedCluster, SimulatedHost } from "./cluster/cluster.ts";
import type { FaultyCluster } from "./faults/faultyCluster.ts";
import { cutsBetween } from "./faults/partitions.ts";
import type { ResultOf } from "./machine/machineUnderTest.ts";
import type { SimulationResult } from "./simulate.ts";
import { type MachineSimulation, runFor, type Simulation } from "./simulation.ts";
import { CommandWorkload } from "./workload/commandClients.ts";

const shownLines = 20;

/** A cluster, whoever its clients are. */
type Stage = Pick<Simulation, "world" | "cluster" | "history">;

/**
 * Cuts every path between nodes of different groups, in both directions, until `heal`. Nobody is told. Throws
 * `INVALID_OPTIONS` for a node in two groups.
 */
export function partition(
  { cluster, world }: Simulation<FaultyCluster>,
  ...groups: readonly (readonly string[])[]
): void {
  for (const [at, name] of groups.flat().entries()) {
    cluster.host(name);
    if (groups.flat().indexOf(name) === at) continue;
    throw new QuorateError(
      "INVALID_OPTIONS",
      `The groups of a partition are apart from each other, and ${name} is listed twice.`,
    );
  }
  world.trace.note("##", `partition ${groups.map((group) => group.join(" ")).join(" | ")}`);
  for (const [from, to] of cutsBetween(...groups)) world.network.cut(from, to);
}

/** Heals every path. */
export function heal({ world }: Simulation<FaultyCluster>): void {
  world.trace.note("##", "every path heals");
  world.paths.healAll();
}

/**
 * Runs until one of `among` (default: all nodes) leads, has committed in its term, and is followed by a majority of the
 * whole cluster. Throws `TIMED_OUT` after `withinMs` of virtual time, `INVARIANT_BROKEN` at a violation.
 */
export async function runUntilLeader(
  simulation: Stage,
  options: { readonly among?: readonly string[]; readonly withinMs?: number } = {},
): Promise<SimulatedHost> {
  const { cluster } = simulation;
  if (cluster.hosts.every((host) => host.starts === 0)) {
    throw new QuorateError(
      "INVALID_OPTIONS",
      "No node was started, so none will lead: call simulation.cluster.startAll() first.",
    );
  }
  const { among = cluster.hosts.map((host) => host.name), withinMs = 10_000 } = options;
  const found = (): SimulatedHost | undefined =>
    cluster.hosts.find((host) => among.includes(host.name) && isFollowed(cluster, host));
  await runFor(simulation, withinMs, () => found() !== undefined);
  assertNoViolation(simulation);
  const leader = found();
  if (leader !== undefined) return leader;
  throw timedOut(simulation, `None of ${among.join(", ")} became the leader of a majority in ${withinMs} ms`);
}

/**
 * Runs until the promise has settled, and gives back its value or throws its error. Throws `TIMED_OUT` after `withinMs`
 * of virtual time: what was asked of a node that died is never answered.
 */
export async function runUntil<T>(
  simulation: Simulation<FaultyCluster>,
  promise: Promise<T>,
  withinMs: number = 10_000,
): Promise<T> {
  // For plain JavaScript, and for what returns nothing.
  if (typeof (promise as Promise<T> | undefined)?.then !== "function") {
    throw new QuorateError(
      "INVALID_OPTIONS",
      `runUntil waits for a promise, but was given ${String(promise)}: perform() gives none, send() and write() do.`,
    );
  }
  let isSettled = false;
  const settled = (): void => {
    isSettled = true;
  };
  promise.then(settled, settled);
  await runFor(simulation, withinMs, () => isSettled);
  if (isSettled) return promise;
  assertNoViolation(simulation);
  throw timedOut(simulation, `The promise is still pending after ${withinMs} ms`);
}

export interface SendOptions {
  /** Which client sends it: 0 (default) to 2. */
  readonly client?: number;
  /** How long the client waits and tries again, in virtual time. Default 2,000. */
  readonly timeoutMs?: number;
}

/**
 * A client sends a command to the machine of yours, by way of whom it takes for the leader; resolves with what the
 * machine's `apply` returned, as time goes on: `await runUntil(simulation, send(simulation, command))`. Rejects with
 * `TIMED_OUT`, whose `outcome` is `none` if the command certainly had no effect, else `unknown`.
 */
export async function send<Command, M extends StateMachine<unknown>>(
  simulation: MachineSimulation<Command, M>,
  command: Command,
  { client = 0, timeoutMs = 2_000 }: SendOptions = {},
): Promise<ResultOf<M>> {
  const answer = await commandsOf(simulation, "send").send({ kind: "command", client, command, timeoutMs });
  if (answer.kind === "ok") return answer.result as ResultOf<M>;
  const isUnknown = answer.kind === "unknown";
  throw new QuorateError(
    "TIMED_OUT",
    `The command got no result in ${timeoutMs} ms of virtual time, and ` +
      `${isUnknown ? "may have been applied or not" : "was certainly not applied"}: ${answer.reason}.`,
    { retryable: true, outcome: isUnknown ? "unknown" : "none" },
  );
}

/** What `state` says of the machine on this node; undefined while the node is down. */
export function stateOf<Command, M extends StateMachine<unknown>>(
  simulation: MachineSimulation<Command, M>,
  node: string,
): unknown {
  return commandsOf(simulation, "stateOf").stateOf(simulation.cluster.host(node));
}

function commandsOf({ workload }: Simulation, step: string): CommandWorkload {
  if (workload instanceof CommandWorkload) return workload;
  throw new QuorateError(
    "INVALID_OPTIONS",
    `${step} is for a machine of your own: open the simulation with it, openSimulation({ seed, nodes, machine }).`,
  );
}

/** Throws `INVARIANT_BROKEN`, with the last lines of the trace, if anything was violated. */
export function assertNoViolation(
  run: Pick<Simulation<FaultyCluster>, "world" | "history"> | SimulationResult,
): void {
  const violations = "history" in run ? run.history.violations : run.violations;
  const lines = "history" in run ? run.world.trace.lastLines() : run.lastLines;
  const seed = "history" in run ? run.world.seed : run.seed;
  const violation = violations[0];
  if (violation === undefined) return;
  throw new QuorateError(
    "INVARIANT_BROKEN",
    `Seed ${seed} violates "${violation.invariant}" at ${violation.atMs} ms: ${violation.sentence}\n\n` +
      lines.slice(-shownLines).join("\n"),
  );
}

function isFollowed(cluster: SimulatedCluster, host: SimulatedHost): boolean {
  const state = host.member?.state;
  if (state?.leading === undefined || state.commitIndex < state.leading.noopIndex) return false;
  return hasQuorum(configurationOf(state.log), (id) =>
    cluster.hosts.some(({ member }) => member?.member === id && member.state?.leader === state.options.self),
  );
}

function timedOut({ world }: Pick<Stage, "world">, what: string): QuorateError {
  return new QuorateError(
    "TIMED_OUT",
    `${what} of virtual time. The last that happened:\n\n${world.trace.lastLines().slice(-shownLines).join("\n")}`,
  );
}
