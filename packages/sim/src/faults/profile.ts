/**
 * The character of one run: every parameter is drawn from the seed, and each class of faults may be off altogether, so
 * that runs differ as swarms do. A test may fix any of them.
 */
import type { RaftOptions } from "@quorate/raft";
import { calmWire, type HealMode, type WireTemper } from "../network/paths.ts";
import type { Chance } from "../world/chance.ts";
import type { FaultKind } from "./fault.ts";

export interface Profile {
  readonly wire: WireTemper;
  readonly meanDiskLatencyMs: number;
  /** How far the rate of a node's clock is from that of true time, at most, as a fraction. Left out: 0. */
  readonly clockDrift?: number;
  /** Relative frequency of each kind of fault; absent: never. */
  readonly faults: Partial<Record<FaultKind, number>>;
  /** Hosts beside the founding nodes, 0 to 2: for changes of membership to bring in. */
  readonly spares: number;
  /** Clients of the store that take leases, 0 to 3. Left out: 0. */
  readonly leaseClients?: number;
  readonly meanFaultGapMs: number;
  /** Faults strike from the beginning, the founding of the cluster included. */
  readonly faultsAtBirth: boolean;
  readonly meanOperationGapMs: number;
  readonly readShare: number;
  /** Share of the runs that take no snapshots, where `options` say nothing of it. Left out: a third. */
  readonly snapshotless?: number;
  readonly options: RaftOptions;
}

/** Every kind, as often as a run has it that has all of them. */
export const everyFault: Readonly<Record<FaultKind, number>> = {
  crash: 8,
  crashAll: 0.6,
  pause: 5,
  partition: 8,
  lossyPath: 2,
  clog: 2,
  swizzleClog: 1,
  flapping: 1,
  clientCut: 1,
  slowDisk: 2,
  hangingDisk: 2,
  diskError: 1,
  crashAtCall: 5,
  crashAtSnapshot: 4,
  starvation: 2,
  changedTimeouts: 1,
  clockRate: 1,
  clockLeap: 1,
  suspend: 1,
  fullDisk: 1,
  slowReads: 1,
  foreignDisk: 0.7,
  olderDisk: 0.5,
  rot: 1,
  rotSnapshot: 2,
  wipe: 0.5,
  transfer: 3,
  member: 3,
};

/** Nothing goes wrong. */
export const calmProfile: Profile = {
  wire: calmWire,
  meanDiskLatencyMs: 0.5,
  clockDrift: 0,
  faults: {},
  spares: 0,
  leaseClients: 0,
  meanFaultGapMs: 1_000,
  faultsAtBirth: false,
  meanOperationGapMs: 10,
  readShare: 0.5,
  options: {},
};

/** Not drawn with the others: they came later, and a run is otherwise what it was before them. */
const drawnApart: ReadonlySet<string> = new Set(["member", "rotSnapshot", "crashAtSnapshot"]);

export function drawProfile(chance: Chance): Profile {
  const faults: Partial<Record<FaultKind, number>> = {};
  for (const [kind, weight] of Object.entries(everyFault)) {
    if (!drawnApart.has(kind) && chance.happens(0.75)) faults[kind as FaultKind] = weight;
  }
  const isSlow = chance.happens(0.1);
  const options: RaftOptions = {
    maxInflightAppends: chance.pick([1, 2, 4, 256]),
    maxAppendBytes: chance.pick([1, 16, 1_024, 1_048_576]),
    maxCachedBytes: chance.pick([1, 512, 4_096, 33_554_432]),
    maxUncommittedEntries: chance.pick([4, 64, 16_384]),
    maxPendingReads: chance.pick([2, 64, 65_536]),
  };
  const drawn = {
    wire: drawWire(chance, isSlow),
    meanDiskLatencyMs: chance.pick([0.125, 0.5, 2, 8]),
    clockDrift: chance.pick([0, 0, 0.0005, 0.05, 0.5]),
    meanFaultGapMs: chance.between(100, 1_500),
    faultsAtBirth: chance.happens(0.3),
    meanOperationGapMs: chance.pick([4, 10, 25, 60]),
    readShare: chance.pick([0.2, 0.5, 0.8]),
    options,
  };
  // Every other run keeps its members.
  if (chance.happens(0.5)) faults.member = everyFault.member;
  const spares = chance.between(1, 2);
  // Drawn last, so that the rest is as it was before there were snapshots.
  if (chance.happens(0.75)) faults.rotSnapshot = everyFault.rotSnapshot;
  return { ...drawn, faults, spares };
}

/** In every second run nobody takes leases. Drawn apart, so that the other half is what it would be without them. */
export function drawLeaseClients(chance: Chance): number {
  return chance.happens(0.5) ? 0 : chance.between(2, 3);
}

/**
 * How often snapshots are taken and how little of the log is left behind them, from after each entry and nothing on.
 * Drawn apart, so that a run is otherwise what it would be without them.
 */
export function drawSnapshots(
  chance: Chance,
  { snapshotless = 1 / 3, options: { maxCachedBytes = 65_536 } }: Profile,
): RaftOptions {
  if (chance.happens(snapshotless)) return {};
  return {
    snapshotEntries: chance.pick([1, 3, 10, 40, 200]),
    snapshotGrowthPercent: chance.pick([0, 0, 50]),
    compactionTailEntries: chance.pick([0, 1, 5, 50]),
    compactionTailBytes: Math.min(chance.pick([16, 1_024, 65_536]), maxCachedBytes),
    snapshotChunkBytes: chance.pick([256, 1_024, 16_384, 262_144]),
    maxSnapshotBytesPerSecond: chance.pick([50_000, 1_000_000, 67_108_864]),
  };
}

function drawWire(chance: Chance, isSlow: boolean): WireTemper {
  const rarely = (probability: number, most: number): number =>
    chance.happens(probability) ? chance.fraction() * most : 0;
  return {
    minDelayMs: chance.between(0, 5) / 2,
    meanDelayMs: isSlow ? chance.between(20, 60) : chance.between(1, 20) / 2,
    loss: rarely(0.5, 0.15),
    duplication: rarely(0.5, 0.3),
    reordering: rarely(0.5, 0.5),
    lateReplay: rarely(0.3, 0.003),
    swapping: rarely(0.3, 0.2),
    corruption: rarely(0.3, 0.01),
    healMode: chance.pick<HealMode>(["keep", "drop", "reset"]),
    silenceMs: chance.between(500, 5_000),
  };
}
