/** From a kept seed of a mutant to the smallest schedule that still shows the bug. */
import type { Minimized, MinimizeOptions, Schedule } from "@quorate/sim";
import { type Kept, optionsOf } from "./kept.ts";
import { loadMutated } from "./loadMutated.ts";
import type { Mutant } from "./mutant.ts";

export interface Shrunk extends Minimized {
  readonly from: Schedule;
}

/** From the first kept seed that finds it; undefined where none does, or none is searched. */
export async function shrink(
  mutant: Mutant,
  kept: Kept,
  options?: MinimizeOptions,
): Promise<Shrunk | undefined> {
  const { search } = mutant;
  if (search.kind === "none") return undefined;
  const { sim, close } = await loadMutated(mutant);
  try {
    for (const { seed } of kept[mutant.name] ?? []) {
      const { schedule } = await sim.simulate(optionsOf(sim, search, seed));
      const minimized = await sim.minimize(schedule, sim.firstViolation, options);
      if (minimized !== undefined) return { ...minimized, from: schedule };
    }
    return undefined;
  } finally {
    await close();
  }
}
