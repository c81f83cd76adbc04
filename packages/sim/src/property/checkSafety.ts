/**
 * A property test of a user's state machine: drawn schedules of faults and commands are run in the simulated cluster,
 * with every invariant of Raft and those of the machine checked at each event; a run that violates one is shrunk.
 *
 * One seed decides all of it. Shrinking keeps the invariant that was violated first, and is bounded in runs, not in
 * time, so that it comes to the same case everywhere.
 */
import { QuorateError, type StateMachine } from "@quorate/raft";
import fc, { type Arbitrary } from "fast-check";
import type { Violation } from "../invariants/history.ts";
import type { MachineUnderTest } from "../machine/machineUnderTest.ts";
import type { Schedule } from "../schedule/schedule.ts";
import { cutAfter } from "../schedule/smaller.ts";
import { simulate } from "../simulate.ts";
import { type ListedFaultKind, schedules } from "./arbitraries.ts";
import { CounterexampleError } from "./counterexample.ts";

export interface SafetyOptions<Command, M extends StateMachine<unknown>>
  extends MachineUnderTest<Command, M> {
  /** What clients send. Plain data, unless `encode` is given. */
  readonly commands: Arbitrary<Command>;
  /** How many nodes, or one of these: 1 to 7. Default 3. */
  readonly nodes?: number | readonly number[];
  /** Default 100. */
  readonly runs?: number;
  /** Decides every run. Default 1: give another one for other runs. */
  readonly seed?: number;
  /** Of a case that was found: only that one is run. */
  readonly path?: string;
  /** Virtual time within which faults strike and commands are sent. Default 2,000. */
  readonly durationMs?: number;
  /** A run has at most so many. Default 20. */
  readonly maxCommands?: number;
  /** A run has at most so many. Default 6. */
  readonly maxFaults?: number;
  /** Default: all of them. */
  readonly faults?: readonly ListedFaultKind[];
  /** Runs, at most, to make a case smaller. Default 500. */
  readonly maxAttempts?: number;
  /** Ends it with `ABORTED` after the run under way, or, while a case is made smaller, with the smallest so far. */
  readonly signal?: AbortSignal;
}

/** What was done, where nothing was violated. */
export interface SafetyReport {
  readonly runs: number;
  readonly events: number;
  /** Commands whose client got a result. */
  readonly acknowledged: number;
}

/** Throws `CounterexampleError` with the smallest case found; `INVALID_OPTIONS` if no command ever came through. */
export async function checkSafety<Command, M extends StateMachine<unknown>>(
  options: SafetyOptions<Command, M>,
): Promise<SafetyReport> {
  const { durationMs, faults, maxCommands, maxFaults, nodes, path, runs = 100, seed = 1 } = options;
  const search = new Search(options);
  const drawn = schedules({
    commands: options.commands,
    maxOperations: maxCommands ?? 20,
    ...given({ durationMs, faults, maxFaults, nodes }),
  });
  const details = await fc.check(
    fc.asyncProperty(drawn, (schedule) => search.goesWell(schedule)),
    { seed, numRuns: runs, ...(path === undefined ? {} : { path, endOnFailure: true }) },
  );
  const { found } = search;
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
    if (this.signal?.aborted === true || this.attempts >= this.maxAttempts) {
      this.wasStopped = true;
      return true;
    }
    if (this.found === undefined) this.runsUntilFound += 1;
    else this.attempts += 1;
    const violation = await this.violationOf(schedule);
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

/** Without what was left out. */
function given<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
