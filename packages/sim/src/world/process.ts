/**
 * One simulated operating-system process: what can be killed, paused, starved and resumed, and how it sees time.
 *
 * Killing it drops every timer, frame and disk completion that was on its way to it; pausing holds them back, starving
 * lets one through now and then. A new start of the same node is a new process with another origin of its clock.
 */
import type { ClockBound } from "./clockBound.ts";
import { ProcessClock } from "./processClock.ts";
import type { Occurrence, Timeline } from "./timeline.ts";

export class SimulatedProcess {
  readonly name: string;
  readonly clock: ProcessClock;
  isAlive = true;
  isPaused = false;
  private readonly timeline: Timeline;
  private readonly deathWatchers = new Set<() => void>();
  private held: Occurrence[] = [];
  /** Its machine sleeps since then, and its monotonic clock stands still. */
  suspendedSinceMs: number | undefined;
  /** What one event takes; 0: nothing, as long as it is not starved. */
  eventMs = 0;
  private freeAtMs = 0;
  private backlog: Occurrence[] = [];
  private isWaking = false;
  /** The one whose turn it is. */
  private released: Occurrence | undefined;
  private doom: { left: number; readonly strike: () => void } | undefined;

  constructor(name: string, timeline: Timeline, originMs: number, bound?: ClockBound) {
    this.name = name;
    this.timeline = timeline;
    this.clock = new ProcessClock(timeline, this, originMs, bound);
    if (bound !== undefined) this.atDeath(() => bound.forget(this.clock));
  }

  /** Called once, when the process dies: sockets close, files lose what was not synced. */
  atDeath(watcher: () => void): void {
    this.deathWatchers.add(watcher);
  }

  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.held = [];
    this.backlog = [];
    this.doom = undefined;
    for (const watcher of this.deathWatchers) watcher();
  }

  pause(): void {
    this.isPaused = true;
  }

  /** As a pause of the whole machine: the monotonic clock stands still with it. */
  suspend(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.suspendedSinceMs = this.timeline.nowMs;
  }

  /** `timersFirst`: whether due timers run before what has arrived; an event loop may do either. */
  resume(timersFirst: boolean): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    const held = this.held;
    this.held = [];
    if (this.suspendedSinceMs !== undefined) {
      this.wakeUp(held, this.timeline.nowMs - this.suspendedSinceMs);
      return;
    }
    if (!timersFirst) {
      this.timeline.reschedule(held);
      return;
    }
    this.timeline.reschedule(held.filter((one) => one.isTimer));
    this.timeline.reschedule(held.filter((one) => !one.isTimer));
  }

  /** Keeps what has come to a paused process. */
  hold(occurrence: Occurrence): void {
    this.held.push(occurrence);
  }

  /** From now on each of its events takes `eventMs`, and the next one waits for it. 0: it has time enough again. */
  starve(eventMs: number): void {
    this.eventMs = eventMs;
    if (eventMs > 0) return;
    const { backlog } = this;
    this.backlog = [];
    this.released = undefined;
    this.timeline.reschedule(backlog);
  }

  /** `strike` is called at its `count`th interaction with the world: an event that comes, or a call of a port. */
  doomAt(count: number, strike: () => void): void {
    this.doom = { left: count, strike };
  }

  spare(): void {
    this.doom = undefined;
  }

  /** Called by each port before it does what it was asked; the process may be dead afterwards. */
  interacts(): void {
    const { doom } = this;
    if (doom === undefined) return;
    doom.left -= 1;
    if (doom.left > 0) return;
    this.doom = undefined;
    doom.strike();
  }

  /** Whether the occurrence, whose time has come, happens now. If not it is kept, or the process is dead. */
  takes(occurrence: Occurrence): boolean {
    if (this.isPaused) {
      if (occurrence === this.released) this.released = undefined;
      this.hold(occurrence);
      return false;
    }
    if (this.eventMs > 0 && !this.hasTimeFor(occurrence)) return false;
    if (this.doom !== undefined) this.interacts();
    return this.isAlive;
  }

  private hasTimeFor(occurrence: Occurrence): boolean {
    const { nowMs } = this.timeline;
    const isNext = this.backlog.length === 0 && this.released === undefined && nowMs >= this.freeAtMs;
    if (occurrence === this.released || isNext) {
      this.released = undefined;
      this.freeAtMs = nowMs + this.eventMs;
      if (this.backlog.length > 0) this.wakeWhenFree();
      return true;
    }
    this.backlog.push(occurrence);
    this.wakeWhenFree();
    return false;
  }

  private wakeWhenFree(): void {
    if (this.isWaking || this.released !== undefined) return;
    this.isWaking = true;
    this.timeline.schedule(this.freeAtMs - this.timeline.nowMs, undefined, () => {
      this.isWaking = false;
      while (this.released === undefined && this.backlog.length > 0) {
        this.released = this.timeline.reschedule(this.backlog.splice(0, 1))[0];
      }
    });
  }

  private wakeUp(held: readonly Occurrence[], forMs: number): void {
    this.suspendedSinceMs = undefined;
    this.clock.stoodStill(forMs);
    this.timeline.retime(this, (trueMs) => trueMs + forMs);
    this.timeline.reschedule(held.filter((one) => !one.isTimer));
    for (const timer of held.filter((one) => one.isTimer))
      this.timeline.reschedule([timer], timer.atMs + forMs);
  }
}
