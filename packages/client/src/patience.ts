/**
 * How long one call may go on: until its time is over, its caller's signal aborts, or the cluster object closes,
 * whichever is first.
 *
 * Everything in the client that waits, waits with a patience, so that every promise ends. A patience has one timer
 * and one listener on the caller's signal; `dispose` removes both, and whoever makes one disposes it.
 */
import { type Cancel, type Clock, QuorateError } from "@quorate/raft";

export type Ending =
  | { readonly kind: "timedOut"; readonly timeoutMs: number }
  | { readonly kind: "aborted"; readonly reason: unknown }
  | { readonly kind: "closed"; readonly reason: string };

export interface PatienceOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export class Patience {
  readonly timeoutMs: number;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #listeners: Set<() => void> = new Set();
  readonly #signal: AbortSignal | undefined;
  readonly #abort: () => void;
  #cancelTimer: Cancel;
  #ended: Ending | undefined;

  constructor(clock: Clock, options: PatienceOptions) {
    const { timeoutMs, signal } = options;
    this.timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#deadlineMs = clock.nowMs() + timeoutMs;
    this.#signal = signal;
    this.#abort = (): void => this.end({ kind: "aborted", reason: signal?.reason });
    // An answer that has arrived but was not read yet counts: the poll phase comes before the verdict.
    this.#cancelTimer = clock.after(timeoutMs, () => {
      clock.defer(() => this.end({ kind: "timedOut", timeoutMs }));
    });
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener("abort", this.#abort, { once: true });
  }

  get ended(): Ending | undefined {
    return this.#ended;
  }

  /** At least 1, so that it is always a legal timeout. */
  get remainingMs(): number {
    return Math.max(1, Math.ceil(this.#deadlineMs - this.#clock.nowMs()));
  }

  /** Calls `fn` once when the patience ends; at once where it has. The result removes `fn`. */
  onEnd(fn: () => void): Cancel {
    if (this.#ended !== undefined) {
      fn();
      return () => {};
    }
    this.#listeners.add(fn);
    return () => {
      this.#listeners.delete(fn);
    };
  }

  end(ending: Ending): void {
    if (this.#ended !== undefined) return;
    this.#ended = ending;
    this.#release();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }

  /** The call is over, or its caller is: nothing is called any more. */
  dispose(): void {
    this.#listeners.clear();
    this.#ended ??= { kind: "closed", reason: "The call is over." };
    this.#release();
  }

  #release(): void {
    this.#cancelTimer();
    this.#signal?.removeEventListener("abort", this.#abort);
  }
}

/** The calls under way of one cluster object, bounded, and ended together when it closes. */
export class Calls {
  readonly #clock: Clock;
  readonly #maxCalls: number;
  readonly #hold: () => Cancel;
  readonly #open: Set<Patience> = new Set();
  readonly #waits: Set<Patience> = new Set();
  #closedBecause: string | undefined;
  #release: Cancel | undefined;

  /** `hold` is called when there is something to wait for, and its result when there is nothing any more. */
  constructor(clock: Clock, maxCalls: number, hold: () => Cancel) {
    this.#clock = clock;
    this.#maxCalls = maxCalls;
    this.#hold = hold;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Runs `body` with a patience of its own, which ends also when the cluster object closes. */
  async run<T>(options: PatienceOptions, body: (patience: Patience) => Promise<T>): Promise<T> {
    if (this.#closedBecause === undefined && this.#open.size >= this.#maxCalls) {
      throw new QuorateError(
        "OVERLOADED",
        `${this.#maxCalls} calls are under way, which is the limit. Wait for some of them before more are made.`,
        { retryable: true },
      );
    }
    return this.#within(this.#open, options, body);
  }

  /** As `run`, for what waits until something happens: it does not count, as it leaves others their room. */
  async wait<T>(options: PatienceOptions, body: (patience: Patience) => Promise<T>): Promise<T> {
    return this.#within(this.#waits, options, body);
  }

  async #within<T>(
    among: Set<Patience>,
    options: PatienceOptions,
    body: (patience: Patience) => Promise<T>,
  ): Promise<T> {
    if (this.#closedBecause !== undefined) throw new QuorateError("CLOSED", this.#closedBecause);
    const patience = new Patience(this.#clock, options);
    among.add(patience);
    this.#release ??= this.#hold();
    try {
      return await body(patience);
    } finally {
      among.delete(patience);
      patience.dispose();
      if (this.#open.size + this.#waits.size === 0) {
        this.#release?.();
        this.#release = undefined;
      }
    }
  }

  /** `reason` is the sentence that calls under way, and later ones, are told. */
  close(reason: string): void {
    this.#closedBecause ??= reason;
    for (const patience of [...this.#open, ...this.#waits]) patience.end({ kind: "closed", reason });
  }
}

/** Resolves after `delayMs`, or as soon as the patience ends. */
export function pause(clock: Clock, delayMs: number, patience: Patience): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      cancelTimer();
      cancelEnd();
      resolve();
    };
    const cancelTimer = clock.after(delayMs, () => finish());
    let cancelEnd: Cancel = () => {};
    cancelEnd = patience.onEnd(finish);
  });
}

/** What `promise` gives, or undefined where the patience ends first. */
export function within<T>(promise: Promise<T>, patience: Patience): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = patience.onEnd(() => resolve(undefined));
    promise.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
