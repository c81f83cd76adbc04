/**
 * A property test of a user's state machine: drawn schedules of faults and commands are run in the simulated cluster,
 * with every invariant of Raft and those of the machine checked at each event; a run that violates one is shrunk.
 *
 * One seed decides all of it. fast-check shrinks first, which knows how the commands were drawn; `minimize` then
 * leaves out what it could not, with other seeds of the run too. Both keep the invariant that was violated first, and
 * are bounded in runs, not in time, so that they come to the same case everywhere.
 */
import { QuorateError, type StateMachine } from "@quorate/raft";
import fc, { type Arbitrary, type RunDetails } from "fast-check";
import type { Violation } from "../invariants/history.ts";
import type { AnyMachineUnderTest } from "../machine/machineUnderTest.ts";
import { minimize } from "../schedule/minimize.ts";
import type { Schedule } from "../schedule/schedule.ts";
import { cutAfter } from "../schedule/smaller.ts";
import { type SimulationResult, simulate } from "../simulate.ts";
import { schedules } from "./arbitraries.ts";
import { CounterexampleError } from "./counterexample.ts";
import { type ResolvedSafetyOptions, resolveSafetyOptions, type SafetyOptions } from "./safetyOptions.ts";

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
  const counts = typeof constraints.nodes === "object" ? constraints.nodes : [constraints.nodes ?? 3];
  const search = new Search(options, counts);
  const details = await shrunk(schedules(constraints), search, { path, runs, seed });
  await search.minimize();
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
  const again = await search.run(found.schedule);
  throw new CounterexampleError({
    ...found,
    repetitions: again.repetitions,
    seed,
    path: details.counterexamplePath ?? "",
    isReplay: path !== undefined,
    runs: search.runsUntilFound,
    attempts: search.attempts,
    isSmallest: !search.wasStopped,
    isRepeatable: again.violations[0]?.sentence === found.violation.sentence,
  });
}

type Shrunk = RunDetails<[Schedule]>;

/** fast-check's part: draws the runs and shrinks the first that goes wrong, or goes to the one of the path. */
async function shrunk(
  drawn: Arbitrary<Schedule>,
  search: Search,
  { path, runs, seed }: Pick<ResolvedSafetyOptions, "path" | "runs" | "seed">,
): Promise<Shrunk> {
  const property = fc.asyncProperty(drawn, (schedule) => search.goesWell(schedule));
  if (path === undefined) return fc.check(property, { seed, numRuns: runs });
  const lost = (cause?: unknown): QuorateError =>
    new QuorateError(
      "INVALID_OPTIONS",
      `The path ${path} leads to no run: it is good for the seed and the options that it was printed with.`,
      { cause },
    );
  let details: Shrunk;
  try {
    details = await fc.check(property, { seed, numRuns: runs, path, endOnFailure: true });
  } catch (error) {
    throw String(error).includes("Unable to replay") ? lost(error) : error;
  }
  if (search.runsUntilFound === 0 && !search.wasStopped) throw lost();
  return details;
}

/** The shrinking has tried most of it under the seed of the case. */
const seedsForEach = 3;

class Search {
  /** By the user's code, and not caught by the simulation: no violation, and nothing to make smaller. */
  thrown: { readonly error: unknown } | undefined;
  found: { readonly schedule: Schedule; readonly violation: Violation } | undefined;
  runsUntilFound = 0;
  attempts = 0;
  wasStopped = false;
  private events = 0;
  private acknowledged = 0;
  private readonly machine: AnyMachineUnderTest;
  private readonly maxAttempts: number;
  private readonly signal: AbortSignal | undefined;

  private readonly nodes: readonly number[];

  // biome-ignore lint/suspicious/noExplicitAny: each machine is given its own commands alone.
  constructor(options: SafetyOptions<any, any>, nodes: readonly number[]) {
    this.nodes = nodes;
    this.machine = options;
    this.maxAttempts = options.maxAttempts ?? 500;
    this.signal = options.signal;
  }

  /** The property. Once stopped it holds for whatever is asked, and the search comes to its end by itself. */
  async goesWell(schedule: Schedule): Promise<boolean> {
    if (this.thrown !== undefined) return true;
    if (this.signal?.aborted === true || (this.found !== undefined && this.attempts >= this.maxAttempts)) {
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

  /** Leaves out of the case what the shrinking could not, with the attempts that are left. */
  async minimize(): Promise<void> {
    const left = this.maxAttempts - this.attempts;
    if (this.found === undefined || this.thrown !== undefined || this.wasStopped || left < 2) return;
    const fails = async (schedule: Schedule): Promise<Violation | undefined> => {
      if (this.thrown !== undefined || !this.nodes.includes(schedule.nodes)) return undefined;
      try {
        return await this.violationOf(schedule);
      } catch (error) {
        this.thrown = { error };
        return undefined;
      }
    };
    const small = await minimize(this.found.schedule, fails, {
      maxRuns: left,
      maxMs: Number.POSITIVE_INFINITY,
      maxSeeds: seedsForEach,
      ...(this.signal === undefined ? {} : { signal: this.signal }),
    });
    // Undefined: it went well this time, which is told of it.
    this.attempts += small?.runs ?? 1;
    if (small === undefined) return;
    this.found = { schedule: small.schedule, violation: small.violation };
    this.wasStopped = !small.isComplete;
  }

  async run(schedule: Schedule): Promise<SimulationResult> {
    const result = await simulate({ schedule, machine: this.machine, keptLines: 1 });
    this.events += result.events;
    this.acknowledged += result.stats.acknowledged;
    return result;
  }

  private async violationOf(schedule: Schedule): Promise<Violation | undefined> {
    return (await this.run(schedule)).violations[0];
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
