/**
 * The sequence numbers of one session: how many commands may be unanswered at once, and below which number all are
 * finished, so that the server may forget their answers.
 *
 * A number is finished when its command has its answer **or was given up**: a late arrival of it is then refused.
 */
import { type Cancel, QuorateError } from "@quorate/raft";
import type { Patience } from "./patience.ts";
import { sessionWindow } from "./protocol/index.ts";

type Waiter = (sequence: number) => void;

export class SequenceWindow {
  readonly #maxWaiting: number;
  readonly #finished: Set<number> = new Set();
  readonly #waiters: Set<Waiter> = new Set();
  #next = 1;
  #ackedBelow = 1;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Every sequence below this one is finished. */
  get ackedBelow(): number {
    return this.#ackedBelow;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * A number to send a command under, or undefined where the patience ended first. First come, first served.
   * Rejects `OVERLOADED` where too many wait. Whoever gets a number finishes it.
   */
  async take(patience: Patience): Promise<number | undefined> {
    if (this.#waiters.size === 0 && !this.#isFull) return this.#draw();
    if (this.#waiters.size >= this.#maxWaiting) {
      throw new QuorateError(
        "OVERLOADED",
        `${sessionWindow} writes are under way and ${this.#maxWaiting} wait, which is the limit of one session. ` +
          "Wait for some of them before more are made.",
        { retryable: true },
      );
    }
    return this.#wait(patience);
  }

  finish(sequence: number): void {
    this.#finished.add(sequence);
    while (this.#finished.delete(this.#ackedBelow)) this.#ackedBelow += 1;
    for (const waiter of this.#waiters) {
      if (this.#isFull) return;
      waiter(this.#draw());
    }
  }

  /** The session has ended: whoever waits goes on, and finds that out. */
  release(): void {
    for (const waiter of this.#waiters) waiter(this.#draw());
  }

  get #isFull(): boolean {
    return this.#next >= this.#ackedBelow + sessionWindow;
  }

  #draw(): number {
    const sequence = this.#next;
    this.#next += 1;
    return sequence;
  }

  #wait(patience: Patience): Promise<number | undefined> {
    return new Promise((resolve) => {
      let cancelEnd: Cancel | undefined;
      const waiter: Waiter = (sequence) => {
        this.#waiters.delete(waiter);
        cancelEnd?.();
        resolve(sequence);
      };
      this.#waiters.add(waiter);
      cancelEnd = patience.onEnd(() => {
        this.#waiters.delete(waiter);
        resolve(undefined);
      });
    });
  }
}
