/** One seed, run to its end, and what of it is worth telling. Runs in a worker thread or in this one. */
import type { SimulationOptions, Violation } from "@quorate/sim";

export type SeedTask = SimulationOptions;

/** Plain data: it crosses between threads. */
export interface SeedOutcome {
  readonly seed: number;
  readonly events: number;
  readonly traceHash: string;
  readonly marks: readonly string[];
  /** Operations held against the checker of linearizability; 0: this run was not. */
  readonly checkedOperations: number;
  /** What was violated first, with all that is needed to look into it. */
  readonly failure: SeedFailure | undefined;
}

export interface SeedFailure {
  readonly violation: Violation;
  /** As text, see `readSchedule`. */
  readonly schedule: string;
  readonly lastLines: readonly string[];
}

export async function runSeed(task: SeedTask): Promise<SeedOutcome> {
  const { simulate, writeSchedule } = await import("@quorate/sim");
  const result = await simulate(task);
  const violation = result.violations[0];
  return {
    seed: result.seed,
    events: result.events,
    traceHash: result.traceHash,
    marks: [...result.marks.keys()],
    checkedOperations: result.checkedOperations,
    failure:
      violation === undefined
        ? undefined
        : { violation, schedule: writeSchedule(result.schedule), lastLines: result.lastLines },
  };
}
