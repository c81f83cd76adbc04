/**
 * The table of mutants: each with what found it, in its first killer's run, and how large its smallest schedule is.
 *
 *   npx --yes pnpm@12 mutants [NAME] [--minimize]
 *
 * NAME: only those whose name has these words. Exit code 1 where one survives.
 */
import { writeFileSync } from "node:fs";
import { sizeOf, writeSchedule } from "@quorate/sim";
import { type Mutant, mutants } from "./catalogue.ts";
import { violationsOf } from "./kill.ts";
import { loadMutated } from "./loadMutated.ts";
import { shrink } from "./shrink.ts";

export async function printTable(args: readonly string[]): Promise<number> {
  const words = args.filter((word) => !word.startsWith("--")).join(" ");
  const strange = args.find((word) => word.startsWith("--") && word !== "--minimize");
  const chosen = mutants.filter(({ name }) => name.includes(words));
  if (strange !== undefined || chosen.length === 0) {
    const what = strange === undefined ? `No mutant has "${words}" in its name` : `There is no ${strange}`;
    process.stderr.write(`${what}. The mutants are:\n${mutants.map(({ name }) => `  ${name}`).join("\n")}\n`);
    return 2;
  }
  process.stdout.write("| mutant | killed by | found as |\n|---|---|---|\n");
  let survivors = 0;
  for (const mutant of chosen) {
    const found = await foundAs(mutant);
    if (found === undefined) survivors += 1;
    process.stdout.write(`| ${mutant.name} | ${killerOf(mutant)} | ${found ?? "**it survives**"} |\n`);
  }
  if (args.includes("--minimize")) for (const mutant of chosen) await printSmallest(mutant);
  process.stdout.write(`${chosen.length} mutants, ${survivors} survived\n`);
  return survivors === 0 ? 0 : 1;
}

async function foundAs(mutant: Mutant): Promise<string | undefined> {
  const { sim, close } = await loadMutated(mutant);
  try {
    const [violation] = await violationsOf(sim, mutant.killedBy);
    const isExpected = violation !== undefined && mutant.as.includes(violation.invariant);
    return isExpected ? violation.invariant : undefined;
  } finally {
    await close();
  }
}

export function killerOf({ killedBy }: Mutant): string {
  switch (killedBy.kind) {
    case "seed":
      return `seed ${killedBy.seed}, ${killedBy.nodes} nodes, layer ${killedBy.layer ?? "store"}`;
    case "scenario":
      return `scenario ${killedBy.scenario}, layer ${killedBy.layer}`;
  }
}

async function printSmallest(mutant: Mutant): Promise<void> {
  const shrunk = await shrink(mutant);
  if (shrunk === undefined) {
    process.stdout.write(`\n${mutant.name}: found by a scenario, which is as small as it is\n`);
    return;
  }
  const { schedule, violation, runs, from } = shrunk;
  const file = `quorate-mutant-${mutant.name.replace(/\W+/g, "-")}.json`;
  writeFileSync(file, writeSchedule(schedule));
  process.stdout.write(
    `\n${mutant.name}: from ${sizeOf(from)} events to ${sizeOf(schedule)} in ${runs} runs, in ${file}\n` +
      `  ${violation.invariant} at ${violation.atMs} ms: ${violation.sentence}\n`,
  );
  for (const { atMs, fault } of schedule.faults) process.stdout.write(`  ${atMs} ${JSON.stringify(fault)}\n`);
  for (const { atMs, operation } of schedule.operations ?? []) {
    process.stdout.write(`  ${atMs} ${JSON.stringify(operation)}\n`);
  }
}
