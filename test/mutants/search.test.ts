/**
 * The search for a killing seed, which is how the kept seeds of the catalogue were found:
 *
 *   QUORATE_MUTANT="the vote is not" npx --yes pnpm@12 exec vitest run test/mutants/search.test.ts
 *
 * searches 200 seeds for each mutant whose name has these words and prints what it found; without the variable it
 * tries the search on the first mutant.
 */
import { describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { searchKiller } from "./search.ts";

const wanted = process.env.QUORATE_MUTANT ?? mutants[0]?.name ?? "";

describe("the search for a seed that finds a mutant", () => {
  it.each(mutants.filter(({ name }) => name.includes(wanted)))(
    "$name",
    { timeout: 1_200_000 },
    async (mutant) => {
      const { killedBy } = mutant;
      const options =
        killedBy.kind === "seed" ? killedBy : ({ nodes: 3, layer: "raft", durationMs: 4_000 } as const);
      const found = await searchKiller(mutant, options, process.env.QUORATE_MUTANT === undefined ? 20 : 200);
      if (process.env.QUORATE_MUTANT !== undefined) {
        const { seed } = found?.options ?? { seed: undefined };
        process.stdout.write(
          `${mutant.name}: seed ${seed}: ${found?.violation.invariant}: ${found?.violation.sentence}\n`,
        );
      }
      expect(found).toBeDefined();
    },
  );
});
