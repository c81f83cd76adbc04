/**
 * What is told of a violation: the invariant, the last lines of the trace, the schedule in a file, made small if that
 * was asked for, and the command that replays it.
 */
import { writeFileSync } from "node:fs";
import type { Schedule } from "@quorate/sim";
import type { SeedFailure } from "./seedRun.ts";
import type { SimOptions } from "./simOptions.ts";

const shownLines = 40;

/** Gives back the schedule that it wrote. */
export async function reportFailure(failure: SeedFailure, asked: SimOptions): Promise<Schedule> {
  const { readSchedule, writeSchedule } = await import("@quorate/sim");
  const found = readSchedule(failure.schedule);
  const schedule = asked.minimize ? await smallest(failure) : found;
  const file = `quorate-sim-${found.seed}${asked.minimize ? "-minimal" : ""}.json`;
  writeFileSync(file, writeSchedule(schedule));
  process.stderr.write(`${failureLines(failure, asked, found.seed, file).join("\n")}\n`);
  return schedule;
}

async function smallest(failure: SeedFailure): Promise<Schedule> {
  const { firstViolation, minimize, readSchedule, sizeOf } = await import("@quorate/sim");
  const schedule = readSchedule(failure.schedule);
  const small = await minimize(schedule, firstViolation, {
    onStep: (step, runs) => {
      if (process.stderr.isTTY) {
        process.stderr.write(`\r\u001b[Kminimizing: ${sizeOf(step)} events after ${runs} runs`);
      }
    },
  });
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  return small?.schedule ?? schedule;
}

/** For people; a program finds the violation in the seed's line of `--json`. */
export function failureLines(
  { violation, lastLines }: SeedFailure,
  asked: SimOptions,
  seed: number,
  file: string,
): readonly string[] {
  const { nodes, profile, layer, durationMs, maxEvents } = asked;
  const events = maxEvents === undefined ? "" : ` --events ${maxEvents}`;
  const again = `quorate sim --seed ${seed} --nodes ${nodes} --profile ${profile} --layer ${layer} --time ${durationMs}ms${events}`;
  return [
    ...lastLines.slice(-shownLines),
    "",
    `seed ${seed} violates "${violation.invariant}" at ${violation.atMs} ms: ${violation.sentence}`,
    ...(asked.replay === undefined ? [`the same seed again: ${again}`] : []),
    `its schedule with all of its trace: quorate sim --replay ${file}`,
    ...(asked.minimize ? [] : [`a smaller one: quorate sim --replay ${file} --minimize`]),
  ];
}
