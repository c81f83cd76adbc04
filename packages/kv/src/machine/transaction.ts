/**
 * Transactions. All that is asked is looked at first: what the compares say, what the reads find, what is to be
 * written, and whether it fits. Only then is anything changed, all in one revision; so a refusal changes nothing.
 */
import {
  boundedEntries,
  type CommandResult,
  type Compare,
  type CompareOperator,
  type KeyRange,
  maxPageBytes,
  maxRangeDeleteBytes,
  maxRangeDeletes,
  maxTransactionAnswerBytes,
  pairOverheadBytes,
  type StoredPair,
  type Transaction,
  type TransactionOp,
  type TransactionOpResult,
  unreachable,
} from "@quorate/client/protocol";
import type { Change } from "./change.ts";
import { holdsLease } from "./leaseReads.ts";
import { noSession } from "./pairs.ts";
import { listPairs, pairsIn } from "./reads.ts";
import type { StoreState } from "./storeState.ts";
import { attachmentRefusal, bytesOfPair, growthOf, quotaRefusal, type Write, writePair } from "./writes.ts";

/** What the ops come to, before anything is done. */
interface Plan {
  /** That sends it. */
  readonly session: number | undefined;
  readonly writes: Write[];
  readonly results: TransactionOpResult[];
  /** Of all values that are read. */
  readBytes: number;
  /** Of all that is read, as it goes to the client in one answer and into its session's table. */
  answerBytes: number;
  /** Found by ranges that are to be deleted. */
  deletes: number;
  deletedBytes: number;
}

const readsTooLarge: CommandResult = {
  kind: "tooLarge",
  reason: `The transaction reads more than ${maxPageBytes} bytes; read less in it, or outside of it.`,
};
const deletesTooLarge: CommandResult = {
  kind: "tooLarge",
  reason:
    `The transaction deletes more than ${maxRangeDeletes} keys or ${maxRangeDeleteBytes} bytes by ranges; ` +
    "delete in parts.",
};

export function runTransaction(change: Change, transaction: Transaction): CommandResult {
  const { state } = change;
  if (needsSession(transaction) && change.sender === undefined) return noSession;
  const succeeded = transaction.compares.every((compare) => compareHolds(state, compare));
  const plan: Plan = {
    session: change.sender?.session,
    writes: [],
    results: [],
    readBytes: 0,
    answerBytes: 0,
    deletes: 0,
    deletedBytes: 0,
  };
  for (const op of succeeded ? transaction.onSuccess : transaction.onFailure) planOp(state, plan, op);
  if (plan.readBytes > maxPageBytes || plan.answerBytes > answerLimit(state)) return readsTooLarge;
  if (plan.deletes > maxRangeDeletes || plan.deletedBytes > maxRangeDeleteBytes) return deletesTooLarge;
  const { writes, results } = plan;
  const growth = writes.reduce((sum, write) => sum + growthOf(write), 0);
  const refusal = quotaRefusal(state, growth) ?? attachmentRefusal(change, writes);
  if (refusal !== undefined) return refusal;
  for (const write of writes) writePair(change, write);
  return { kind: "transacted", revision: state.revision, succeeded, results };
}

function needsSession({ onSuccess, onFailure }: Transaction): boolean {
  const attaches = (op: TransactionOp): boolean => op.kind === "put" && op.attached === true;
  return onSuccess.some(attaches) || onFailure.some(attaches);
}

function compareHolds(state: StoreState, compare: Compare): boolean {
  if (compare.kind === "holds") return holdsLease(state, compare.lease);
  const pair = state.pairs.get(compare.key);
  if (compare.kind !== "value")
    return isOrdered((pair?.[compare.kind] ?? 0) - compare.number, compare.operator);
  return pair !== undefined && isOrdered(byteOrder(pair.value, compare.value), compare.operator);
}

/** `order` is below, at or above 0 as the first is below, equal to or above the second. */
function isOrdered(order: number, operator: CompareOperator): boolean {
  switch (operator) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case ">":
      return order > 0;
    default:
      return unreachable(operator);
  }
}

function byteOrder(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function planOp(state: StoreState, plan: Plan, op: TransactionOp): void {
  switch (op.kind) {
    case "put": {
      const { key, value, format } = op;
      const session = op.attached === true ? plan.session : undefined;
      plan.writes.push({ key, before: state.pairs.get(key), put: { value, format, session } });
      plan.results.push({ kind: "put" });
      return;
    }
    case "delete": {
      const before = state.pairs.get(op.key);
      if (before !== undefined) plan.writes.push({ key: op.key, before, put: undefined });
      plan.results.push({ kind: "deleted", count: before === undefined ? 0 : 1 });
      return;
    }
    case "deleteRange":
      plan.results.push({ kind: "deleted", count: planDeletes(state, plan, op.range) });
      return;
    case "get": {
      const pair = state.pairs.get(op.key);
      plan.readBytes += pair === undefined ? pairOverheadBytes : pair.value.length;
      if (pair !== undefined) plan.answerBytes += bytesOfPair(pair);
      plan.results.push({ kind: "got", pair: pair && ownCopy(pair) });
      return;
    }
    case "list": {
      // A page has one pair at least: where even that is too much, the budget is exceeded and the whole refused.
      const left = Math.min(maxPageBytes - plan.readBytes, answerLimit(state) - plan.answerBytes);
      const maxBytes = Math.max(1, left);
      const { pairs, more } = listPairs(state, op.range, { ...op, maxBytes });
      for (const pair of pairs) {
        plan.readBytes += pair.value.length;
        plan.answerBytes += bytesOfPair(pair);
      }
      plan.results.push({ kind: "listed", pairs: pairs.map(ownCopy), more });
      return;
    }
    default:
      unreachable(op);
  }
}

/** As members of releases before have it, whose answers must not differ. */
function answerLimit({ version }: StoreState): number {
  return version < boundedEntries ? Number.POSITIVE_INFINITY : maxTransactionAnswerBytes;
}

/** Results are kept until the client has them, and must keep no slab alive. */
function ownCopy(pair: StoredPair): StoredPair {
  return { ...pair, value: pair.value.slice() };
}

/** Stops where it is too much: the transaction is then refused whole. */
function planDeletes(state: StoreState, plan: Plan, range: KeyRange): number {
  let count = 0;
  for (const before of pairsIn(state, range, false)) {
    plan.deletes += 1;
    plan.deletedBytes += bytesOfPair(before);
    if (plan.deletes > maxRangeDeletes || plan.deletedBytes > maxRangeDeleteBytes) break;
    plan.writes.push({ key: before.key, before, put: undefined });
    count += 1;
  }
  return count;
}
