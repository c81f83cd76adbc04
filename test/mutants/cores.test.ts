/**
 * Bugs put into the core are found by the bare cores too, and soon: each mutant here within its first seeds, by the
 * invariant that it breaks.
 */
import { describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { searchSeeds } from "./search.ts";

const chosen = [
  "the vote is not persisted",
  "a vote leaves before it is durable",
  "an entry of an older term commits by counting",
  "an append is acknowledged before its sync",
  "every append truncates what follows it, below the commit index too",
];

describe("a mutated core, run alone, is found out", () => {
  it.each(chosen)("%s", { timeout: 120_000 }, async (name) => {
    const mutant = mutants.find((one) => one.name === name);
    if (mutant?.search.kind !== "seeds") throw new Error(`there is no mutant "${name}" that is searched`);
    const search = { ...mutant.search, nodes: 5, layer: "core", durationMs: 2_000 } as const;
    const { found } = await searchSeeds({ ...mutant, search }, 60, 1);
    expect(found, "no seed of 60 finds it").toHaveLength(1);
  });
});
