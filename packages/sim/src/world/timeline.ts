/**
 * Virtual time: a heap of what is to happen, ordered by (time, order of scheduling).
 *
 * All times are multiples of 1/8 ms, so that sums of them are exact and a timer never fires early by rounding. What
 * belongs to a dead process never happens; what belongs to a paused one waits for its resumption. Must never read a
 * real clock.
 */
import type { Cancel } from "@quorate/raft";
import type { SimulatedProcess } from "./process.ts";

export interface Occurrence {
  atMs: number;
  readonly order: number;
  /** Whose event it is; undefined: the world's own. */
  readonly owner: SimulatedProcess | undefined;
  /** After a pause, timers may run before what has arrived, or after. */
  readonly isTimer: boolean;
  run: (() => void) | undefined;
}

/**
 * Of what is scripted, by rank; what is scheduled begins at 0. All of them are small integers, of which the engine
 * makes no objects.
 */
const firstOrders = [-(2 ** 31), -(2 ** 30)] as const;

export function quantised(ms: number): number {
  return Math.ceil(ms * 8) / 8;
}

function isBefore(left: Occurrence, right: Occurrence): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);
}

export class Timeline {
  nowMs = 0;
  private readonly heap: Occurrence[] = [];
  private scheduled = 0;
  private scripted = 0;

  get size(): number {
    return this.heap.length;
  }

  /** Lets `run` happen `delayMs` from now, after all that is already scheduled for that time. */
  schedule(
    delayMs: number,
    owner: SimulatedProcess | undefined,
    run: () => void,
    isTimer: boolean = false,
  ): Cancel {
    const occurrence = this.place(delayMs, owner, run, isTimer);
    return () => {
      occurrence.run = undefined;
    };
  }

  /** As `schedule`, of what nobody takes back: a closure less for each of the most frequent events. */
  place(
    delayMs: number,
    owner: SimulatedProcess | undefined,
    run: () => void,
    isTimer: boolean = false,
  ): Occurrence {
    this.scheduled += 1;
    const atMs = this.nowMs + quantised(Math.max(0, delayMs));
    const occurrence: Occurrence = { atMs, order: this.scheduled, owner, isTimer, run };
    this.push(occurrence);
    return occurrence;
  }

  /**
   * What is done to the world from outside: before all else at that time, so that it makes no difference whether it
   * was decided long ago or just now. Of one time, those of rank 0 come before those of rank 1.
   */
  script(rank: 0 | 1, delayMs: number, run: () => void): void {
    this.scripted += 1;
    const atMs = this.nowMs + quantised(Math.max(0, delayMs));
    const order = this.scripted + firstOrders[rank];
    this.push({ atMs, order, owner: undefined, isTimer: false, run });
  }

  /** Moves the timers of `owner`: `timeOf` gives the new time of one that was to fire at the given time. */
  retime(owner: SimulatedProcess, timeOf: (atMs: number) => number): void {
    for (const occurrence of this.heap.splice(0)) {
      if (occurrence.owner === owner && occurrence.isTimer) {
        occurrence.atMs = Math.max(this.nowMs, timeOf(occurrence.atMs));
      }
      this.push(occurrence);
    }
  }

  /** Puts back what was held, in the given order, for now or for later. Gives what stands for it. */
  reschedule(held: readonly Occurrence[], atMs: number = this.nowMs): readonly Occurrence[] {
    const placed: Occurrence[] = [];
    for (const occurrence of held) {
      if (occurrence.run === undefined) continue;
      this.scheduled += 1;
      // The same object is not reused in the heap: its canceller must still reach the one that will run.
      const again: Occurrence = {
        atMs,
        order: this.scheduled,
        owner: occurrence.owner,
        isTimer: occurrence.isTimer,
        run: () => occurrence.run?.(),
      };
      this.push(again);
      placed.push(again);
    }
    return placed;
  }

  /** Advances to the next occurrence that may happen, at `untilMs` at the latest; undefined: nothing until then. */
  next(untilMs: number): (() => void) | undefined {
    for (;;) {
      const first = this.heap[0];
      if (first === undefined || first.atMs > untilMs) {
        this.nowMs = Math.max(this.nowMs, untilMs);
        return undefined;
      }
      this.pop();
      this.nowMs = first.atMs;
      const { owner, run } = first;
      if (run === undefined) continue;
      if (owner !== undefined && !owner.isAlive) continue;
      if (owner !== undefined && !owner.takes(first)) continue;
      first.run = undefined;
      return run;
    }
  }

  private push(occurrence: Occurrence): void {
    const heap = this.heap;
    let at = heap.length;
    heap.push(occurrence);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Occurrence;
      if (!isBefore(occurrence, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = occurrence;
  }

  private pop(): void {
    const heap = this.heap;
    const last = heap.pop() as Occurrence;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && isBefore(heap[right] as Occurrence, heap[child] as Occurrence))
        child = right;
      const below = heap[child] as Occurrence;
      if (!isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}
