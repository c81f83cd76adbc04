/**
 * The steps of a scenario that is driven by hand, over what `openSimulation` gives. All waiting is in virtual time and
 * bounded; what does not come in time is an error, with the last lines of the trace.
 */
import { configurationOf, hasQuorum, QuorateError } from "@quorate/raft";
import type { SimulatedCluster, SimulatedHost } from "./cluster/cluster.ts";
import type { FaultyCluster } from "./faults/faultyCluster.ts";
import { cutsBetween } from "./faults/partitions.ts";
import type { SimulationResult } from "./simulate.ts";
import { runFor, type Simulation } from "./simulation.ts";

const shownLines = 20;

/** Cuts every path between nodes of different groups, in both directions, until `heal`. Nobody is told. */
export function partition(
  { cluster, world }: Simulation<FaultyCluster>,
  ...groups: readonly (readonly string[])[]
): void {
  for (const name of groups.flat()) cluster.host(name);
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
  simulation: Simulation,
  options: { readonly among?: readonly string[]; readonly withinMs?: number } = {},
): Promise<SimulatedHost> {
  const { cluster } = simulation;
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

/** Throws `INVARIANT_BROKEN`, with the last lines of the trace, if anything was violated. */
export function assertNoViolation(run: Simulation<FaultyCluster> | SimulationResult): void {
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

function timedOut({ world }: Simulation<FaultyCluster>, what: string): QuorateError {
  return new QuorateError(
    "TIMED_OUT",
    `${what} of virtual time. The last that happened:\n\n${world.trace.lastLines().slice(-shownLines).join("\n")}`,
  );
}
