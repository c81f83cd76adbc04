/**
 * One run, from one seed or from a schedule: a safety phase in which everything goes wrong, then a liveness phase in
 * which a core is healed and has to work while the rest stays broken; at last everything is healed, and the cluster has
 * to come back, converge, and still hold all that it acknowledged.
 *
 * The same seed and options give the same trace hash, and so does the schedule that the run leaves. Must never touch
 * real time or chance.
 */
import { QuorateError } from "@quorate/raft";
import { drawFault } from "./faults/draw.ts";
import type { Profile } from "./faults/profile.ts";
import type { Violation } from "./invariants/history.ts";
import { checkLiveness } from "./liveness/liveness.ts";
import { checkRecovery } from "./liveness/recovery.ts";
import { requireSimulationOptions } from "./requirements.ts";
import { type Schedule, scheduleVersion } from "./schedule/schedule.ts";
import { type FaultySimulation, openSimulation, runFor, type WorldOptions } from "./simulation.ts";
import type { ClientOperation, ScheduledOperation } from "./workload/operation.ts";
import type { Happening, WorkloadStats } from "./workload/workload.ts";
import type { Chance } from "./world/chance.ts";

export interface SimulationOptions extends WorldOptions {
  /** Virtual time of the safety phase. Default 8,000. */
  readonly durationMs?: number;
  /** The safety phase ends after so many events, if it does not before. */
  readonly maxEvents?: number;
  /** Whether the liveness phase follows, in which the cluster has to come back. Default true. */
  readonly recovers?: boolean;
}

export interface ReplayOptions extends Omit<WorldOptions, "seed" | "nodes" | "layer" | "profile"> {
  /** Decides everything: exactly these faults, and these operations if it has any. */
  readonly schedule: Schedule;
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
  /** Operations of clients that the checker of linearizability found a legal order for; 0: it was not asked. */
  readonly checkedOperations: number;
  /** All that was done to the cluster: replays this run, to the same trace hash. */
  readonly schedule: Schedule;
  readonly lastLines: readonly string[];
  /** Commands for a machine of yours that were sent more than once, and where each copy was applied; by time. */
  readonly repetitions: readonly Happening[];
}

/** Throws `INVALID_OPTIONS` with the name and the value of what cannot be. */
export async function simulate(options: SimulationOptions | ReplayOptions): Promise<SimulationResult> {
  requireSimulationOptions(options);
  const given = "schedule" in options ? options.schedule : undefined;
  const settings = settingsOf(options);
  const simulation = openSimulation(settings);
  const { cluster, history, profile, world } = simulation;
  cluster.startAll();
  if (!profile.faultsAtBirth && given === undefined) {
    await runFor(simulation, 20_000, () => cluster.leader() !== undefined);
  }
  const operations: ScheduledOperation[] = [];
  if (given === undefined) drawFaults(simulation);
  else arrangeFaults(simulation, given);
  if (given?.operations === undefined) drawAllOperations(simulation, operations);
  else arrangeOperations(simulation, given.operations, operations);
  const maxEvents = settings.maxEvents ?? Number.POSITIVE_INFINITY;
  const untilMs = world.timeline.nowMs + (settings.durationMs ?? 8_000);
  const enough = await runFor(simulation, untilMs - world.timeline.nowMs, () => world.events >= maxEvents);
  const durationMs = enough ? world.timeline.nowMs : untilMs;
  const recovers = settings.recovers ?? true;
  // A machine of somebody's own changes nothing of Raft's liveness, and its run should hold no more than was listed.
  const check = settings.machine === undefined ? checkLiveness : checkRecovery;
  if (history.violations.length === 0 && recovers) await check(simulation);
  const checkedOperations = history.violations.length === 0 ? (simulation.workload.checkHistory?.() ?? 0) : 0;
  const { seed, nodes, layer = settings.machine === undefined ? "store" : "raft" } = settings;
  const version: typeof scheduleVersion = scheduleVersion;
  const faults = simulation.nemesis.struck;
  const schedule = { version, seed, nodes, layer, profile, durationMs, recovers, faults, operations };
  return { ...resultOf(simulation, schedule), checkedOperations };
}

function settingsOf(options: SimulationOptions | ReplayOptions): SimulationOptions {
  if (!("schedule" in options)) {
    if (options.machine !== undefined) throw withoutCommands();
    return options;
  }
  const { schedule, ...rest } = options;
  const { seed, nodes, layer, profile, durationMs, recovers = true, operations } = schedule;
  if (rest.machine !== undefined && operations === undefined) throw withoutCommands();
  if (rest.machine === undefined && operations?.some(({ operation }) => operation.kind === "command")) {
    throw new QuorateError(
      "INVALID_OPTIONS",
      "The schedule holds commands for a machine of its own: give that machine along with it, { schedule, machine }.",
    );
  }
  return { linearizability: "always", ...rest, seed, nodes, layer, profile, durationMs, recovers };
}

/** Only its user knows what a machine can be told: a run without would pass without having tested anything. */
function withoutCommands(): QuorateError {
  return new QuorateError(
    "INVALID_OPTIONS",
    "simulate draws no commands for a machine of yours: give a schedule whose operations hold some " +
      "({ schedule, machine }), let checkSafety of @quorate/sim/property draw them from an arbitrary, or send them " +
      "by hand (openSimulation, send).",
  );
}

function arrangeFaults({ world, nemesis }: FaultySimulation, { faults }: Schedule): void {
  for (const { atMs, fault } of faults) {
    world.timeline.script(0, atMs - world.timeline.nowMs, () => nemesis.strike(fault));
  }
}

function drawFaults({ world, cluster, nemesis, profile }: FaultySimulation): void {
  const chance = world.chance("faults");
  const next = (): void => {
    world.timeline.script(0, chance.exponential(profile.meanFaultGapMs), () => {
      if (nemesis.isOver) return;
      const fault = drawFault(cluster, profile, chance);
      if (fault !== undefined) nemesis.strike(fault);
      next();
    });
  };
  next();
}

function arrangeOperations(
  { world, workload, nemesis }: FaultySimulation,
  given: readonly ScheduledOperation[],
  performed: ScheduledOperation[],
): void {
  for (const scheduled of given) {
    world.timeline.script(1, scheduled.atMs - world.timeline.nowMs, () => {
      if (nemesis.isOver) return;
      performed.push(scheduled);
      workload.perform(scheduled.operation);
    });
  }
}

/** Far rarer than reads and writes: what comes of one takes a time to live. */
const meanLeaseGapMs = 120;

function drawAllOperations(simulation: FaultySimulation, performed: ScheduledOperation[]): void {
  const { profile, workload, world } = simulation;
  const pace = world.chance("workload pace");
  drawOperations(simulation, pace, profile.meanOperationGapMs, () => workload.draw(), performed);
  const leasePace = world.chance("lease pace");
  if ((profile.leaseClients ?? 0) === 0 || workload.drawLease === undefined) return;
  drawOperations(simulation, leasePace, meanLeaseGapMs, () => workload.drawLease?.(), performed);
}

function drawOperations(
  { world, workload, nemesis }: FaultySimulation,
  chance: Chance,
  meanGapMs: number,
  draw: () => ClientOperation | undefined,
  performed: ScheduledOperation[],
): void {
  const next = (): void => {
    world.timeline.script(1, chance.exponential(meanGapMs), () => {
      if (nemesis.isOver) return;
      const operation = draw();
      if (operation !== undefined) {
        performed.push({ atMs: world.timeline.nowMs, operation });
        workload.perform(operation);
      }
      next();
    });
  };
  next();
}

function resultOf(
  simulation: FaultySimulation,
  schedule: Schedule & { readonly profile: Profile },
): Omit<SimulationResult, "checkedOperations"> {
  const { world, history, workload } = simulation;
  return {
    seed: schedule.seed,
    nodes: schedule.nodes,
    traceHash: world.trace.hashText(),
    events: world.events,
    virtualMs: world.timeline.nowMs,
    violations: history.violations,
    stats: workload.stats,
    marks: history.marks,
    schedule,
    lastLines: world.trace.lastLines(),
    repetitions: (workload.repetitions?.() ?? []).toSorted((one, other) => one.atMs - other.atMs),
  };
}
