/** What a range of seeds adds up to, and how it is told. Pure but for the clock that it is given. */
import { createHash } from "node:crypto";
import type { SeedOutcome } from "./seedRun.ts";

/** The last line of `--json`. */
export interface SimSummary {
  readonly seeds: number;
  readonly events: number;
  readonly eventsPerS: number;
  readonly violations: number;
  /** Seeds whose client operations were held against the checker of linearizability. */
  readonly checkedHistories: number;
  /** In how many seeds each was reached. */
  readonly marks: Readonly<Record<string, number>>;
  /** Of one seed its trace hash, of more the hash of theirs in order. */
  readonly traceHash: string;
}

export class SimTally {
  private seeds = 0;
  private events = 0;
  private violations = 0;
  private checkedHistories = 0;
  private readonly marks = new Map<string, number>();
  private readonly hashes = createHash("sha256");
  private lastHash = "";
  private readonly nowMs: () => number;
  private readonly beganMs: number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
    this.beganMs = nowMs();
  }

  add(outcome: SeedOutcome): void {
    this.seeds += 1;
    this.events += outcome.events;
    if (outcome.failure !== undefined) this.violations += 1;
    if (outcome.checkedOperations > 0) this.checkedHistories += 1;
    for (const mark of outcome.marks) this.marks.set(mark, (this.marks.get(mark) ?? 0) + 1);
    this.hashes.update(outcome.traceHash);
    this.lastHash = outcome.traceHash;
  }

  summary(): SimSummary {
    const hash = this.seeds === 1 ? this.lastHash : this.hashes.copy().digest("hex").slice(0, 16);
    return {
      seeds: this.seeds,
      events: this.events,
      eventsPerS: Math.round(this.events / this.seconds()),
      violations: this.violations,
      checkedHistories: this.checkedHistories,
      marks: Object.fromEntries([...this.marks].sort(([one], [other]) => (one < other ? -1 : 1))),
      traceHash: hash,
    };
  }

  progress(all: number): string {
    const { seeds, eventsPerS, marks } = this.summary();
    const perS = (seeds / this.seconds()).toFixed(1);
    return `${seeds} of ${all} seeds, ${perS} seeds/s, ${eventsPerS} events/s, ${Object.keys(marks).length} marks`;
  }

  lines(): readonly string[] {
    const { seeds, events, eventsPerS, violations, checkedHistories, marks, traceHash } = this.summary();
    const verdict = violations === 0 ? "no violation" : "a violation";
    return [
      `${seeds} seed${seeds === 1 ? "" : "s"}, ${events} events, ${eventsPerS} events/s: ${verdict}`,
      `histories of clients checked for linearizability: ${checkedHistories}`,
      `marks, and in how many seeds: ${Object.entries(marks)
        .map(([mark, count]) => `${mark} ${count}`)
        .join(", ")}`,
      `trace hash ${traceHash}`,
    ];
  }

  /** Of the required ones. */
  missing(required: readonly string[]): readonly string[] {
    return required.filter((mark) => !this.marks.has(mark));
  }

  private seconds(): number {
    return Math.max(0.001, (this.nowMs() - this.beganMs) / 1_000);
  }
}
