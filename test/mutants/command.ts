/**
 * `pnpm mutants`: each mutant with what finds it now. Exit code 1 where one survives, 2 for words that make no sense.
 *
 *   npx --yes pnpm@12 mutants [NAME] [--minimize | --search | --refresh]
 *
 * NAME: only those whose name has these words. `--minimize` ends with the smallest schedule that shows the bug.
 * `--search` looks for it in the first 200 seeds anew, on all cores; `--refresh` does so and keeps what it found, in
 * kept.json and on the page of the documentation.
 */
import { writeFileSync } from "node:fs";
import { sizeOf, writeSchedule } from "@quorate/sim";
import { mutants } from "./catalogue.ts";
import { type Kept, readKept, writeKept } from "./kept.ts";
import { killBySeed, survivesCase } from "./killed.ts";
import type { Mutant } from "./mutant.ts";
import { runNamedCases } from "./namedCases.ts";
import { pageFile, pageOf } from "./page.ts";
import { searchedSeeds } from "./search.ts";
import { searchAll } from "./searchPool.ts";
import { shrink } from "./shrink.ts";

const known = ["--minimize", "--search", "--refresh"];

export async function runCommand(args: readonly string[]): Promise<number> {
  const words = args.filter((word) => !word.startsWith("--")).join(" ");
  const strange = args.find((word) => word.startsWith("--") && !known.includes(word));
  const chosen = mutants.filter(({ name }) => name.includes(words));
  if (strange !== undefined || chosen.length === 0) {
    const what = strange === undefined ? `No mutant has "${words}" in its name` : `There is no ${strange}`;
    process.stderr.write(`${what}. The mutants are:\n${mutants.map(({ name }) => `  ${name}`).join("\n")}\n`);
    return 2;
  }
  if (args.includes("--refresh") || args.includes("--search"))
    return search(chosen, args.includes("--refresh"));
  if (args.includes("--minimize")) return printSmallest(chosen);
  return printTable(chosen);
}

async function printTable(chosen: readonly Mutant[]): Promise<number> {
  const kept = readKept();
  let survivors = 0;
  process.stdout.write("| mutant | named case | kept seeds |\n|---|---|---|\n");
  for (const outcome of await runNamedCases(chosen)) {
    const { mutant } = outcome;
    const survives = survivesCase(outcome);
    const { by } = await killBySeed(mutant, kept);
    const isSilent = by === undefined && kept[mutant.name] !== undefined;
    if (survives !== undefined || isSilent) survivors += 1;
    const seeds = isSilent ? "**they say nothing any more: --refresh**" : (by ?? "none are kept");
    process.stdout.write(
      `| ${mutant.name} | ${survives === undefined ? mutant.killedBy.title : `**${survives}**`} | ${seeds} |\n`,
    );
  }
  process.stdout.write(`${chosen.length} mutants, ${survivors} survived\n`);
  return survivors === 0 ? 0 : 1;
}

async function search(chosen: readonly Mutant[], keeps: boolean): Promise<number> {
  const found = new Map<string, Kept[string]>();
  let survivors = 0;
  const searchable = chosen.filter(({ search }) => search.kind === "seeds");
  await searchAll(searchable, searchedSeeds, (mutant, searched) => {
    const { tried, strange } = searched;
    const seeds = searched.found.map(({ seed, invariant }) => `${seed} (${invariant})`).join(", ");
    if (seeds === "") survivors += 1;
    const also = strange === undefined ? "" : `; not expected: ${strange}`;
    process.stdout.write(`${mutant.name}: ${seeds === "" ? "SURVIVES" : seeds}; of ${tried} seeds${also}\n`);
    found.set(mutant.name, searched.found);
  });
  if (keeps) keep(found);
  process.stdout.write(`${searchable.length} mutants searched, ${survivors} survived\n`);
  return survivors === 0 ? 0 : 1;
}

/** What was searched anew replaces what was kept of it; of the others everything stays. */
function keep(found: ReadonlyMap<string, Kept[string]>): void {
  const before = readKept();
  const isSearched = (name: string): boolean =>
    mutants.some((mutant) => mutant.name === name && mutant.search.kind === "seeds");
  const kept = Object.fromEntries(
    mutants
      .map(({ name }) => [name, found.get(name) ?? before[name] ?? []] as const)
      .filter(([name, seeds]) => seeds.length > 0 && isSearched(name)),
  );
  writeKept(kept);
  writeFileSync(pageFile, pageOf(mutants, kept));
}

async function printSmallest(chosen: readonly Mutant[]): Promise<number> {
  let failures = 0;
  for (const mutant of chosen) {
    const shrunk = await shrink(mutant, readKept());
    if (shrunk === undefined) {
      const why = mutant.search.kind === "none" ? mutant.search.because : "no kept seed shows it: --refresh";
      process.stdout.write(`${mutant.name}: there is no schedule of it: ${why}\n`);
      failures += 1;
      continue;
    }
    const { schedule, violation, runs, from } = shrunk;
    const file = `quorate-mutant-${mutant.name.replace(/\W+/g, "-")}.json`;
    writeFileSync(file, writeSchedule(schedule));
    process.stdout.write(
      `${mutant.name}: from ${sizeOf(from)} events to ${sizeOf(schedule)} in ${runs} runs, in ${file}\n` +
        `  ${violation.invariant} at ${violation.atMs} ms: ${violation.sentence}\n`,
    );
    for (const { atMs, fault } of schedule.faults)
      process.stdout.write(`  ${atMs} ${JSON.stringify(fault)}\n`);
    for (const { atMs, operation } of schedule.operations ?? []) {
      process.stdout.write(`  ${atMs} ${JSON.stringify(operation)}\n`);
    }
  }
  return failures === 0 ? 0 : 1;
}
