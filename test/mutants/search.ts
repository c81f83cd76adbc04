/** Searches the first seeds that find a mutant, from seed 1 on. */
import { type KeptSeed, keptSeeds, violationOf } from "./kept.ts";
import { loadMutated } from "./loadMutated.ts";
import type { Mutant } from "./mutant.ts";

/** Seeds that are tried for each mutant. */
export const searchedSeeds = 200;

export interface Searched {
  readonly found: readonly KeptSeed[];
  /** Seeds that were run. */
  readonly tried: number;
  /** A violation that the mutant is not expected to be found by: the first, with its seed. */
  readonly strange: string | undefined;
}

export async function searchSeeds(
  mutant: Mutant,
  seeds: number,
  wanted: number = keptSeeds,
): Promise<Searched> {
  const { search } = mutant;
  const found: KeptSeed[] = [];
  let strange: string | undefined;
  let seed = 0;
  if (search.kind === "none") return { found, tried: seed, strange };
  const { sim, close } = await loadMutated(mutant);
  try {
    while (seed < seeds && found.length < wanted) {
      seed += 1;
      const violation = await violationOf(sim, search, seed);
      if (violation === undefined) continue;
      const { invariant, sentence } = violation;
      if (search.as.includes(invariant)) found.push({ seed, invariant });
      else strange ??= `seed ${seed}: ${invariant}: ${sentence}`;
    }
  } finally {
    await close();
  }
  return { found, tried: seed, strange };
}
