/**
 * Directed scenarios over a simulated cluster. Each takes the simulator as an argument, so that the same scenario runs
 * on the sources as they are and on sources with a bug put in (test/mutants), and gives back the simulation to look at.
 */
import type { SimulatedHost, Simulation } from "@quorate/sim";

export type Simulator = typeof import("@quorate/sim");
export type Layer = "raft" | "store";

export interface CalmOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly layer: Layer;
  readonly meanDiskLatencyMs?: number;
  readonly leaseClients?: number;
}

/** A cluster on which nothing goes wrong by itself, with a leader. */
export async function calmCluster(
  sim: Simulator,
  options: CalmOptions,
  linearizability: "always" | "never" = "never",
): Promise<Simulation> {
  const { meanDiskLatencyMs = sim.calmProfile.meanDiskLatencyMs, leaseClients = 0, ...rest } = options;
  const profile = { ...sim.calmProfile, meanDiskLatencyMs, leaseClients };
  const simulation = sim.openSimulation({ ...rest, profile, linearizability });
  simulation.cluster.startAll();
  await sim.runFor(simulation, 10_000, () => isSettled(simulation));
  return simulation;
}

/** All follow one leader that has committed in its term. */
export function isSettled({ cluster }: Simulation): boolean {
  const leader = cluster.leader()?.member?.state;
  if (leader?.leading === undefined || leader.commitIndex < leader.leading.noopIndex) return false;
  return cluster.hosts.every((host) => host.member?.state?.leader === leader.options.self);
}

export function leaderOf({ cluster }: Simulation): SimulatedHost {
  const leader = cluster.leader();
  if (leader === undefined) throw new Error("there is no leader");
  return leader;
}

/** Operations at a steady pace for a while. */
export async function operateFor(
  sim: Simulator,
  simulation: Simulation,
  durationMs: number,
  gapMs: number = 5,
): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += gapMs) {
    simulation.workload.operate();
    await sim.runFor(simulation, gapMs);
  }
}

/** Runs a promise of a node to its end, in virtual time. */
export async function outcomeOf(
  sim: Simulator,
  simulation: Simulation,
  attempt: Promise<boolean>,
  withinMs: number = 10_000,
): Promise<boolean | undefined> {
  let outcome: boolean | undefined;
  void attempt.then((worked) => {
    outcome = worked;
  });
  await sim.runFor(simulation, withinMs, () => outcome !== undefined);
  return outcome;
}

export function isolate(simulation: Simulation, minority: readonly string[]): void {
  const { cluster, world } = simulation;
  for (const host of cluster.hosts) {
    if (minority.includes(host.name)) continue;
    for (const name of minority) {
      world.network.cut(host.name, name);
      world.network.cut(name, host.name);
    }
  }
}

/**
 * A leader answers a read; then it is cut off and paused for longer than an election timeout while the others go on
 * without it; when it wakes, still cut off, it is asked for a read and a write before it hears anything.
 */
export async function pausedLeader(
  sim: Simulator,
  layer: Layer,
): Promise<Simulation & { answers: unknown[] }> {
  const simulation = await calmCluster(sim, { seed: 11, nodes: 3, layer });
  const { cluster, world, workload } = simulation;
  const old = leaderOf(simulation);
  await operateFor(sim, simulation, 200);
  await sim.runFor(simulation, 500);
  await outcomeOf(sim, simulation, workload.read(old, 1_000));
  await sim.runFor(simulation, 100);
  isolate(simulation, [old.name]);
  cluster.pause(old);
  await sim.runFor(simulation, 3_000, () => {
    const leader = cluster.leader();
    return leader !== undefined && leader !== old && (leader.member?.state?.commitIndex ?? 0) > 0;
  });
  await sim.runFor(simulation, 1_000);
  await outcomeOf(sim, simulation, workload.write(leaderOf(simulation), 1_000));
  cluster.resume(old, false);
  const read = workload.read(old, 400);
  const write = workload.write(old, 400);
  const answers = [await outcomeOf(sim, simulation, read), await outcomeOf(sim, simulation, write)];
  world.paths.healAll();
  return { ...simulation, answers };
}

/** Cuts the leader and, of five, one follower off; gives back who is in the minority. */
export function isolateLeader(simulation: Simulation): readonly SimulatedHost[] {
  const leader = leaderOf(simulation);
  const others = simulation.cluster.hosts.filter((host) => host !== leader);
  const minority = [leader, ...others].slice(0, (simulation.cluster.hosts.length - 1) / 2);
  isolate(
    simulation,
    minority.map((host) => host.name),
  );
  return minority;
}

/** The whole run's first violation, in words that a failing test shows. */
export function verdict(simulation: Simulation): string {
  const violation = simulation.history.violations[0];
  return violation === undefined ? "nothing violated" : `${violation.invariant}: ${violation.sentence}`;
}
