/** Results of transactions and of changed limits, as the fields after their kind (resultCodec.ts). */
import type { CommandResult } from "./commands.ts";
import { maxListLimit, maxMessageChars, maxTransactionOps } from "./limits.ts";
import { optionalPairFromWire, optionalPairToWire, pairFromWire, pairToWire } from "./pairCodec.ts";
import { storeLimitNames } from "./storeLimits.ts";
import type { TransactionOpResult } from "./transactions.ts";
import { unreachable } from "./unreachable.ts";
import { everyItem, isBoolean, isInteger, isText, isTuple, wordAt } from "./wireFields.ts";

/** By their numbers on the wire: only ever add at the end. */
const opResultKinds = ["put", "deleted", "got", "listed"] as const;

export type StoreResult = Extract<
  CommandResult,
  { readonly kind: "transacted" | "quotaExceeded" | "tooLarge" | "storeLimited" }
>;

export function storeResultFields(result: StoreResult): unknown[] {
  switch (result.kind) {
    case "transacted":
      return [result.revision, result.succeeded, result.results.map(opResultToWire)];
    case "quotaExceeded":
      return [result.neededBytes, result.quotaBytes];
    case "tooLarge":
      return [result.reason.slice(0, maxMessageChars)];
    case "storeLimited":
      return storeLimitNames.map((name) => result.limits[name]);
    default:
      return unreachable(result);
  }
}

/** `fields` are those of the whole result. */
export function storeResultFromWire(
  kind: StoreResult["kind"],
  fields: readonly unknown[],
): StoreResult | undefined {
  const [, first, second] = fields;
  switch (kind) {
    case "transacted":
      return transactedFromWire(fields);
    case "quotaExceeded":
      if (!isTuple(fields, 3) || !isInteger(first, 0) || !isInteger(second, 0)) return undefined;
      return { kind, neededBytes: first, quotaBytes: second };
    case "tooLarge":
      return isTuple(fields, 2) && isText(first, maxMessageChars) ? { kind, reason: first } : undefined;
    case "storeLimited":
      return storeLimitedFromWire(fields);
    default:
      return unreachable(kind);
  }
}

function transactedFromWire(fields: readonly unknown[]): StoreResult | undefined {
  const [, revision, succeeded, items] = fields;
  const results = isTuple(fields, 4) ? everyItem(items, maxTransactionOps, opResultFromWire) : undefined;
  if (results === undefined || !isInteger(revision, 0) || !isBoolean(succeeded)) return undefined;
  return { kind: "transacted", revision, succeeded, results };
}

function storeLimitedFromWire(fields: readonly unknown[]): StoreResult | undefined {
  const [, historyRevisions, historyBytes, quotaBytes] = fields;
  if (!isTuple(fields, 4) || !isInteger(historyRevisions, 1) || !isInteger(historyBytes, 1)) return undefined;
  if (!isInteger(quotaBytes, 1)) return undefined;
  return { kind: "storeLimited", limits: { historyRevisions, historyBytes, quotaBytes } };
}

function opResultToWire(result: TransactionOpResult): unknown[] {
  const kind = opResultKinds.indexOf(result.kind);
  switch (result.kind) {
    case "put":
      return [kind];
    case "deleted":
      return [kind, result.count];
    case "got":
      return [kind, optionalPairToWire(result.pair)];
    case "listed":
      return [kind, result.pairs.map(pairToWire), result.more];
    default:
      return unreachable(result);
  }
}

function opResultFromWire(value: unknown): TransactionOpResult | undefined {
  if (!Array.isArray(value)) return undefined;
  const fields: readonly unknown[] = value;
  const kind = wordAt(opResultKinds, fields[0]);
  switch (kind) {
    case undefined:
      return undefined;
    case "put":
      return isTuple(fields, 1) ? { kind } : undefined;
    case "deleted": {
      const count = fields[1];
      return isTuple(fields, 2) && isInteger(count, 0) ? { kind, count } : undefined;
    }
    case "got": {
      const pair = isTuple(fields, 2) ? optionalPairFromWire(fields[1]) : "wrong";
      return pair === "wrong" ? undefined : { kind, pair };
    }
    case "listed": {
      const more = fields[2];
      const pairs = isTuple(fields, 3) ? everyItem(fields[1], maxListLimit, pairFromWire) : undefined;
      return pairs === undefined || !isBoolean(more) ? undefined : { kind, pairs, more };
    }
    default:
      return unreachable(kind);
  }
}
