/**
 * A resource of one process, a directory of files or an HTTP service, that lets only the newest term act.
 *
 *   run(term) ─▶ older than the highest seen?  StaleTermError
 *             ─▶ newer?  older ones are refused from here on; those that act are waited for; the term is written down
 *             ─▶ act;  acts of one term may overlap
 *
 * Must never act under a term that is not kept durably yet: after a restart it would let an older one act again.
 */
import { type OptionNames, QuorateError, refuseUnknownOptions } from "@quorate/raft";
import { requireResource, requireTerm } from "./fencedAct.ts";
import { StaleTermError } from "./staleTermError.ts";

/** Where the highest term is kept. One process owns it. */
export interface TermStore {
  /** The term last written; 0 where none ever was. Rejects where that cannot be told for certain. */
  read(): Promise<number>;
  /** Resolves when the term is durable: synced, not only written. */
  write(term: number): Promise<void>;
}

export interface FencedResourceOptions {
  /** Its name in errors: 1 to 255 characters of printable ASCII. */
  readonly resource: string;
  readonly store: TermStore;
  /** Acts that may wait for older ones to end, 1 to 100,000; more are refused with `OVERLOADED`. Default 1,024. */
  readonly maxWaiting?: number;
}

const optionNames: OptionNames<FencedResourceOptions> = { resource: true, store: true, maxWaiting: true };

export class FencedResource {
  readonly resource: string;
  readonly #store: TermStore;
  readonly #maxWaiting: number;
  /** Durable. */
  #highest: number;
  /** The highest that asked, at least `#highest`: what is below it is refused. */
  #announced: number;
  #acting = 0;
  #waiting = 0;
  /** Resolves when no act is under way. */
  #idle: PromiseWithResolve | undefined;
  #raising: { readonly term: number; readonly done: Promise<void> } | undefined;

  private constructor({ resource, store, maxWaiting }: Required<FencedResourceOptions>, highest: number) {
    this.resource = resource;
    this.#store = store;
    this.#maxWaiting = maxWaiting;
    this.#highest = highest;
    this.#announced = highest;
  }

  /** Reads the highest term. Rejects `INVALID_ARGUMENT`, or as the store does. */
  static async open(options: FencedResourceOptions): Promise<FencedResource> {
    refuseUnknownOptions(options, { call: "FencedResource.open()", names: optionNames });
    const { resource, store, maxWaiting = 1_024 } = options;
    requireResource(resource);
    if (!Number.isInteger(maxWaiting) || maxWaiting < 1 || maxWaiting > 100_000) {
      throw new QuorateError(
        "INVALID_ARGUMENT",
        `maxWaiting is ${maxWaiting}; it has to be from 1 to 100000.`,
      );
    }
    const highest = await store.read();
    if (highest !== 0) requireTerm(highest);
    return new FencedResource({ resource, store, maxWaiting }, highest);
  }

  /** The highest term that asked to act; 0: none ever. */
  get highest(): number {
    return this.#announced;
  }

  /**
   * Acts under `term`, and gives what `act` gives. Acts of older terms that are under way are waited for, so `act`
   * should have a bound in time of its own; `signal` ends only the waiting before it.
   *
   * Rejects `StaleTermError`, `ABORTED`, `OVERLOADED`, as the store does, or with what `act` threw.
   */
  async run<Result>(
    term: number,
    act: () => Result | Promise<Result>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Result> {
    requireTerm(term);
    throwIfAborted(signal);
    this.#refuseOlder(term);
    this.#announced = term;
    if (this.#highest < term) await this.#wait(() => this.#raiseTo(term), signal);
    // A newer one may have come while this one waited.
    this.#refuseOlder(term);
    this.#acting += 1;
    try {
      return await act();
    } finally {
      this.#acting -= 1;
      if (this.#acting === 0) this.#idle?.resolve();
    }
  }

  #refuseOlder(term: number): void {
    if (term < this.#announced) throw new StaleTermError(this.resource, term, this.#announced);
  }

  async #wait(forWhat: () => Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting >= this.#maxWaiting) {
      throw new QuorateError(
        "OVERLOADED",
        `${this.#waiting} acts on ${JSON.stringify(this.resource)} wait for older ones to end, as many as may. Try later.`,
        { retryable: true },
      );
    }
    this.#waiting += 1;
    try {
      await orAborted(forWhat(), signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  /** One raise at a time; a failed one leaves older terms refused, and the next act of this term tries again. */
  async #raiseTo(term: number): Promise<void> {
    while (this.#highest < term) {
      if (this.#raising !== undefined && this.#raising.term < term) {
        // What becomes of an older one's raise is told to its own acts.
        await this.#raising.done.catch(() => {});
        continue;
      }
      this.#raising ??= { term, done: this.#raise(term) };
      await this.#raising.done;
    }
  }

  async #raise(term: number): Promise<void> {
    try {
      await this.#ended();
      await this.#store.write(term);
      this.#highest = term;
    } finally {
      this.#raising = undefined;
    }
  }

  async #ended(): Promise<void> {
    while (this.#acting > 0) {
      this.#idle ??= promiseWithResolve();
      await this.#idle.promise;
      this.#idle = undefined;
    }
  }
}

interface PromiseWithResolve {
  readonly promise: Promise<void>;
  resolve(): void;
}

function promiseWithResolve(): PromiseWithResolve {
  let resolve = (): void => {};
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}

function aborted(signal: AbortSignal): QuorateError {
  return new QuorateError("ABORTED", "The caller's signal ended the waiting.", { cause: signal.reason });
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal);
}

function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(aborted(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
