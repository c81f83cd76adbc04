/**
 * Clusters, faults, workloads and schedules as fast-check draws them. Everything shrinks to nothing: lists to empty
 * ones, clusters to the fewest nodes on a calm wire.
 *
 * Times and the seed do not shrink: a smaller number is no simpler run, and each attempt costs one.
 */
import fc, { type Arbitrary } from "fast-check";
import type { Fault, FaultKind, ScheduledFault } from "../faults/fault.ts";
import { between, both } from "../faults/partitions.ts";
import { calmProfile, type Profile } from "../faults/profile.ts";
import { calmWire, type WireTemper } from "../network/paths.ts";
import { type Schedule, scheduleVersion } from "../schedule/schedule.ts";
import { withFewerNodes } from "../schedule/smaller.ts";
import type { ClientOperation, ScheduledOperation } from "../workload/operation.ts";

export interface ClusterConstraints {
  /** How many, or one of these, fewest first: 1 to 7. Default 3. */
  readonly nodes?: number | readonly number[];
  /** Whether frames are lost, delayed, repeated, reordered and replayed late in some of them. Default true. */
  readonly badWire?: boolean;
}

export interface FaultConstraints {
  /** Faults strike within this virtual time. Default 2,000. */
  readonly durationMs?: number;
  /** Default 6. */
  readonly maxFaults?: number;
  /** Default: all that are listed in `ListedFaultKind`. */
  readonly kinds?: readonly ListedFaultKind[];
}

export interface WorkloadConstraints {
  /** Operations begin within this virtual time. Default 2,000. */
  readonly durationMs?: number;
  /** Default 20. */
  readonly maxOperations?: number;
}

export interface ScheduleConstraints
  extends ClusterConstraints,
    Omit<FaultConstraints, "kinds">,
    WorkloadConstraints {
  readonly faults?: readonly ListedFaultKind[];
  /** Commands for a machine of yours; otherwise the clients of the layer do what the run's seed decides. */
  readonly commands?: Arbitrary<unknown>;
  /** Default `raft` with `commands`, otherwise `store`. */
  readonly layer?: Schedule["layer"];
}

/**
 * Those after which all that was acknowledged must still be there, on however many nodes they strike, and that are no
 * sequence of others.
 */
export type ListedFaultKind = Extract<
  FaultKind,
  | "crash"
  | "crashAll"
  | "pause"
  | "partition"
  | "lossyPath"
  | "clog"
  | "transfer"
  | "slowDisk"
  | "hangingDisk"
  | "diskError"
>;

/** Within these bounds, in steps of 10 ms. */
function timesMs(from: number, to: number): Arbitrary<number> {
  return fc
    .noShrink(fc.integer({ min: Math.ceil(from / 10), max: Math.floor(to / 10) }))
    .map((tens) => tens * 10);
}

function namesOf(nodes: number): readonly string[] {
  return Array.from({ length: nodes }, (_, at) => String.fromCharCode(97 + at));
}

const roughWires: Arbitrary<WireTemper> = fc.record({
  minDelayMs: fc.constantFrom(0.5, 2),
  meanDelayMs: fc.constantFrom(0.5, 4, 10),
  loss: fc.constantFrom(0, 0.02, 0.1),
  duplication: fc.constantFrom(0, 0.1, 0.3),
  reordering: fc.constantFrom(0, 0.1, 0.5),
  lateReplay: fc.constantFrom(0, 0.003),
  swapping: fc.constantFrom(0, 0.1),
  corruption: fc.constantFrom(0, 0.002),
  healMode: fc.constantFrom("keep" as const, "drop" as const, "reset" as const),
  silenceMs: fc.constantFrom(5_000, 500),
});

/** How many nodes there are, and the character of their run. */
export function clusters(
  constraints: ClusterConstraints = {},
): Arbitrary<{ readonly nodes: number; readonly profile: Profile }> {
  const { badWire = true, nodes = 3 } = constraints;
  const calm = fc.constant(calmWire);
  const wires = badWire
    ? fc.oneof(
        { withCrossShrink: true },
        { arbitrary: calm, weight: 1 },
        { arbitrary: roughWires, weight: 2 },
      )
    : calm;
  const counts = typeof nodes === "number" ? [nodes] : nodes;
  return fc
    .record({ place: fc.nat(counts.length - 1), wire: wires })
    .map(({ place, wire }) => ({ nodes: counts[place] as number, profile: { ...calmProfile, wire } }));
}

/** What is done to a cluster of so many nodes, and when. */
export function faultLists(nodes: number, constraints: FaultConstraints = {}): Arbitrary<ScheduledFault[]> {
  const { durationMs = 2_000, maxFaults = 6 } = constraints;
  const arbitraries = faultArbitraries(nodes);
  const kinds = (constraints.kinds ?? listedFaultKinds).filter((kind) => nodes > 1 || !needsTwo.has(kind));
  if (kinds.length === 0) return fc.constant([]);
  const fault: Arbitrary<Fault> = fc.oneof(
    ...kinds.map((kind) => ({ arbitrary: arbitraries[kind], weight: weights[kind] })),
  );
  return fc
    .array(fc.record({ atMs: timesMs(0, durationMs), fault }), { maxLength: maxFaults, size: "max" })
    .map(inOrder);
}

/** Commands for a machine of yours, when each is sent, and by which of three clients. */
export function commandWorkloads(
  commands: Arbitrary<unknown>,
  constraints: WorkloadConstraints = {},
): Arbitrary<ScheduledOperation[]> {
  const { durationMs = 2_000, maxOperations = 20 } = constraints;
  const operation: Arbitrary<ClientOperation> = fc.record({
    kind: fc.constant("command" as const),
    client: fc.nat(2),
    command: commands,
    timeoutMs: timesMs(200, 2_000),
  });
  return fc
    .array(fc.record({ atMs: timesMs(0, durationMs), operation }), { maxLength: maxOperations, size: "max" })
    .map(inOrder);
}

/** Whole runs, for `simulate({ schedule })`. */
export function schedules(constraints: ScheduleConstraints = {}): Arbitrary<Schedule> {
  const { commands, durationMs = 2_000, nodes = 3 } = constraints;
  const { faults: kinds, layer = commands === undefined ? "store" : "raft", ...rest } = constraints;
  const most = typeof nodes === "number" ? nodes : Math.max(...nodes);
  const head = { version: scheduleVersion, layer, durationMs } as const;
  return fc
    .record({
      faults: faultLists(most, { ...rest, ...(kinds === undefined ? {} : { kinds }) }),
      operations: commands === undefined ? fc.constant(undefined) : commandWorkloads(commands, rest),
      cluster: clusters(rest),
      seed: fc.noShrink(fc.integer({ min: 0, max: 0xffff_ffff })),
    })
    .map(({ cluster, faults, operations, seed }) => {
      const { nodes, profile } = cluster;
      const listed = operations === undefined ? {} : { operations };
      return withFewerNodes({ ...head, seed, nodes: most, profile, faults, ...listed }, nodes);
    });
}

const weights: Readonly<Record<ListedFaultKind, number>> = {
  crash: 6,
  partition: 6,
  pause: 3,
  crashAll: 1,
  lossyPath: 1,
  clog: 1,
  slowDisk: 1,
  hangingDisk: 1,
  diskError: 1,
  transfer: 2,
};

export const listedFaultKinds: readonly ListedFaultKind[] = Object.keys(weights) as ListedFaultKind[];
const needsTwo: ReadonlySet<FaultKind> = new Set(["partition", "lossyPath", "clog"]);

function faultArbitraries(nodes: number): Readonly<Record<ListedFaultKind, Arbitrary<Fault>>> {
  const names = namesOf(nodes);
  const node = fc.constantFrom(...names);
  const forMs = timesMs(10, 1_500);
  const constant = fc.constant;
  // A bit a node, so that it shrinks to the first node alone.
  const sides = fc.integer({ min: 1, max: Math.max(1, 2 ** nodes - 2) });
  return {
    crash: fc.record({
      kind: constant("crash"),
      node,
      silent: fc.boolean(),
      whenWriting: fc.boolean(),
      forMs,
    }),
    crashAll: fc.record({ kind: constant("crashAll"), silent: fc.boolean(), forMs }),
    pause: fc.record({ kind: constant("pause"), node, timersFirst: fc.boolean(), forMs }),
    partition: fc.record({ bits: sides, isOneWay: fc.boolean(), forMs }).map(({ bits, isOneWay, forMs }) => {
      const side = names.filter((_, at) => ((bits >> at) & 1) === 1);
      const rest = names.filter((name) => !side.includes(name));
      const cuts = isOneWay ? between(side, rest) : both(between(side, rest));
      return { kind: "partition", shape: isOneWay ? "one way" : "halves", cuts, forMs };
    }),
    lossyPath: fc.record({
      kind: constant("lossyPath"),
      from: node,
      to: node,
      loss: fc.constantFrom(0.1, 0.5, 1),
      forMs,
    }),
    clog: fc.record({ kind: constant("clog"), from: node, to: node, forMs }),
    slowDisk: fc.record({
      kind: constant("slowDisk"),
      node,
      meanLatencyMs: fc.constantFrom(5, 20, 100),
      forMs,
    }),
    hangingDisk: fc.record({ kind: constant("hangingDisk"), node, forMs }),
    diskError: fc.record({ kind: constant("diskError"), node, forMs }),
    transfer: fc.record({
      kind: constant("transfer"),
      target: fc.constantFrom(...names, ""),
      times: fc.constantFrom(1, 2, 5),
      forMs,
    }),
  };
}

function inOrder<T extends { readonly atMs: number }>(events: readonly T[]): T[] {
  return events.toSorted((one, other) => one.atMs - other.atMs);
}
