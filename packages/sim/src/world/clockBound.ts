/**
 * How far clocks may be apart for what leases promise: whether any was further off, and when last. Beyond the bound
 * only fencing protects, and nothing else is held against a run.
 */
import type { Timeline } from "./timeline.ts";

/** Two clocks within this of true time are within the 2 % of each other that leases allow for. */
const allowedDrift = 0.0099;

export class ClockBound {
  private readonly timeline: Timeline;
  private readonly off = new Set<object>();
  private lastOffMs = Number.NEGATIVE_INFINITY;

  constructor(timeline: Timeline) {
    this.timeline = timeline;
  }

  /** This clock runs at another rate from now on. */
  runsAt(clock: object, rate: number): void {
    if (Math.abs(rate - 1) > allowedDrift) this.off.add(clock);
    else this.forget(clock);
  }

  leapt(): void {
    this.lastOffMs = this.timeline.nowMs;
  }

  /** Its process is gone. */
  forget(clock: object): void {
    if (this.off.delete(clock)) this.lastOffMs = this.timeline.nowMs;
  }

  /** Whether all have been within the bound since then, in true time. */
  holdsSince(trueMs: number): boolean {
    return this.off.size === 0 && this.lastOffMs < trueMs;
  }
}
