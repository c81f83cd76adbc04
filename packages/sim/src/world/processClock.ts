/**
 * The clock of one process: it has an origin of its own, may run faster or slower than true time, leap forward, and
 * stand still while its machine is suspended, which only the boot time notices.
 *
 * Timers are due by this clock. All it tells is a multiple of 1/8 ms and never falls. Only + − × ÷ are used.
 */
import type { Cancel, Clock } from "@quorate/raft";
import type { ClockBound } from "./clockBound.ts";
import type { SimulatedProcess } from "./process.ts";
import { quantised, type Timeline } from "./timeline.ts";

export class ProcessClock implements Clock {
  private readonly timeline: Timeline;
  private readonly process: SimulatedProcess;
  private readonly bound: ClockBound | undefined;
  private rate = 1;
  /** At the true time `sinceMs` it showed `atMs`. */
  private sinceMs: number;
  private atMs: number;
  private suspendedMs = 0;

  constructor(timeline: Timeline, process: SimulatedProcess, originMs: number, bound?: ClockBound) {
    this.timeline = timeline;
    this.process = process;
    this.bound = bound;
    this.sinceMs = timeline.nowMs;
    this.atMs = quantised(originMs);
  }

  nowMs(): number {
    return this.shownAt(this.runsUntilMs);
  }

  bootMs(): number {
    const { sleepsForMs } = this;
    return this.nowMs() + this.suspendedMs + (sleepsForMs === 0 ? 0 : quantised(sleepsForMs * this.rate));
  }

  after(delayMs: number, fn: () => void): Cancel {
    this.process.interacts();
    const wait = this.rate === 1 ? delayMs : this.trueWaitMs(this.nowMs() + quantised(Math.max(0, delayMs)));
    return this.timeline.schedule(Math.max(0, wait - this.sleepsForMs), this.process, fn, true);
  }

  defer(fn: () => void): void {
    this.process.interacts();
    this.timeline.schedule(0, this.process, fn);
  }

  /** From now on it runs `rate` times as fast as true time. */
  setRate(rate: number): void {
    if (rate === this.rate) return;
    this.bound?.runsAt(this, rate);
    this.change(() => {
      this.atMs = this.nowMs();
      this.sinceMs = this.runsUntilMs;
      this.rate = rate;
    });
  }

  /** Leaps forward; what has become due by that is due at once. */
  leap(byMs: number): void {
    this.bound?.leapt();
    this.change(() => {
      this.atMs += quantised(byMs);
    });
  }

  /** It has stood still for this long of true time: timers have as long to go as before. */
  stoodStill(forMs: number): void {
    this.sinceMs += forMs;
    this.suspendedMs += quantised(forMs * this.rate);
  }

  /** True time up to which it has run: until now, unless its machine sleeps. */
  private get runsUntilMs(): number {
    return this.process.suspendedSinceMs ?? this.timeline.nowMs;
  }

  private get sleepsForMs(): number {
    return this.timeline.nowMs - this.runsUntilMs;
  }

  private shownAt(trueMs: number): number {
    const passedMs = trueMs - this.sinceMs;
    return this.atMs + (this.rate === 1 ? passedMs : Math.floor(passedMs * this.rate * 8) / 8);
  }

  /** How long it takes until the clock shows `dueMs`. */
  private trueWaitMs(dueMs: number): number {
    const { runsUntilMs } = this;
    let waitMs = quantised(Math.max(0, dueMs - this.nowMs()) / this.rate);
    while (this.shownAt(runsUntilMs + waitMs) < dueMs) waitMs += 0.125;
    return waitMs;
  }

  /** Timers keep the time of this clock that they were set for. */
  private change(run: () => void): void {
    const dueMs = new Map<number, number>();
    this.timeline.retime(this.process, (trueMs) => {
      dueMs.set(trueMs, this.shownAt(trueMs));
      return trueMs;
    });
    run();
    this.timeline.retime(this.process, (trueMs) =>
      Math.max(this.timeline.nowMs, this.runsUntilMs + this.trueWaitMs(dueMs.get(trueMs) as number)),
    );
  }
}
