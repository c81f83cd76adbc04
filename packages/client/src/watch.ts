/**
 * A watch, across the nodes and connections that serve it one after the other.
 *
 *     pick a node ─► watch from `next` ─► changes, progress … ─► lost? again, from `next`
 *
 * `next` moves only over revisions that were received whole, so nothing is left out and nothing comes twice; and over
 * progress, so that a quiet watch never asks for history that was cut away long ago.
 */
import { type Cancel, type Clock, type Logger, QuorateError } from "@quorate/raft";
import { type BackoffOptions, backoffMs } from "./backoff.ts";
import type { Connection } from "./connection.ts";
import { CompactedError, OverflowError } from "./historyErrors.ts";
import { taken } from "./optionNames.ts";
import { Patience, pause } from "./patience.ts";
import {
  bytesOf,
  changeBytes,
  type Failure,
  type KeyRange,
  type ResponseBody,
  textOfByteString,
  type WatchedChange,
  type WatchFilter,
  watchWindowBytes,
} from "./protocol/index.ts";
import type { Router } from "./router.ts";
import { keyValueOf } from "./values.ts";
import type { ChangeEvent, Watch, WatchEvent } from "./watching.ts";
import { type QueuedEvent, WatchQueue } from "./watchQueue.ts";

export interface WatchPorts {
  readonly router: Router;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hold: () => Cancel;
  readonly requestTimeoutMs: number;
  readonly errorOf: (failure: Failure) => QuorateError;
  /** It is over. */
  readonly ended: (watch: KeyWatch) => void;
}

export interface WatchPlan {
  readonly range: KeyRange;
  /** 0: after all that was acknowledged before. */
  readonly from: number;
  readonly previous: boolean;
  readonly filter: WatchFilter;
  readonly progress: boolean;
  readonly signal: AbortSignal | undefined;
}

/** How a stream of one node ended. */
type StreamEnd =
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "over"; readonly error: unknown };

const pauses: BackoffOptions = { firstMs: 10, factor: 2, capMs: 1_000 };

export class KeyWatch implements Watch<WatchEvent> {
  readonly #ports: WatchPorts;
  readonly #plan: WatchPlan;
  readonly #queue: WatchQueue;
  readonly #startWaiters: Set<() => void> = new Set();
  readonly #abort: () => void;
  /** The first revision that is still wanted; 0 until a node has said where the watch begins. */
  #next: number;
  #startedAfter: number | undefined;
  #part: WatchedChange[] = [];
  #isOver = false;
  #error: unknown;
  #patience: Patience | undefined;
  #finishStream: (end: StreamEnd) => void = () => {};
  #sendCredit: (consumedBytes: number) => void = () => {};
  #stream = 0;
  #hasBegun = false;
  #consumedBytes = 0;
  #creditedBytes = 0;
  #release: Cancel | undefined;

  constructor(ports: WatchPorts, plan: WatchPlan) {
    this.#ports = ports;
    this.#plan = plan;
    this.#next = plan.from;
    this.#queue = new WatchQueue((item) => this.#taken(item));
    const { signal } = plan;
    this.#abort = (): void => {
      const facts = { cause: signal?.reason };
      this.finish(new QuorateError("ABORTED", "The caller's signal ended the watch.", facts));
    };
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener("abort", this.#abort, { once: true });
    void this.#run();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<WatchEvent, undefined>> {
    const result = this.#queue.next();
    if (this.#queue.isAwaited) this.#release ??= this.#ports.hold();
    try {
      return await result;
    } finally {
      if (!this.#queue.isAwaited) {
        this.#release?.();
        this.#release = undefined;
      }
    }
  }

  async return(): Promise<IteratorResult<WatchEvent, undefined>> {
    this.finish(undefined);
    this.#queue.drop();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async started(options: { readonly timeoutMs?: number } = {}): Promise<{ readonly revision: number }> {
    taken("watch.started", options);
    const { clock, hold, router } = this.#ports;
    const { timeoutMs = this.#ports.requestTimeoutMs } = options;
    const patience = new Patience(clock, { timeoutMs });
    const release = hold();
    try {
      while (this.#startedAfter === undefined && !this.#isOver && patience.ended === undefined) {
        await new Promise<void>((resolve) => {
          this.#startWaiters.add(resolve);
          patience.onEnd(resolve);
        });
      }
    } finally {
      patience.dispose();
      release();
    }
    if (this.#startedAfter !== undefined) return { revision: this.#startedAfter };
    if (this.#isOver) throw this.#error ?? new QuorateError("CLOSED", "The watch was ended.");
    const asked = `Asked were ${router.book.report()}.`;
    throw new QuorateError("TIMED_OUT", `No node took the watch within ${timeoutMs} ms. ${asked}`, {
      retryable: true,
    });
  }

  /** Ends it, with an error for its reader or quietly. Idempotent. */
  finish(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#plan.signal?.removeEventListener("abort", this.#abort);
    this.#queue.end(error);
    this.#finishStream({ kind: "over", error });
    this.#patience?.end({ kind: "closed", reason: "The watch is over." });
    this.#wakeStarters();
    this.#ports.ended(this);
  }

  async #run(): Promise<void> {
    for (let tries = 0; !this.#isOver; tries += 1) {
      const { clock, router, logger } = this.#ports;
      await this.#queue.room();
      if (this.#isOver) return;
      const pauseMs = tries > 1 ? backoffMs(router.random, pauses, tries - 2) : 0;
      // The search for a node has its whole time, however long the pause before it is.
      const patience = new Patience(clock, { timeoutMs: pauseMs + this.#ports.requestTimeoutMs });
      this.#patience = patience;
      try {
        if (pauseMs > 0) await pause(clock, pauseMs, patience);
        const connection = await router.pick("home", patience);
        if (connection === undefined || this.#isOver) continue;
        const end = await this.#streamFrom(connection);
        if (this.#hasBegun) tries = 0;
        if (end.kind === "failed") {
          if (!end.failure.retryable) this.finish(this.#ports.errorOf(end.failure));
          else router.blame("home", connection, end.failure.message);
        } else if (end.kind === "lost") {
          logger.debug({ endpoint: connection.endpoint, reason: end.reason }, "A watch goes on elsewhere.");
        }
      } catch (error) {
        // All nodes refuse this client.
        this.finish(error);
      } finally {
        patience.dispose();
      }
    }
  }

  /** Resolves when the node, the connection or the watch is done with it. */
  #streamFrom(connection: Connection): Promise<StreamEnd> {
    const { range, previous, filter } = this.#plan;
    this.#stream += 1;
    this.#hasBegun = false;
    this.#part = [];
    this.#consumedBytes = 0;
    this.#creditedBytes = 0;
    return new Promise((resolve) => {
      const opened = connection.openStream(
        { kind: "watch", range, from: this.#next, filter, previous },
        { received: (body) => this.#received(body), lost: (reason) => finish({ kind: "lost", reason }) },
      );
      const finish = (end: StreamEnd): void => {
        this.#finishStream = () => {};
        this.#sendCredit = () => {};
        if (opened.kind === "open") opened.close();
        resolve(end);
      };
      if (opened.kind === "open") {
        this.#finishStream = finish;
        this.#sendCredit = opened.credit;
      } else if (opened.kind === "unsent") resolve({ kind: "lost", reason: opened.reason });
      else resolve({ kind: "failed", failure: opened.failure });
    });
  }

  #received(body: ResponseBody): void {
    switch (body.kind) {
      case "watching":
        this.#begun(body.revision);
        return;
      case "changed":
        this.#changed(body.revision, body.changes, body.more);
        return;
      case "watchProgress":
        this.#progressed(body.revision);
        return;
      case "compacted":
        this.finish(new CompactedError(`the watch wanted revision ${this.#next}`, body.floor));
        return;
      case "overflowed":
        this.finish(new OverflowError(body.revision));
        return;
      case "failed":
        this.#finishStream({ kind: "failed", failure: body.failure });
        return;
      default: {
        const sentence = `The node answered a watch with "${body.kind}", which makes no sense.`;
        this.finish(new QuorateError("REFUSED", sentence));
      }
    }
  }

  #begun(revision: number): void {
    this.#hasBegun = true;
    this.#next = Math.max(this.#next, revision + 1);
    this.#startedAfter ??= revision;
    this.#wakeStarters();
  }

  #changed(revision: number, changes: readonly WatchedChange[], more: boolean): void {
    if (revision < this.#next) return;
    if (more) {
      this.#part.push(...changes);
      return;
    }
    const whole = this.#part.length === 0 ? changes : [...this.#part, ...changes];
    this.#part = [];
    this.#next = revision + 1;
    for (const [at, change] of whole.entries()) {
      const event = eventOf(change, revision, at === whole.length - 1);
      this.#queue.push({ event, bytes: changeBytes(change), stream: this.#stream });
    }
  }

  #progressed(revision: number): void {
    if (!this.#hasBegun || revision < this.#next) return;
    this.#next = revision + 1;
    if (!this.#plan.progress) return;
    this.#queue.push({ event: { kind: "progress", revision }, bytes: 0, stream: this.#stream });
  }

  #taken({ bytes, stream }: QueuedEvent): void {
    if (stream !== this.#stream) return;
    this.#consumedBytes += bytes;
    if (this.#consumedBytes - this.#creditedBytes < watchWindowBytes / 4) return;
    this.#creditedBytes = this.#consumedBytes;
    this.#sendCredit(this.#consumedBytes);
  }

  #wakeStarters(): void {
    for (const wake of this.#startWaiters) wake();
    this.#startWaiters.clear();
  }
}

function eventOf({ key, pair, previous }: WatchedChange, revision: number, last: boolean): ChangeEvent {
  const change = {
    key: textOfByteString(key),
    keyBytes: bytesOf(key),
    revision,
    last,
    previous: previous === undefined ? undefined : keyValueOf(previous, false),
  };
  return pair === undefined
    ? { kind: "delete", ...change }
    : { kind: "put", ...change, entry: keyValueOf(pair, false) };
}
