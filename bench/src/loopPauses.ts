/**
 * The longest pauses of this process's event loop, from one look to the next: how long each took, and how long without
 * the time in which the loop's thread waited for a processor, which Linux tells. On a machine with more to do than it
 * has processors the first is the system's doing as much as the program's.
 */
import { openSync, readSync } from "node:fs";

/** How often the loop is asked for a sign of life: what is told is that much too high at most. */
const everyMs = 2;

export interface WorstPauses {
  readonly pauseMs: number;
  /** Of the pause for which this is most. Where the system does not tell who waited: as `pauseMs`. */
  readonly ownPauseMs: number;
}

export class LoopPauses {
  readonly #schedule: number | undefined = openSchedule();
  readonly #buffer: Buffer = Buffer.alloc(128);
  #lastMs: number = performance.now();
  #lastWaitedMs: number = this.#waitedMs();
  #worst: WorstPauses = { pauseMs: 0, ownPauseMs: 0 };

  constructor() {
    setInterval(() => this.#look(), everyMs);
  }

  /** Since it was called last. */
  take(): WorstPauses {
    this.#look();
    const worst = this.#worst;
    this.#worst = { pauseMs: 0, ownPauseMs: 0 };
    return worst;
  }

  #look(): void {
    const nowMs = performance.now();
    const waitedMs = this.#waitedMs();
    const pauseMs = Math.max(0, nowMs - this.#lastMs - everyMs);
    const ownPauseMs = Math.max(0, pauseMs - (waitedMs - this.#lastWaitedMs));
    this.#worst = {
      pauseMs: Math.max(this.#worst.pauseMs, pauseMs),
      ownPauseMs: Math.max(this.#worst.ownPauseMs, ownPauseMs),
    };
    this.#lastMs = nowMs;
    this.#lastWaitedMs = waitedMs;
  }

  /** For how long the thread was ready to run and had no processor, all in all. */
  #waitedMs(): number {
    if (this.#schedule === undefined) return 0;
    const length = readSync(this.#schedule, this.#buffer, 0, this.#buffer.length, 0);
    const [, waitedNs] = this.#buffer.toString("latin1", 0, length).split(" ");
    return Number(waitedNs) / 1e6;
  }
}

/** Of this thread: time on a processor, time of waiting for one, both in nanoseconds, and how often it got one. */
function openSchedule(): number | undefined {
  try {
    return openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return undefined;
  }
}
