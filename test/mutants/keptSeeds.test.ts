/**
 * Mutants that random runs find are found by a seed that is kept of them; and the sources as they are pass those seeds.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { readKept, violationOf } from "./kept.ts";
import { killBySeed } from "./killed.ts";
import { type Loaded, loadMutated } from "./loadMutated.ts";
import type { Search } from "./mutant.ts";

const kept = readKept();

/** The others are searched by the nightly run, and found by their named case. */
const withSeeds = mutants.filter(({ name, search }) => search.kind === "seeds" && kept[name] !== undefined);

describe("a bug put in on purpose is found by a seed that was kept of it", () => {
  it.each(withSeeds)("$name", { timeout: 120_000 }, async (mutant) => {
    const { by, wasApplied } = await killBySeed(mutant, kept);
    expect(wasApplied).toBe(true);
    expect(by, "the kept seeds say nothing any more: npx --yes pnpm@12 mutants --refresh").toBeDefined();
  });
});

describe("the sources as they are", () => {
  let sound: Loaded;
  beforeAll(async () => {
    sound = await loadMutated(undefined);
  });
  afterAll(() => sound.close());

  /** Many mutants are found by the same run. */
  const runs = new Map<string, { search: Search; seed: number }>();
  for (const { name, search } of withSeeds) {
    const seed = kept[name]?.[0]?.seed;
    if (search.kind === "none" || seed === undefined) continue;
    const { as: _, ...run } = search;
    runs.set(JSON.stringify({ ...run, seed }), { search, seed });
  }

  it.each([...runs.values()])(
    "pass seed $seed of $search.nodes nodes, layer $search.layer",
    { timeout: 120_000 },
    async ({ search, seed }) => {
      expect(await violationOf(sound.sim, search, seed)).toBeUndefined();
    },
  );
});
