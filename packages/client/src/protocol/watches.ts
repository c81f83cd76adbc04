/**
 * Watches as client and server speak of them: one request opens a stream of responses under its id, which ends with
 * `compacted` or `failed`, or when the client says `unwatch`.
 *
 * A server sends no more than a window of bytes that the client has not yet consumed. So what a slow reader keeps
 * waiting is bounded at both ends, and what it has not been sent is kept nowhere but in the store's history.
 */
import type { ByteString } from "./commands.ts";
import { pairOverheadBytes } from "./limits.ts";
import type { KeyRange, StoredPair } from "./requests.ts";

/** Which changes a watch is told. */
export type WatchFilter = "all" | "puts" | "deletes";

export interface WatchRequest {
  readonly kind: "watch";
  readonly range: KeyRange;
  /** The first revision wanted; 0: what comes after all that was acknowledged before this request. */
  readonly from: number;
  readonly filter: WatchFilter;
  /** With each change, the pair that it replaced or deleted. */
  readonly previous: boolean;
}

/** One key's change in a revision. */
export interface WatchedChange {
  readonly key: ByteString;
  /** As it was written; undefined: it was deleted. */
  readonly pair: StoredPair | undefined;
  /** Only where asked for, and where there was one. */
  readonly previous: StoredPair | undefined;
}

/** Bytes that a watch's client has been sent and has not consumed: above it nothing more is sent. */
export const watchWindowBytes = 262_144;

/** A revision that is larger is sent in parts. */
export const maxChangesBytes = 1_048_576;
export const maxChangesInResponse = 10_240;

/** What a change counts against the window, at both ends. */
export function changeBytes({ key, pair, previous }: WatchedChange): number {
  return pairOverheadBytes + key.length + (pair?.value.length ?? 0) + (previous?.value.length ?? 0);
}

export function passes(filter: WatchFilter, isDelete: boolean): boolean {
  return filter === "all" || (filter === "deletes") === isDelete;
}
