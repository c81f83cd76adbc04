/** From a mutant's killing seed to the smallest schedule that still shows the bug. */
import type { Minimized, MinimizeOptions, Schedule } from "@quorate/sim";
import type { Mutant } from "./catalogue.ts";
import { loadMutated } from "./loadMutated.ts";

export interface Shrunk extends Minimized {
  readonly from: Schedule;
}

/** Undefined where no seed, but a scenario, finds the mutant. */
export async function shrink(mutant: Mutant, options?: MinimizeOptions): Promise<Shrunk | undefined> {
  if (mutant.killedBy.kind !== "seed") return undefined;
  const { kind: _, ...run } = mutant.killedBy;
  const { sim, close } = await loadMutated(mutant);
  try {
    const { schedule } = await sim.simulate(run);
    const minimized = await sim.minimize(schedule, sim.firstViolation, options);
    return minimized === undefined ? undefined : { ...minimized, from: schedule };
  } finally {
    await close();
  }
}
