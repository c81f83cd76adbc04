/** Requests and changes of watches as positional arrays, checked field by field (requestCodec.ts). */
import { optionalPairFromWire, optionalPairToWire, pairFromWire, pairToWire } from "./pairCodec.ts";
import type { ResponseBody } from "./requests.ts";
import { maxChangesInResponse, type WatchedChange, type WatchFilter, type WatchRequest } from "./watches.ts";
import { everyItem, isBoolean, isInteger, isRangeBound, isTuple, isWireKey, wordAt } from "./wireFields.ts";

/** By their numbers on the wire: only ever add at the end. */
const filters: readonly WatchFilter[] = ["all", "puts", "deletes"];

/** The fields after a request's kind. */
export function watchToWire({ range, from, filter, previous }: WatchRequest): unknown[] {
  return [range.from, range.to, from, filters.indexOf(filter), previous];
}

/** `fields` are those of the whole request. */
export function watchFromWire(fields: readonly unknown[]): WatchRequest | undefined {
  if (!isTuple(fields, 8)) return undefined;
  const [, , , from, to, fromRevision, , previous] = fields;
  const filter = wordAt(filters, fields[6]);
  if (!isRangeBound(from) || !isRangeBound(to) || !isInteger(fromRevision, 0)) return undefined;
  if (filter === undefined || !isBoolean(previous)) return undefined;
  return { kind: "watch", range: { from, to }, from: fromRevision, filter, previous };
}

type WatchResponse = Extract<
  ResponseBody,
  { readonly kind: "compacted" | "overflowed" | "watching" | "changed" | "watchProgress" }
>;

/** The fields after a response's kind. */
export function watchResponseFields(body: WatchResponse): unknown[] {
  if (body.kind === "compacted") return [body.floor];
  return body.kind === "changed"
    ? [body.revision, body.changes.map(changeToWire), body.more]
    : [body.revision];
}

/** `fields` are those of the whole response. */
export function watchResponseFromWire(
  kind: WatchResponse["kind"],
  fields: readonly unknown[],
): WatchResponse | undefined {
  const [, , first, items, more] = fields;
  if (!isInteger(first, 0)) return undefined;
  if (kind !== "changed") {
    if (!isTuple(fields, 3)) return undefined;
    return kind === "compacted" ? { kind, floor: first } : { kind, revision: first };
  }
  const changes = isTuple(fields, 5) ? everyItem(items, maxChangesInResponse, changeFromWire) : undefined;
  return changes === undefined || !isBoolean(more) ? undefined : { kind, revision: first, changes, more };
}

/** A put is its pair; a delete is its key, which no pair is. */
function changeToWire({ key, pair, previous }: WatchedChange): unknown[] {
  return [pair === undefined ? key : pairToWire(pair), optionalPairToWire(previous)];
}

function changeFromWire(value: unknown): WatchedChange | undefined {
  if (!isTuple(value, 2)) return undefined;
  const previous = optionalPairFromWire(value[1]);
  if (previous === "wrong") return undefined;
  const [what] = value;
  if (isWireKey(what)) return { key: what, pair: undefined, previous };
  const pair = pairFromWire(what);
  return pair === undefined ? undefined : { key: pair.key, pair, previous };
}
