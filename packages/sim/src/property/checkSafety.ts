/**
 * A property test of a user's state machine: drawn schedules of faults and commands are run in the simulated cluster,
 * with every invariant of Raft and those of the machine checked at each event; a run that violates one is shrunk.
 *
 * One seed decides all of it. Shrinking keeps the invariant that was violated first, and is bounded in runs, not in
 * time, so that it comes to the same case everywhere.
 */
import { QuorateError, type StateMachine } from "@quorate/raft";
import fc from "fast-check";
import type { Violation } from "../invariants/history.ts";
import type { MachineUnderTest } from "../machine/machineUnderTest.ts";
import type { Schedule } from "../schedule/schedule.ts";
import { cutAfter } from "../schedule/smaller.ts";
import { simulate } from "../simulate.ts";
import { schedules } from "./arbitraries.ts";
import { CounterexampleError } from "./counterexample.ts";
import { resolveSafetyOptions, type SafetyOptions } from "./safetyOptions.ts";

/** What was done, where nothing was violated. */
export interface SafetyReport {
  readonly runs: number;
  readonly events: number;
  /** Commands whose client got a result. */
  readonly acknowledged: number;
}

/**
 * Throws `CounterexampleError` with the smallest case found; `INVALID_OPTIONS` for options that cannot be, and if no
 * command ever came through; and whatever `encode` or `model` throw.
 */
export async function checkSafety<Command, M extends StateMachine<unknown>>(
  options: SafetyOptions<Command, M>,
): Promise<SafetyReport> {
  const { path, runs, seed, ...constraints } = resolveSafetyOptions(options);
  const search = new Search(options);
  const details = await fc.check(
    fc.asyncProperty(schedules(constraints), (schedule) => search.goesWell(schedule)),
    { seed, numRuns: runs, ...(path === undefined ? {} : { path, endOnFailure: true }) },
  );
  const { found, thrown } = search;
  if (thrown !== undefined) throw thrown.error;
  if (found === undefined) {
    if (search.wasStopped) {
      throw new QuorateError(
        "ABORTED",
        `The search was aborted after ${search.runsUntilFound} of ${runs} runs.`,
      );
    }
    return search.report();
  }
  throw new CounterexampleError({
    ...found,
    seed,
    path: details.counterexamplePath ?? "",
    isReplay: path !== undefined,
    runs: search.runsUntilFound,
    attempts: search.attempts,
    isSmallest: !search.wasStopped,
    isRepeatable: (await search.violationOf(found.schedule))?.sentence === found.violation.sentence,
  });
}

class Search {
  /** By the user's code, and not caught by the simulation: no violation, and nothing to make smaller. */
  thrown: { readonly error: unknown } | undefined;
  found: { readonly schedule: Schedule; readonly violation: Violation } | undefined;
  runsUntilFound = 0;
  attempts = 0;
  wasStopped = false;
  private events = 0;
  private acknowledged = 0;
  private readonly machine: MachineUnderTest;
  private readonly maxAttempts: number;
  private readonly signal: AbortSignal | undefined;

  constructor(options: SafetyOptions<unknown, StateMachine<unknown>>) {
    this.machine = options;
    this.maxAttempts = options.maxAttempts ?? 500;
    this.signal = options.signal;
  }

  /** The property. Once stopped it holds for whatever is asked, and the search comes to its end by itself. */
  async goesWell(schedule: Schedule): Promise<boolean> {
    if (this.thrown !== undefined) return true;
    if (this.signal?.aborted === true || this.attempts >= this.maxAttempts) {
      this.wasStopped = true;
      return true;
    }
    if (this.found === undefined) this.runsUntilFound += 1;
    else this.attempts += 1;
    let violation: Violation | undefined;
    try {
      violation = await this.violationOf(schedule);
    } catch (error) {
      this.thrown = { error };
    }
    if (violation === undefined) return true;
    if (this.found !== undefined && this.found.violation.invariant !== violation.invariant) return true;
    this.found = { schedule: cutAfter(schedule, violation), violation };
    return false;
  }

  async violationOf(schedule: Schedule): Promise<Violation | undefined> {
    const { events, stats, violations } = await simulate({ schedule, machine: this.machine, keptLines: 1 });
    this.events += events;
    this.acknowledged += stats.acknowledged;
    return violations[0];
  }

  report(): SafetyReport {
    const { acknowledged, events, runsUntilFound } = this;
    if (acknowledged === 0 && runsUntilFound > 1) {
      throw new QuorateError(
        "INVALID_OPTIONS",
        `No command came through in ${runsUntilFound} runs, so nothing was tested: allow for commands (maxCommands), ` +
          "for more time (durationMs) or for fewer faults (maxFaults).",
      );
    }
    return { runs: runsUntilFound, events, acknowledged };
  }
}
