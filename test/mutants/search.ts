/**
 * Searches seeds that find a mutant, for the catalogue: the first that does, with its violation.
 *
 *   QUORATE_MUTANT="the vote" npx --yes pnpm@12 exec vitest run test/mutants/search.test.ts
 */
import type { SimulationOptions, Violation } from "@quorate/sim";
import type { Mutant } from "./catalogue.ts";
import { loadMutated } from "./loadMutated.ts";

export interface Found {
  readonly options: SimulationOptions;
  readonly violation: Violation;
}

export async function searchKiller(
  mutant: Mutant,
  options: Omit<SimulationOptions, "seed">,
  seeds: number,
): Promise<Found | undefined> {
  const { sim, close } = await loadMutated(mutant);
  try {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const result = await sim.simulate({ ...options, seed });
      const violation = result.violations[0];
      if (violation !== undefined) return { options: { ...options, seed }, violation };
    }
    return undefined;
  } finally {
    await close();
  }
}
