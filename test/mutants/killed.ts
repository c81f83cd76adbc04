/** Whether each mutant is found by what has to find it: its named case, and the seeds that are kept of it. */
import type { Kept } from "./kept.ts";
import { violationOf } from "./kept.ts";
import { loadMutated } from "./loadMutated.ts";
import type { Mutant } from "./mutant.ts";
import type { CaseOutcome } from "./namedCases.ts";

export interface Killing {
  /** `seed 4: commit rule`; undefined where no kept seed finds it. */
  readonly by: string | undefined;
  readonly wasApplied: boolean;
}

/** In the order in which they are kept, until one finds it. Of a mutant that is not searched: nothing. */
export async function killBySeed(mutant: Mutant, kept: Kept): Promise<Killing> {
  const { search } = mutant;
  if (search.kind === "none") return { by: undefined, wasApplied: true };
  const loaded = await loadMutated(mutant);
  try {
    for (const { seed } of kept[mutant.name] ?? []) {
      const violation = await violationOf(loaded.sim, search, seed);
      if (violation === undefined || !search.as.includes(violation.invariant)) continue;
      return { by: `seed ${seed}: ${violation.invariant}`, wasApplied: loaded.wasApplied };
    }
    return { by: undefined, wasApplied: loaded.wasApplied };
  } finally {
    await loaded.close();
  }
}

/** What is wrong with a mutant, as a clause; undefined where its named case finds it. */
export function survivesCase({ mutant, state, said, wasApplied }: CaseOutcome): string | undefined {
  const { file, title } = mutant.killedBy;
  if (!wasApplied) return `${file} loads nothing of ${mutant.file}`;
  if (state === "missing")
    return `${file} has not one test "${title}" that runs${said === "" ? "" : `: ${said}`}`;
  return state === "passed" ? `"${title}" passes with it` : undefined;
}
