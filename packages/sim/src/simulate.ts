/**
 * One run, from one seed: a safety phase in which everything goes wrong, then a liveness phase in which everything is
 * healed and the cluster has to come back, converge, and still hold all that it acknowledged.
 *
 * The same seed and options give the same trace hash. Must never touch real time or chance.
 */
import { drawFault } from "./faults/draw.ts";
import type { ScheduledFault } from "./faults/fault.ts";
import type { Violation } from "./invariants/history.ts";
import { checkRecovery } from "./liveness.ts";
import { openSimulation, runFor, type Simulation, type WorldOptions } from "./simulation.ts";
import type { WorkloadStats } from "./workload/workload.ts";

export interface SimulationOptions extends WorldOptions {
  /** Virtual time of the safety phase. Default 8,000. */
  readonly durationMs?: number;
  /** Exactly these faults instead of drawn ones. */
  readonly schedule?: readonly ScheduledFault[];
}

export interface SimulationResult {
  readonly seed: number;
  readonly nodes: number;
  /** Covers every event; equal for equal seeds and options. */
  readonly traceHash: string;
  readonly events: number;
  readonly virtualMs: number;
  readonly violations: readonly Violation[];
  readonly stats: WorkloadStats;
  /** How often each interesting state was reached. */
  readonly marks: ReadonlyMap<string, number>;
  /** What struck: give it back as `schedule` to replay or shrink the run. */
  readonly schedule: readonly ScheduledFault[];
  readonly lastLines: readonly string[];
}

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = openSimulation(options);
  const { cluster, history } = simulation;
  cluster.startAll();
  const durationMs = options.durationMs ?? 8_000;
  if (!simulation.profile.faultsAtBirth && options.schedule === undefined) {
    await runFor(simulation, 20_000, () => cluster.leader() !== undefined);
  }
  arrangeFaults(simulation, options.schedule);
  arrangeOperations(simulation);
  await runFor(simulation, durationMs);
  if (history.violations.length === 0) await checkRecovery(simulation);
  return resultOf(options, simulation);
}

function arrangeFaults(
  { world, cluster, nemesis, profile }: Simulation,
  schedule?: readonly ScheduledFault[],
): void {
  const { timeline } = world;
  if (schedule !== undefined) {
    for (const { atMs, fault } of schedule) {
      timeline.schedule(atMs - timeline.nowMs, undefined, () => nemesis.strike(fault));
    }
    return;
  }
  const chance = world.chance("faults");
  const next = (): void => {
    timeline.schedule(chance.exponential(profile.meanFaultGapMs), undefined, () => {
      if (nemesis.isOver) return;
      const fault = drawFault(cluster, profile, chance);
      if (fault !== undefined) nemesis.strike(fault);
      next();
    });
  };
  next();
}

function arrangeOperations({ world, workload, nemesis, profile }: Simulation): void {
  const chance = world.chance("workload pace");
  const next = (): void => {
    world.timeline.schedule(chance.exponential(profile.meanOperationGapMs), undefined, () => {
      if (nemesis.isOver) return;
      workload.operate();
      next();
    });
  };
  next();
}

function resultOf(options: SimulationOptions, simulation: Simulation): SimulationResult {
  const { world, history, workload, nemesis } = simulation;
  return {
    seed: options.seed,
    nodes: options.nodes,
    traceHash: world.trace.hashText(),
    events: world.events,
    virtualMs: world.timeline.nowMs,
    violations: history.violations,
    stats: workload.stats,
    marks: history.marks,
    schedule: nemesis.struck,
    lastLines: world.trace.lastLines(),
  };
}
