/**
 * Each mutant is found, by its named case and by a seed that is kept of it; and the sources as they are pass what finds
 * the mutants.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { readKept, violationOf } from "./kept.ts";
import { killBySeed, survivesCase } from "./killed.ts";
import { type Loaded, loadMutated } from "./loadMutated.ts";
import type { Search } from "./mutant.ts";
import { type CaseOutcome, runNamedCases } from "./namedCases.ts";
import { pageFile, pageOf } from "./page.ts";
import { occurrences } from "./sources.ts";

const kept = readKept();
const searched = mutants.filter(({ search }) => search.kind === "seeds");

/** The others are searched by the nightly run, and found by their named case here. */
const withSeeds = searched.filter(({ name }) => kept[name] !== undefined);

describe("the catalogue", () => {
  it.each(mutants)("has the text of: $name, once in its file", (mutant) => {
    expect(occurrences(mutant)).toBe(1);
  });

  it("names each mutant once, and keeps seeds of none that is not searched", () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
    expect(searched.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(kept)));
  });

  it("is what the documentation says: `npx --yes pnpm@12 mutants --refresh` writes it", () => {
    expect(readFileSync(pageFile, "utf8")).toBe(pageOf(mutants, kept));
  });
});

describe("a bug put in on purpose fails its named case", () => {
  let outcomes: readonly CaseOutcome[] = [];
  beforeAll(async () => {
    outcomes = await runNamedCases(mutants);
  }, 660_000);

  it.each(mutants)("$name", (mutant) => {
    const outcome = outcomes.find((each) => each.mutant === mutant);
    expect(outcome && survivesCase(outcome)).toBeUndefined();
    expect(outcome?.state).toBe("failed");
  });
});

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
