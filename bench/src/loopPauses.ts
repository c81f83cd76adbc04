/**
 * The longest pauses of this process's event loop, from one look to the next: how long each took, and how long without
 * the time in which the loop's thread waited for a processor, which Linux tells. On a machine with more to do than it
 * has processors the first is the system's doing as much as the program's.
 */
import { ProcessorWait } from "./processorWait.ts";

/** How often the loop is asked for a sign of life: what is told is that much too high at most. */
const everyMs = 2;

export interface WorstPauses {
  readonly pauseMs: number;
  /** Of the pause for which this is most. Where the system does not tell who waited: as `pauseMs`. */
  readonly ownPauseMs: number;
}

export class LoopPauses {
  readonly #processor: ProcessorWait = new ProcessorWait("thread-self");
  #lastMs: number = performance.now();
  #lastWaitedMs: number = this.#processor.totalMs();
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
    const waitedMs = this.#processor.totalMs();
    const pauseMs = Math.max(0, nowMs - this.#lastMs - everyMs);
    const ownPauseMs = Math.max(0, pauseMs - (waitedMs - this.#lastWaitedMs));
    this.#worst = {
      pauseMs: Math.max(this.#worst.pauseMs, pauseMs),
      ownPauseMs: Math.max(this.#worst.ownPauseMs, ownPauseMs),
    };
    this.#lastMs = nowMs;
    this.#lastWaitedMs = waitedMs;
  }
}
