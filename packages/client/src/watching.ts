/** Watches as their users see them. */
import type { KeyValue } from "./cluster.ts";

export interface WatchOptions {
  /** The first revision wanted, which must be kept. Default: after all that was acknowledged before the call. */
  readonly from?: number;
  /** With each change, the pair that it replaced or deleted. */
  readonly prevKv?: boolean;
  /** Only puts, or only deletes. Default: both. */
  readonly filter?: "puts" | "deletes";
  /** Also tell from time to time how far the watch has come, where nothing that it watches changes. */
  readonly progress?: boolean;
  /** Ends the watch with `ABORTED`. */
  readonly signal?: AbortSignal;
}

interface Change {
  readonly key: string;
  readonly keyBytes: Uint8Array;
  /** The store's revision that this change is part of. */
  readonly revision: number;
  /** No further change of this revision follows in this watch. */
  readonly last: boolean;
  /** With `prevKv`, the pair before; undefined where there was none. */
  readonly previous: KeyValue | undefined;
}

export interface PutEvent extends Change {
  readonly kind: "put";
  readonly entry: KeyValue;
}

export interface DeleteEvent extends Change {
  readonly kind: "delete";
}

/** Everything up to this revision has been given. */
export interface ProgressEvent {
  readonly kind: "progress";
  readonly revision: number;
}

export type ChangeEvent = PutEvent | DeleteEvent;
export type WatchEvent = ChangeEvent | ProgressEvent;

/**
 * Changes in the order of the store's revisions, each once, none left out. It begins when it is made, finds another
 * node by itself when its node goes, and goes on where it was.
 *
 * `for await` rejects `COMPACTED` (`CompactedError`), `OVERFLOW` (`OverflowError`), `ABORTED`, `CLOSED`, `OVERLOADED`
 * or `REFUSED`, each after everything that was received before; leaving the loop ends the watch.
 */
export interface Watch<Event extends WatchEvent = ChangeEvent>
  extends AsyncIterableIterator<Event>,
    AsyncDisposable {
  /**
   * Resolves when a node has taken the watch: it gives all that changes after `revision`. Rejects `TIMED_OUT` where
   * none did in time, and the watch goes on trying.
   */
  started(options?: { readonly timeoutMs?: number }): Promise<{ readonly revision: number }>;
  return(): Promise<IteratorResult<Event, undefined>>;
  [Symbol.asyncIterator](): Watch<Event>;
}
