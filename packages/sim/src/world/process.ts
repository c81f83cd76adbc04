/**
 * One simulated operating-system process: what can be killed, paused and resumed, and how it sees time.
 *
 * Killing it drops every timer, frame and disk completion that was on its way to it; pausing holds them back. A new
 * start of the same node is a new process with another origin of its clock.
 */
import type { Cancel, Clock } from "@quorate/raft";
import { type Occurrence, quantised, type Timeline } from "./timeline.ts";

export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  isAlive = true;
  isPaused = false;
  private readonly timeline: Timeline;
  private readonly deathWatchers = new Set<() => void>();
  private held: Occurrence[] = [];

  constructor(name: string, timeline: Timeline, originMs: number) {
    this.name = name;
    this.timeline = timeline;
    const offsetMs = quantised(originMs) - timeline.nowMs;
    this.clock = {
      nowMs: () => timeline.nowMs + offsetMs,
      bootMs: () => timeline.nowMs + offsetMs,
      after: (delayMs, fn): Cancel => timeline.schedule(delayMs, this, fn, true),
      defer: (fn) => {
        timeline.schedule(0, this, fn);
      },
    };
  }

  /** Called once, when the process dies: sockets close, files lose what was not synced. */
  atDeath(watcher: () => void): void {
    this.deathWatchers.add(watcher);
  }

  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.held = [];
    for (const watcher of this.deathWatchers) watcher();
  }

  pause(): void {
    this.isPaused = true;
  }

  /** `timersFirst`: whether due timers run before what has arrived; an event loop may do either. */
  resume(timersFirst: boolean): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    const held = this.held;
    this.held = [];
    if (!timersFirst) {
      this.timeline.reschedule(held);
      return;
    }
    this.timeline.reschedule(held.filter((one) => one.isTimer));
    this.timeline.reschedule(held.filter((one) => !one.isTimer));
  }

  hold(occurrence: Occurrence): void {
    this.held.push(occurrence);
  }
}
