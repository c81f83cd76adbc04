/**
 * What can be read of the state. Nothing here changes it. Values are given out as they are held, never copied: they
 * are not to be written to, and whoever keeps one keeps all of its slab.
 */
import {
  type ByteString,
  type KeyRange,
  maxPageBytes,
  pairOverheadBytes,
  type StoredPair,
} from "@quorate/client/protocol";
import type { StoreState } from "./storeState.ts";

export interface ListSpan {
  /** Pairs at most; from 1. */
  readonly limit: number;
  readonly reverse: boolean;
  /** Leaves the values empty. */
  readonly keysOnly: boolean;
  /** The page ends before its pairs exceed this, but has one pair at least. Default: `maxPageBytes`. */
  readonly maxBytes?: number;
}

export interface ListedPairs {
  readonly pairs: readonly StoredPair[];
  /** There are more in the range: after the last of these, or before it where `reverse` was asked for. */
  readonly more: boolean;
}

const noBytes = new Uint8Array(0);

/** The store's revision: that of its last change of a key; 0 where nothing was ever written. */
export function revision(state: StoreState): number {
  return state.revision;
}

export function pairCount(state: StoreState): number {
  return state.pairs.size;
}

export function getPair(state: StoreState, key: ByteString): StoredPair | undefined {
  return state.pairs.get(key);
}

/** In byte order of the keys. The next page begins at `keyAfter` the last key, or in reverse ends before it. */
export function listPairs(state: StoreState, range: KeyRange, span: ListSpan): ListedPairs {
  return pageOf(pairsIn(state, range, span.reverse), span);
}

/** As many of `all` as fit on a page. */
export function pageOf(all: Iterable<StoredPair>, span: ListSpan): ListedPairs {
  const maxBytes = span.maxBytes ?? maxPageBytes;
  const pairs: StoredPair[] = [];
  let bytes = 0;
  for (const pair of all) {
    bytes += pairOverheadBytes + pair.key.length + (span.keysOnly ? 0 : pair.value.length);
    if (pairs.length >= span.limit || (bytes > maxBytes && pairs.length > 0)) return { pairs, more: true };
    pairs.push(span.keysOnly ? { ...pair, value: noBytes } : pair);
  }
  return { pairs, more: false };
}

/** The range's pairs, in the asked order, as they are while the caller takes them: in one turn. */
export function* pairsIn(
  { pairs }: StoreState,
  { from, to }: KeyRange,
  reverse: boolean,
): Generator<StoredPair, void> {
  for (const pair of reverse ? pairs.pairsBackwards(to === "" ? undefined : to) : pairs.pairs(from)) {
    if (reverse ? pair.key < from : to !== "" && pair.key >= to) return;
    yield pair;
  }
}

export function isAlive(state: StoreState, session: number): boolean {
  return state.sessions.has(session);
}

/** Undefined where the session is not alive. */
export function sessionTtlMs(state: StoreState, session: number): number | undefined {
  return state.sessions.get(session)?.ttlMs;
}

/** Each living session's id and its `ttlMs`, in the order in which they were opened: a new map. */
export function sessions(state: StoreState): Map<number, number> {
  const ttls = new Map<number, number>();
  for (const [id, session] of state.sessions.entries()) ttls.set(id, session.ttlMs);
  return ttls;
}
