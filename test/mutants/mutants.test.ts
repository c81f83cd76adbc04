/**
 * Each mutant is found by its kept killer, for the right reason; the killer finds nothing in the sources as they are.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { violationsOf } from "./kill.ts";
import { type Loaded, loadMutated, occurrences } from "./loadMutated.ts";

describe("the sources as they are", () => {
  let sound: Loaded;
  beforeAll(async () => {
    sound = await loadMutated(undefined);
  });
  afterAll(() => sound.close());

  it.each(mutants)("pass what finds: $name", { timeout: 120_000 }, async ({ killedBy }) => {
    expect(await violationsOf(sound.sim, killedBy)).toEqual([]);
  });
});

describe("a bug put in on purpose is found", () => {
  it.each(mutants)("$name", { timeout: 120_000 }, async (mutant) => {
    expect(occurrences(mutant), `the text to replace is in ${mutant.file} once`).toBe(1);
    const loaded = await loadMutated(mutant);
    try {
      const violations = await violationsOf(loaded.sim, mutant.killedBy);
      expect(loaded.wasApplied).toBe(true);
      expect(mutant.as).toContain(violations[0]?.invariant);
    } finally {
      await loaded.close();
    }
  });
});
