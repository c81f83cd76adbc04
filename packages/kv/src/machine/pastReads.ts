/**
 * Reads of the store as it was at a kept revision: the present, with what has changed since undone.
 *
 * Their cost grows with how many revisions lie between, which the limits of the history bound; the writes pay nothing
 * for them but their records.
 */
import { type ByteString, isInRange, type KeyRange, type StoredPair } from "@quorate/client/protocol";
import { beforeAt, isOfKey, keyAt } from "./changeBlock.ts";
import { changesAfter } from "./history.ts";
import type { PairMap } from "./pairMap.ts";
import { type ListedPairs, type ListSpan, pageOf, pairsIn } from "./reads.ts";
import type { StoreState } from "./storeState.ts";

export type Standing =
  | { readonly kind: "kept" }
  /** `floor` is the oldest revision that can be read. */
  | { readonly kind: "compacted"; readonly floor: number }
  /** `revision` is the store's present one. */
  | { readonly kind: "future"; readonly revision: number };

/** Whether the store can be read as it was at `revision`. */
export function standingOf(state: StoreState, revision: number): Standing {
  if (revision > state.revision) return { kind: "future", revision: state.revision };
  const { floor } = state.history;
  return revision < floor ? { kind: "compacted", floor } : { kind: "kept" };
}

/** The revision must be kept. */
export function getPairAt(state: StoreState, key: ByteString, revision: number): StoredPair | undefined {
  for (const { block, at } of changesAfter(state.history, revision)) {
    if (isOfKey(block, at, key)) return beforeAt(block, at);
  }
  return state.pairs.get(key);
}

/** As `listPairs`, of that revision, which must be kept. */
export function listPairsAt(
  state: StoreState,
  range: KeyRange,
  revision: number,
  span: ListSpan,
): ListedPairs {
  const undone = undoneIn(state, range, revision);
  return pageOf(pairsAt(state, range, undone, span.reverse), span);
}

/** For each key of the range that has changed since `revision`: the pair that it had then. */
function undoneIn(
  state: StoreState,
  range: KeyRange,
  revision: number,
): ReadonlyMap<ByteString, StoredPair | undefined> {
  const undone = new Map<ByteString, StoredPair | undefined>();
  for (const { block, at } of changesAfter(state.history, revision)) {
    const key = keyAt(block, at);
    if (isInRange(key, range) && !undone.has(key)) undone.set(key, beforeAt(block, at));
  }
  return undone;
}

/** What has not changed since, and what was there and has, in the asked order. */
function* pairsAt(
  state: StoreState,
  range: KeyRange,
  undone: ReadonlyMap<ByteString, StoredPair | undefined>,
  reverse: boolean,
): Generator<StoredPair, void> {
  const then = [...undone.values()].filter((pair) => pair !== undefined);
  const isBefore = reverse
    ? (a: ByteString, b: ByteString): boolean => a > b
    : (a: ByteString, b: ByteString): boolean => a < b;
  then.sort((a, b) => (isBefore(a.key, b.key) ? -1 : 1));
  let at = 0;
  for (const pair of pairsIn(state, range, reverse)) {
    for (let next = then[at]; next !== undefined && isBefore(next.key, pair.key); next = then[at]) {
      yield next;
      at += 1;
    }
    if (!undone.has(pair.key)) yield pair;
  }
  yield* then.slice(at);
}

/** A count under way: of the store as it was when it began, however long it takes. */
export interface Counting {
  readonly pairs: PairMap;
  readonly range: KeyRange;
  /** Where it goes on. */
  from: ByteString;
  count: number;
}

/** How many pairs `range` has at `revision`, which must be kept. `countOn` counts, in parts. */
export function beginCount(state: StoreState, range: KeyRange, revision: number): Counting {
  let count = 0;
  for (const [key, before] of undoneIn(state, range, revision)) {
    count += (before === undefined ? 0 : 1) - (state.pairs.has(key) ? 1 : 0);
  }
  return { pairs: state.pairs.clone(), range, from: range.from, count };
}

/** Looks at so many pairs at most; true where that was all. */
export function countOn(counting: Counting, maxPairs: number): boolean {
  const { pairs, range, from } = counting;
  const { count, next } = pairs.count(from, range.to === "" ? undefined : range.to, maxPairs);
  counting.count += count;
  if (next === undefined) return true;
  counting.from = next;
  return false;
}
