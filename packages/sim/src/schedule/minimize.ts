/**
 * From a schedule that breaks something to a small one that still breaks the same invariant.
 *
 * In turn: what comes after the violation goes, then whole classes of faults and the wire's misbehaviour, then single
 * faults and single operations by delta debugging, nodes, and time; again from the start while that helped. Each step
 * is kept only if a run of the smaller schedule fails in the same way. Bounded in runs and in time; what has been
 * reached by then is given back.
 */
import { isDeepStrictEqual } from "node:util";
import type { InvariantName, Violation } from "../invariants/history.ts";
import type { AnyMachineUnderTest } from "../machine/machineUnderTest.ts";
import { simulate } from "../simulate.ts";
import { type Schedule, sizeOf } from "./schedule.ts";
import { cutAfter, simplerProfiles, withFewerNodes, withoutKind, withShorterFaults } from "./smaller.ts";

/** What a run of the schedule violates first, if anything. */
export type Fails = (schedule: Schedule) => Promise<Violation | undefined>;

export interface MinimizeOptions {
  /** Runs, at most. Default 1,000. */
  readonly maxRuns?: number;
  /** Real time, at most, but for the run under way. Default 120,000. */
  readonly maxMs?: number;
  /** Under how many seeds of the run a step that gains much is tried, at most. Default 16. */
  readonly maxSeeds?: number;
  readonly signal?: AbortSignal;
  /** After each step that was kept. */
  readonly onStep?: (schedule: Schedule, runs: number) => void;
}

export interface Minimized {
  readonly schedule: Schedule;
  /** Of the same invariant as at the beginning. */
  readonly violation: Violation;
  readonly runs: number;
  /** False: stopped by a bound or by the signal, and there may be a smaller one. */
  readonly isComplete: boolean;
}

/** Undefined: the schedule breaks nothing. The signal ends it early with what it has, and with no error. */
export async function minimize(
  schedule: Schedule,
  fails: Fails = (candidate) => firstViolation(candidate),
  options: MinimizeOptions = {},
): Promise<Minimized | undefined> {
  const violation = await fails(schedule);
  if (violation === undefined) return undefined;
  const search = new Search(schedule, violation, fails, options);
  await search.run();
  return search.result();
}

/** `machine`: yours, for a schedule with commands for it. */
export async function firstViolation(
  schedule: Schedule,
  machine?: AnyMachineUnderTest,
): Promise<Violation | undefined> {
  const given = machine === undefined ? {} : { machine };
  return (await simulate({ schedule, keptLines: 1, ...given })).violations[0];
}

const rounds = 4;
/**
 * A smaller schedule is another run, in which all that is left to chance falls differently: where much is gained it is
 * tried under a few more seeds before it is given up.
 */
const seedsForMuch = 16;
const seedsForSome = 6;

class Search {
  private best: Schedule;
  private violation: Violation;
  private readonly invariant: InvariantName;
  private runs = 1;
  private stopped = false;
  private readonly fails: Fails;
  private readonly options: MinimizeOptions;
  private readonly maxRuns: number;
  private readonly endsAtMs: number;

  constructor(schedule: Schedule, violation: Violation, fails: Fails, options: MinimizeOptions) {
    this.best = schedule;
    this.violation = violation;
    this.invariant = violation.invariant;
    this.fails = fails;
    this.options = options;
    this.maxRuns = options.maxRuns ?? 1_000;
    this.endsAtMs = performance.now() + (options.maxMs ?? 120_000);
  }

  result(): Minimized {
    return {
      schedule: this.best,
      violation: this.violation,
      runs: this.runs,
      isComplete: !this.stopped,
    };
  }

  async run(): Promise<void> {
    for (let round = 0; round < rounds && !this.isSpent(); round += 1) {
      const before = this.best;
      await this.attempt(cutAfter(this.best, this.violation));
      await this.classes();
      await this.list("faults");
      await this.list("operations");
      await this.nodes();
      await this.times();
      if (isDeepStrictEqual(this.best, before)) return;
    }
    this.stopped ||= this.isSpent();
  }

  private isSpent(): boolean {
    return (
      this.runs >= this.maxRuns || performance.now() >= this.endsAtMs || this.options.signal?.aborted === true
    );
  }

  /** Keeps the candidate if it fails in the same way. */
  private async attempt(candidate: Schedule, seeds: number = 1): Promise<boolean> {
    const most = Math.min(seeds, this.options.maxSeeds ?? seedsForMuch);
    for (let other = 0; other < most; other += 1) {
      const seed = (candidate.seed + other) >>> 0;
      if (await this.attemptOnce({ ...candidate, seed })) return true;
    }
    return false;
  }

  private async attemptOnce(candidate: Schedule): Promise<boolean> {
    if (this.isSpent()) {
      this.stopped = true;
      return false;
    }
    this.runs += 1;
    const violation = await this.fails(candidate);
    if (violation?.invariant !== this.invariant) return false;
    this.best = cutAfter(candidate, violation);
    this.violation = violation;
    this.options.onStep?.(this.best, this.runs);
    return true;
  }

  private async classes(): Promise<void> {
    if (sizeOf(this.best) > 0) {
      if (this.best.faults.length > 0) await this.attempt({ ...this.best, faults: [] }, seedsForMuch);
      if (this.best.operations?.length !== 0)
        await this.attempt({ ...this.best, operations: [] }, seedsForMuch);
    }
    for (const kind of new Set(this.best.faults.map(({ fault }) => fault.kind))) {
      await this.attempt(withoutKind(this.best, kind));
    }
    for (const simpler of simplerProfiles) {
      const profile = simpler(this.best.profile);
      if (profile !== this.best.profile) await this.attempt({ ...this.best, profile }, seedsForSome);
    }
  }

  /** Delta debugging: ever smaller pieces are left out. */
  private async list(name: "faults" | "operations"): Promise<void> {
    let size = Math.ceil((this.best[name]?.length ?? 0) / 2);
    while (size >= 1 && !this.isSpent()) {
      let from = 0;
      while (from < (this.best[name]?.length ?? 0) && !this.isSpent()) {
        const rest = this.best[name]?.toSpliced(from, size);
        const seeds = size > 1 ? seedsForSome : 1;
        if (!(await this.attempt({ ...this.best, [name]: rest }, seeds))) from += size;
      }
      if (size === 1) return;
      size = Math.ceil(size / 2);
    }
  }

  private async nodes(): Promise<void> {
    for (let nodes = 1; nodes < this.best.nodes; nodes += 1) {
      if (await this.attempt(withFewerNodes(this.best, nodes), seedsForSome)) return;
    }
  }

  private async times(): Promise<void> {
    for (let at = 0; at < this.best.faults.length; at += 1) {
      while ((this.best.faults[at]?.fault.forMs ?? 0) >= 2) {
        if (!(await this.attempt(withShorterFaults(this.best, at)))) break;
      }
    }
  }
}
