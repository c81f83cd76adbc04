/**
 * What the fields of faults, operations and profiles must be, as data. The types say the same to the compiler: a fault
 * without its fields here does not compile.
 */
import { clientCutDirections, type FaultKind, partitionShapes, soleActions } from "../faults/fault.ts";
import type { Profile } from "../faults/profile.ts";
import { everyFault } from "../faults/profile.ts";
import { memberPhases, snapshotPhases } from "../invariants/history.ts";
import { leaseNames } from "../workload/leaseOracle.ts";
import { type ClientOperation, cutDirections, type LeaseOperation } from "../workload/operation.ts";

/** What the value must be, if it is not. */
export type Check = (value: unknown) => string | undefined;

const lengthMs: Check = between(0, 86_400_000);
const probability: Check = between(0, 1);
const switched: Check = (value) => (typeof value === "boolean" ? undefined : "true or false");
const given: Check = (value) => (value === undefined ? "given" : undefined);
const text: Check = (value) => (typeof value === "string" ? undefined : "a text");

function between(from: number, to: number): Check {
  return (value) =>
    typeof value === "number" && value >= from && value <= to ? undefined : `a number from ${from} to ${to}`;
}

const lengths: Check = (value) =>
  Array.isArray(value) && value.length <= 1_000 && value.every((length) => lengthMs(length) === undefined)
    ? undefined
    : "a list of at most 1,000 numbers from 0 to 86400000";

function oneOf(values: readonly string[]): Check {
  return (value) => (values.includes(value as string) ? undefined : `one of ${values.join(", ")}`);
}

function numbers(names: readonly string[] | undefined): Check {
  const what = names === undefined ? "an object of numbers" : `numbers for some of ${names.join(", ")}`;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return what;
    const fits = Object.entries(value).every(
      ([name, number]) => (names?.includes(name) ?? true) && typeof number === "number" && number >= 0,
    );
    return fits ? undefined : what;
  };
}

export function faultChecks(
  nodes: readonly string[],
): Readonly<Record<FaultKind, Readonly<Record<string, Check>>>> {
  const node = oneOf(nodes);
  const paths: Check = (value) =>
    Array.isArray(value) &&
    value.every(
      (path) => Array.isArray(path) && path.length === 2 && path.every((name) => nodes.includes(name)),
    )
      ? undefined
      : `a list of pairs [from, to] of ${nodes.join(", ")}`;
  const steps: Check = (value) =>
    Array.isArray(value) && value.every((step) => isMemberStep(step, nodes))
      ? undefined
      : `a list of {"action": "replace", "node", "of"} or {"action": ${soleActions.join(" or ")}, "node"}, of ${nodes.join(", ")}`;
  const forMs = lengthMs;
  return {
    crash: { node, silent: switched, whenWriting: switched, forMs },
    crashAll: { silent: switched, forMs },
    pause: { node, timersFirst: switched, forMs },
    partition: { shape: oneOf(partitionShapes), cuts: paths, forMs },
    lossyPath: { from: node, to: node, loss: probability, forMs },
    clog: { from: node, to: node, forMs },
    swizzleClog: { stops: paths, releases: paths, forMs },
    flapping: { paths, gapsMs: lengths, forMs },
    clientCut: { node, lost: oneOf(clientCutDirections), forMs },
    slowDisk: { node, meanLatencyMs: lengthMs, forMs },
    hangingDisk: { node, forMs },
    diskError: { node, forMs },
    crashAtCall: { node, calls: between(1, 1_000_000), silent: switched, forMs },
    crashAtSnapshot: {
      phase: oneOf(snapshotPhases),
      calls: between(1, 1_000_000),
      silent: switched,
      forMs,
    },
    starvation: { node, eventMs: lengthMs, forMs },
    changedTimeouts: {
      node,
      heartbeatMs: between(1, 60_000),
      electionTimeoutMinMs: between(2, 60_000),
      electionTimeoutMaxMs: between(3, 60_000),
      forMs,
    },
    clockRate: { node, rate: between(0.1, 10), forMs },
    clockLeap: { node, forMs },
    suspend: { node, forMs },
    fullDisk: { node, forMs },
    slowReads: { node, meanLatencyMs: lengthMs, forMs },
    foreignDisk: { node, from: node, forMs },
    olderDisk: { node, forMs },
    rot: { node, from: between(0, 1_000), to: between(0, 1_000), forMs },
    rotSnapshot: { node, at: between(0, 1_000_000), forMs },
    wipe: { node, forMs },
    member: { steps, crashAt: oneOf([...memberPhases, "never"]), forMs },
    transfer: { target: text, times: between(1, 1_000), forMs },
  };
}

function isMemberStep(value: unknown, nodes: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { action, node, of, ...more } = value as Readonly<Record<string, unknown>>;
  if (!nodes.includes(node as string) || Object.keys(more).length > 0) return false;
  if (action === "replace") return nodes.includes(of as string);
  return of === undefined && soleActions.some((known) => known === action);
}

export function operationChecks(
  nodes: readonly string[],
): Readonly<Record<ClientOperation["kind"], Readonly<Record<string, Check>>>> {
  const node = oneOf(nodes);
  const client = (value: unknown): string | undefined =>
    value === 0 || value === 1 || value === 2 ? undefined : "0, 1 or 2";
  return {
    write: { node, timeoutMs: lengthMs },
    read: { node, timeoutMs: lengthMs },
    command: { client, command: given, timeoutMs: lengthMs },
    put: { client, key: text, conditional: switched },
    get: { client, key: text },
    leave: { client, polite: switched, silent: switched },
    ...leaseChecks(client),
  };
}

const leaseName: Check = oneOf(leaseNames);
const leaseNameList: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((name) => leaseName(name) === undefined)
    ? undefined
    : `a list of some of ${leaseNames.join(", ")}`;

function leaseChecks(
  client: Check,
): Readonly<Record<LeaseOperation["kind"], Readonly<Record<string, Check>>>> {
  return {
    acquire: {
      client,
      names: leaseNameList,
      patienceMs: lengthMs,
      holdMs: lengthMs,
      ttlMs: lengthMs,
      priority: between(-100, 100),
      lockDelayMs: lengthMs,
    },
    fencedPut: { client },
    breakLease: { client, name: leaseName, afterMs: lengthMs, force: switched },
    requestHandover: { client, name: leaseName },
    leaseLeave: { client, polite: switched, silent: switched },
    leaseStall: { client, suspended: switched, timersFirst: switched, forMs: lengthMs },
    leaseCut: { client, lost: oneOf(cutDirections), forMs: lengthMs },
    leaseClock: { client, rate: between(0.1, 10), forMs: lengthMs },
  };
}

const wireFields: Readonly<Record<keyof Profile["wire"], Check>> = {
  minDelayMs: lengthMs,
  meanDelayMs: lengthMs,
  loss: probability,
  duplication: probability,
  reordering: probability,
  lateReplay: probability,
  swapping: probability,
  corruption: probability,
  healMode: oneOf(["keep", "drop", "reset"]),
  silenceMs: lengthMs,
};

/** What the first files of this version do not have; left out it never happens. */
const addedLater: ReadonlySet<string> = new Set(["swapping", "corruption"]);

const wire: Check = (value) => {
  if (typeof value !== "object" || value === null) return "an object";
  const fields = value as Record<string, unknown>;
  for (const [name, check] of Object.entries(wireFields)) {
    if (fields[name] === undefined && addedLater.has(name)) continue;
    const expected = check(fields[name]);
    if (expected !== undefined) return `an object whose ${name} is ${expected}`;
  }
  return undefined;
};

export const profileChecks: Readonly<Record<keyof Profile, Check>> = {
  wire,
  meanDiskLatencyMs: lengthMs,
  clockDrift: between(0, 0.9),
  faults: numbers(Object.keys(everyFault)),
  spares: between(0, 2),
  leaseClients: between(0, 3),
  meanFaultGapMs: lengthMs,
  faultsAtBirth: switched,
  meanOperationGapMs: lengthMs,
  readShare: probability,
  snapshotless: probability,
  options: numbers(undefined),
};
