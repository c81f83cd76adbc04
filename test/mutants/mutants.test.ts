/** The catalogue itself: every mutant fits the code that it breaks, and the documentation has all of them. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mutants } from "./catalogue.ts";
import { readKept } from "./kept.ts";
import { pageFile, pageOf } from "./page.ts";
import { occurrences } from "./sources.ts";

const kept = readKept();
const searched = mutants.filter(({ search }) => search.kind === "seeds");

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
