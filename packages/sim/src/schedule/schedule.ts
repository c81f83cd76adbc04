/**
 * A run as data: with it a run can be replayed, changed by hand and made smaller (minimize.ts).
 *
 * The seed decides what nobody decides on purpose, such as the delay of a frame; all that is done to the cluster from
 * outside is listed.
 */
import type { ScheduledFault } from "../faults/fault.ts";
import type { Profile } from "../faults/profile.ts";
import type { Layer } from "../layer.ts";
import type { ScheduledOperation } from "../workload/operation.ts";

export const scheduleVersion = 1;

export interface Schedule {
  readonly version: typeof scheduleVersion;
  /** An unsigned 32-bit integer. */
  readonly seed: number;
  /** 1 to 7; their names are a, b, c … */
  readonly nodes: number;
  readonly layer: Layer;
  /** What is left out is drawn from the seed. */
  readonly profile: Partial<Profile>;
  /** Virtual time of the safety phase, from the start of the nodes. */
  readonly durationMs: number;
  /** Whether everything is healed then, and the cluster has to come back. Default true. */
  readonly recovers?: boolean;
  readonly faults: readonly ScheduledFault[];
  /** Left out: drawn from the seed, at the profile's pace. */
  readonly operations?: readonly ScheduledOperation[];
}

/** How many decisions it holds: faults, and operations of clients. */
export function sizeOf(schedule: Schedule): number {
  return schedule.faults.length + (schedule.operations?.length ?? 0);
}
