/**
 * Reads of the store as it was at a kept revision: the present, with what has changed since undone.
 *
 * Their cost grows with how many revisions lie between, which the limits of the history bound; the writes pay nothing
 * for them but their records. A page looks at what has changed since where the page is, and makes nothing of the rest.
 */
import type { ByteString, KeyRange, StoredPair } from "@quorate/client/protocol";
import { beforeAt, isOfKey, isOfRange, keyAt, replacesLater, replacesPair } from "./changeBlock.ts";
import { type ChangePlace, changesAfter, createHistory, historyView } from "./history.ts";
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
  return pageOf(pairsAt(state, range, revision, span), span);
}

/**
 * Part by part of the range, of which the first has as many present pairs as a page may. Of those that came since
 * nothing is left: so each part is larger than the one before.
 */
function* pairsAt(
  state: StoreState,
  range: KeyRange,
  revision: number,
  { limit, reverse }: ListSpan,
): Generator<StoredPair, void> {
  let rest: KeyRange | undefined = range;
  for (let most = limit + 1; rest !== undefined; most *= partGrowth) {
    const end = keyBehind(state, rest, most, reverse);
    const part: KeyRange = end === undefined ? rest : reverse ? { ...rest, from: end } : { ...rest, to: end };
    yield* pairsOfPart(state, part, undoneIn(state, part, revision), reverse);
    rest = end === undefined ? undefined : reverse ? { ...rest, to: end } : { ...rest, from: end };
  }
}

const partGrowth = 4;

/** Of the pair behind the first `most` of the range; undefined where it has no more. */
function keyBehind(
  state: StoreState,
  range: KeyRange,
  most: number,
  reverse: boolean,
): ByteString | undefined {
  let count = 0;
  for (const { key } of pairsIn(state, range, reverse)) {
    count += 1;
    if (count > most) return key;
  }
  return undefined;
}

/** For each key of the range that has changed since `revision`: the pair that it had then. */
function undoneIn(
  state: StoreState,
  range: KeyRange,
  revision: number,
): ReadonlyMap<ByteString, StoredPair | undefined> {
  const undone = new Map<ByteString, StoredPair | undefined>();
  for (const [key, { block, at }] of firstChangesIn(state, range, revision))
    undone.set(key, beforeAt(block, at));
  return undone;
}

/** The first change of each key of the range after `revision`. */
function* firstChangesIn(
  { history }: Pick<StoreState, "history">,
  range: KeyRange,
  revision: number,
): Generator<readonly [key: ByteString, ChangePlace], void> {
  const found = new Set<ByteString>();
  for (const change of changesAfter(history, revision)) {
    const { block, at } = change;
    if (!isOfRange(block, at, range) || replacesLater(block, at, revision)) continue;
    const key = keyAt(block, at);
    if (found.has(key)) continue;
    found.add(key);
    yield [key, change];
  }
}

/** What has not changed since, and what was there and has, in the asked order. */
function* pairsOfPart(
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
  /** What is still to be undone, before the pairs are counted. */
  readonly undoing: Iterator<readonly [key: ByteString, ChangePlace]>;
}

/** To undo a change takes as long as to count so many pairs. */
const pairsPerChange = 16;

/** How many pairs `range` has at `revision`, which must be kept. `countOn` counts, in parts. */
export function beginCount(state: StoreState, range: KeyRange, revision: number): Counting {
  const pairs = state.pairs.clone();
  const history = revision === state.revision ? createHistory(revision) : historyView(state.history);
  return { pairs, range, from: range.from, count: 0, undoing: firstChangesIn({ history }, range, revision) };
}

/** Looks at about so many pairs at most; true where that was all. */
export function countOn(counting: Counting, maxPairs: number): boolean {
  const { pairs, range, from, undoing } = counting;
  let left = maxPairs;
  for (let next = undoing.next(); next.done !== true; next = undoing.next()) {
    const [key, { block, at }] = next.value;
    counting.count += (replacesPair(block, at) ? 1 : 0) - (pairs.has(key) ? 1 : 0);
    left -= pairsPerChange;
    if (left <= 0) return false;
  }
  const { count, next } = pairs.count(from, range.to === "" ? undefined : range.to, left);
  counting.count += count;
  if (next === undefined) return true;
  counting.from = next;
  return false;
}
