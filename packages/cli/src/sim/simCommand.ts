/**
 * `quorate sim`: whole clusters in virtual time. One seed or many on all cores, or one schedule from a file; what is
 * violated is told with all that is needed to see it again.
 */
import type { ReplayOptions, SimulationOptions, SimulationResult } from "@quorate/sim";
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { readOptionFile } from "../optionValues.ts";
import { reportFailure } from "./failureReport.ts";
import { writeRunPage } from "./runPage.ts";
import { runSeeds } from "./seedPool.ts";
import { runSeed, type SeedFailure, type SeedOutcome, type SeedTask } from "./seedRun.ts";
import { requireOwnOperations, type SimOptions, simOptions } from "./simOptions.ts";
import { SimTally } from "./simTally.ts";

export async function runSim(options: GivenOptions): Promise<number> {
  const sim = await import("@quorate/sim");
  if (options.list) {
    const { listLines } = await import("./simList.ts");
    process.stdout.write(`${listLines(sim, options.json === true).join("\n")}\n`);
    return exitCodes.done;
  }
  const asked = simOptions(options, sim.profileNames);
  return asked.replay === undefined ? runRange(asked) : replay(asked, asked.replay);
}

async function runRange(asked: SimOptions): Promise<number> {
  const { namedProfiles, marksRequiredOf } = await import("@quorate/sim");
  const { from, to, nodes, layer, durationMs, maxEvents } = asked;
  const { profile } = namedProfiles[asked.profile];
  const limit = maxEvents === undefined ? {} : { maxEvents };
  const tasks = Array.from(
    { length: to - from + 1 },
    (_, at): SeedTask => ({ seed: from + at, nodes, layer, durationMs, profile, ...limit }),
  );
  const tally = new SimTally(() => performance.now());
  const showsProgress = process.stderr.isTTY && !asked.json;
  let failure: SeedFailure | undefined;
  const tell = (outcome: SeedOutcome): void => {
    tally.add(outcome);
    failure = outcome.failure;
    if (asked.json) process.stdout.write(`${JSON.stringify(outcomeAsJson(outcome))}\n`);
    if (showsProgress) process.stderr.write(`\r\u001b[K${tally.progress(tasks.length)}`);
  };
  const [only, ...more] = tasks;
  if (only !== undefined && more.length === 0) tell(await runSeed(only));
  else await runSeeds(tasks, tell);
  if (showsProgress) process.stderr.write("\r\u001b[K");
  if (only !== undefined) await show(failure, only, asked);
  const required = marksRequiredOf({ seeds: tasks.length, profile: asked.profile, layer, nodes });
  const missing = failure === undefined ? tally.missing(required) : [];
  if (missing.length > 0) {
    process.stderr.write(`quorate: required marks that no seed reached: ${missing.join(", ")}\n`);
  }
  conclude(tally, asked);
  return failure === undefined && missing.length === 0 ? exitCodes.done : exitCodes.failed;
}

async function replay(asked: SimOptions, file: string): Promise<number> {
  const { readSchedule, simulate, writeSchedule } = await import("@quorate/sim");
  const schedule = readSchedule(readOptionFile(file, "--replay"), file);
  requireOwnOperations(schedule, file);
  const onLine = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const tally = new SimTally(() => performance.now());
  const result = await simulate({ schedule, ...(asked.json ? {} : { onLine }) });
  const violation = result.violations[0];
  const failure =
    violation === undefined
      ? undefined
      : { violation, schedule: writeSchedule(result.schedule), lastLines: [] };
  tally.add(outcomeOf(result, failure));
  await show(failure, { schedule }, asked);
  conclude(tally, asked);
  return failure === undefined ? exitCodes.done : exitCodes.failed;
}

/** Tells what was violated, and writes the page: of the schedule that was written, where there is one. */
async function show(
  failure: SeedFailure | undefined,
  run: SimulationOptions | ReplayOptions,
  asked: SimOptions,
): Promise<void> {
  const written = failure === undefined ? undefined : await reportFailure(failure, asked);
  if (asked.html !== undefined) {
    await writeRunPage(written === undefined ? run : { schedule: written }, asked.html);
  }
}

function outcomeOf(result: SimulationResult, failure: SeedFailure | undefined): SeedOutcome {
  const { seed, events, traceHash, marks, checkedOperations } = result;
  return { seed, events, traceHash, marks: [...marks.keys()], checkedOperations, failure };
}

function conclude(tally: SimTally, { json }: SimOptions): void {
  const lines = json ? [JSON.stringify(tally.summary())] : tally.lines();
  process.stdout.write(`${lines.join("\n")}\n`);
}

function outcomeAsJson({ seed, events, traceHash, failure }: SeedOutcome): object {
  return { seed, events, traceHash, violation: failure?.violation ?? null };
}
