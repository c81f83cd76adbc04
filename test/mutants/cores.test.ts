/**
 * Bugs put into the core are found by the bare cores too, and soon: each mutant here within its first seeds, by the
 * invariant that it breaks.
 */
import { describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { searchKiller } from "./search.ts";

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
    if (mutant === undefined) throw new Error(`there is no mutant "${name}" any more`);
    const found = await searchKiller(mutant, { nodes: 5, layer: "core", durationMs: 2_000 }, 60);
    expect(found, "no seed of 60 finds it").toBeDefined();
    expect(mutant.as).toContain(found?.violation.invariant);
  });
});
