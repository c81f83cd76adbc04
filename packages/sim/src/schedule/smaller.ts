/** Schedules that are a little less than another one: the steps that `minimize` tries. Pure. */
import type { Fault, FaultKind, Path, ScheduledFault } from "../faults/fault.ts";
import { calmProfile, type Profile } from "../faults/profile.ts";
import { livenessNames } from "../invariants/catalogue.ts";
import type { InvariantName, Violation } from "../invariants/history.ts";
import type { ScheduledOperation } from "../workload/operation.ts";
import type { Schedule } from "./schedule.ts";

/** What is found by the recovery, which a schedule without it would not show. */
const foundAtTheEnd: ReadonlySet<InvariantName> = new Set([
  ...livenessNames,
  "liveness",
  "replica equality",
  "no false refusal",
  "durability",
  "exactly once",
  "linearizability",
]);

/** Nothing comes after the violation, where that is one of the safety phase. */
export function cutAfter(schedule: Schedule, { atMs, invariant }: Violation): Schedule {
  if (atMs > schedule.durationMs || (atMs === schedule.durationMs && foundAtTheEnd.has(invariant))) {
    return schedule;
  }
  const until = <T extends { readonly atMs: number }>(events: readonly T[]): readonly T[] =>
    events.filter((event) => event.atMs <= atMs);
  return {
    ...schedule,
    durationMs: atMs,
    recovers: false,
    faults: until(schedule.faults),
    ...(schedule.operations === undefined ? {} : { operations: until(schedule.operations) }),
  };
}

export function withoutKind(schedule: Schedule, kind: FaultKind): Schedule {
  return { ...schedule, faults: schedule.faults.filter(({ fault }) => fault.kind !== kind) };
}

type Simpler = (profile: Partial<Profile>) => Partial<Profile>;

function calmer(name: keyof Profile): Simpler {
  return (profile) =>
    JSON.stringify(profile[name]) === JSON.stringify(calmProfile[name])
      ? profile
      : { ...profile, [name]: calmProfile[name] };
}

function calmerWire(name: keyof Profile["wire"]): Simpler {
  return (profile) => {
    const { wire } = profile;
    const calm = calmProfile.wire[name];
    return wire === undefined || wire[name] === calm
      ? profile
      : { ...profile, wire: { ...wire, [name]: calm } };
  };
}

/** From all at once to one by one; each gives back the profile itself where it changes nothing. */
export const simplerProfiles: readonly Simpler[] = [
  calmer("wire"),
  calmer("meanDiskLatencyMs"),
  calmer("clockDrift"),
  calmer("options"),
  calmer("faults"),
  ...(Object.keys(calmProfile.wire) as (keyof Profile["wire"])[]).map(calmerWire),
];

/** Without the last nodes, and without what was done to them. */
export function withFewerNodes(schedule: Schedule, nodes: number): Schedule {
  // Bare cores have no spare nodes.
  const { spares = 0 } = schedule.layer === "core" ? {} : schedule.profile;
  const isLeft = (name: string): boolean => name.charCodeAt(0) - 97 < nodes + spares;
  const operations = schedule.operations?.filter(
    ({ operation }: ScheduledOperation) => !("node" in operation) || isLeft(operation.node),
  );
  return {
    ...schedule,
    nodes,
    faults: schedule.faults.flatMap((scheduled) => faultAmong(scheduled, isLeft)),
    ...(operations === undefined ? {} : { operations }),
  };
}

function faultAmong(scheduled: ScheduledFault, isLeft: (name: string) => boolean): ScheduledFault[] {
  const { atMs, fault } = scheduled;
  const left = (paths: readonly Path[]): readonly Path[] => paths.filter((path) => path.every(isLeft));
  const some = (smaller: Fault, paths: readonly Path[]): ScheduledFault[] =>
    paths.length === 0 ? [] : [{ atMs, fault: smaller }];
  switch (fault.kind) {
    case "partition": {
      const cuts = left(fault.cuts);
      return some({ ...fault, cuts }, cuts);
    }
    case "swizzleClog": {
      const stops = left(fault.stops);
      return some({ ...fault, stops, releases: left(fault.releases) }, stops);
    }
    case "flapping": {
      const paths = left(fault.paths);
      return some({ ...fault, paths }, paths);
    }
    case "lossyPath":
    case "clog":
      return isLeft(fault.from) && isLeft(fault.to) ? [scheduled] : [];
    case "foreignDisk":
      return isLeft(fault.from) && isLeft(fault.node) ? [scheduled] : [];
    case "crashAll":
    case "crashAtSnapshot":
      return [scheduled];
    case "transfer":
      return fault.target === "" || isLeft(fault.target) ? [scheduled] : [];
    case "member": {
      const steps = fault.steps.filter((step) => isLeft(step.node) && (!("of" in step) || isLeft(step.of)));
      return steps.length === 0 ? [] : [{ atMs, fault: { ...fault, steps } }];
    }
    default:
      return isLeft(fault.node) ? [scheduled] : [];
  }
}

/** The fault at this place lasts half as long. */
export function withShorterFaults(schedule: Schedule, at: number): Schedule {
  const faults = schedule.faults.map(({ atMs, fault }, place) =>
    place === at ? { atMs, fault: { ...fault, forMs: Math.floor(fault.forMs / 2) } } : { atMs, fault },
  );
  return { ...schedule, faults };
}
