/** The table of mutants as the documentation has it: docs/reference/mutants.md. */
import { join } from "node:path";
import type { Kept } from "./kept.ts";
import type { Mutant, Search } from "./mutant.ts";
import { root } from "./sources.ts";

export const pageFile: string = join(root, "docs", "reference", "mutants.md");

export function pageOf(mutants: readonly Mutant[], kept: Kept): string {
  return [
    "# Mutants",
    "",
    "Each line is a bug that somebody shipped, or a rule of the paper broken, put into the sources on purpose. Its named",
    "case fails with it, which every change's tests check; the seeds were found by a search of the simulator, which the",
    "nightly run repeats. A mutant that survives fails the build. This page is written by",
    "`npx --yes pnpm@12 mutants --refresh`; do not edit it.",
    "",
    `${mutants.length} mutants, of which seeds of the simulator are searched for ${mutants.filter(isSearched).length} and kept for ` +
      `${Object.keys(kept).length}.`,
    "",
    "| mutant | seen in | in | named case | found by the simulator |",
    "|---|---|---|---|---|",
    ...mutants.map((mutant) => rowOf(mutant, kept[mutant.name] ?? [])),
    "",
  ].join("\n");
}

function isSearched({ search }: Mutant): boolean {
  return search.kind === "seeds";
}

function rowOf(mutant: Mutant, seeds: Kept[string]): string {
  const { name, source, file, killedBy, search } = mutant;
  const found = search.kind === "none" ? `no: ${search.because}` : `${foundBy(seeds)} (${runOf(search)})`;
  const cells = [
    name,
    source,
    `\`${file.replace(/^packages\//, "").replace("/src/", "/")}\``,
    `\`${killedBy.file.replace(/^test\//, "")}\`: ${killedBy.title}`,
    found,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function foundBy(seeds: Kept[string]): string {
  const invariants = new Map<string, number[]>();
  if (seeds.length === 0) return "searched by the nightly run, no seed is kept";
  for (const { seed, invariant } of seeds)
    invariants.set(invariant, [...(invariants.get(invariant) ?? []), seed]);
  return [...invariants].map(([invariant, found]) => `${invariant}: seed ${found.join(", ")}`).join("; ");
}

function runOf({ layer, nodes, profile = "swarm" }: Search): string {
  return `${nodes} nodes, layer ${layer}, profile ${profile}`;
}
