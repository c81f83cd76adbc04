/**
 * One search for a node, however many calls wait for it. Rounds follow each other with growing, jittered pauses, and
 * only as long as somebody waits: a cluster that is down costs its clients next to nothing.
 */
import type { Cancel, Clock, QuorateError, Random } from "@quorate/raft";
import { type BackoffOptions, backoffMs } from "./backoff.ts";
import type { Connection } from "./connection.ts";
import type { Patience } from "./patience.ts";

/** What a round came to; an error ends all waiting, since more rounds are of no use. */
export type Found = Connection | QuorateError | undefined;

interface Waiter {
  readonly resolve: (connection: Connection | undefined) => void;
  readonly reject: (error: QuorateError) => void;
}

/** Grows slowly: a new leader should be found soon after it is elected. */
const pauses: BackoffOptions = { firstMs: 4, factor: 1.25, capMs: 500 };
/** So long the first pause stays: a leader that died is replaced within some tens of milliseconds. */
const eagerRounds = 8;

export class Finder {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Must not reject. */
  readonly #round: () => Promise<Found>;
  readonly #waiters: Set<Waiter> = new Set();
  #isSearching = false;
  #cancelPause: Cancel | undefined;

  constructor(clock: Clock, random: Random, round: () => Promise<Found>) {
    this.#clock = clock;
    this.#random = random;
    this.#round = round;
  }

  /** Undefined where the patience ended first. */
  find(patience: Patience): Promise<Connection | undefined> {
    return new Promise((resolve, reject) => {
      let cancelEnd: Cancel | undefined;
      const waiter: Waiter = {
        resolve: (connection) => {
          cancelEnd?.();
          resolve(connection);
        },
        reject: (error) => {
          cancelEnd?.();
          reject(error);
        },
      };
      this.#waiters.add(waiter);
      cancelEnd = patience.onEnd(() => {
        this.#waiters.delete(waiter);
        resolve(undefined);
        if (this.#waiters.size === 0) this.#stopPausing();
      });
      if (!this.#isSearching) void this.#search();
    });
  }

  async #search(): Promise<void> {
    this.#isSearching = true;
    for (let tries = 0; this.#waiters.size > 0; tries += 1) {
      const found = await this.#round();
      if (found !== undefined) this.#settle(found);
      else await this.#pause(backoffMs(this.#random, pauses, Math.max(0, tries - eagerRounds)));
    }
    this.#isSearching = false;
  }

  #settle(found: Connection | QuorateError): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) {
      if (found instanceof Error) waiter.reject(found);
      else waiter.resolve(found);
    }
  }

  #pause(delayMs: number): Promise<void> {
    if (this.#waiters.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancelTimer = this.#clock.after(delayMs, () => this.#stopPausing());
      this.#cancelPause = () => {
        cancelTimer();
        resolve();
      };
    });
  }

  #stopPausing(): void {
    const cancel = this.#cancelPause;
    this.#cancelPause = undefined;
    cancel?.();
  }
}
