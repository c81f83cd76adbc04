/**
 * Every mutant fails its named case. The mutants are dealt out to several test files, so that the test runner's
 * processes share the work.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { survivesCase } from "./killed.ts";
import { type CaseOutcome, runNamedCases } from "./namedCases.ts";

/** The `part`th of `parts`, from 1. */
export function failTheirNamedCases(part: number, parts: number): void {
  const dealt = mutants.filter((_, at) => at % parts === part - 1);

  describe("a bug put in on purpose fails its named case", () => {
    let outcomes: readonly CaseOutcome[] = [];
    beforeAll(async () => {
      outcomes = await runNamedCases(dealt);
    }, 660_000);

    it.each(dealt)("$name", (mutant) => {
      const outcome = outcomes.find((each) => each.mutant === mutant);
      expect(outcome && survivesCase(outcome)).toBeUndefined();
      expect(outcome?.state).toBe("failed");
    });
  });
}
