/**
 * Transactions: compares over single keys, and what is done where all of them hold, and where not.
 *
 * Reads of a transaction see the store as it was before its writes. So what it answers and whether it is refused is
 * decided before anything changes: it happens whole, in one revision, or not at all. The rules here read the command
 * alone; the client and every node apply the same ones.
 */
import type { ByteString, Format } from "./commands.ts";
import { leaseAtProblem } from "./leaseCommandCodec.ts";
import type { LeaseAt } from "./leaseCommands.ts";
import { isKey, maxKeyBytes, maxListLimit, maxTransactionOps, maxValueBytes } from "./limits.ts";
import type { KeyRange, StoredPair } from "./requests.ts";

export type CompareOperator = "=" | "!=" | "<" | ">";

/**
 * A key that is absent has version, createRevision, modRevision and session 0, and no value: no compare of its value
 * holds. A key that is attached to no session has session 0 too.
 */
export type Compare =
  | {
      readonly kind: "version" | "createRevision" | "modRevision" | "session";
      readonly key: ByteString;
      readonly operator: CompareOperator;
      readonly number: number;
    }
  /** Values compare by their bytes. */
  | {
      readonly kind: "value";
      readonly key: ByteString;
      readonly operator: CompareOperator;
      readonly value: Uint8Array;
    }
  /** That grant of the lease is in force, and its holder knows it. */
  | { readonly kind: "holds"; readonly lease: LeaseAt };

export type TransactionOp =
  | {
      readonly kind: "put";
      readonly key: ByteString;
      readonly value: Uint8Array;
      readonly format: Format;
      /** Attached to the session that sends it. */
      readonly attached?: true;
    }
  | { readonly kind: "delete"; readonly key: ByteString }
  | { readonly kind: "deleteRange"; readonly range: KeyRange }
  | { readonly kind: "get"; readonly key: ByteString }
  | {
      readonly kind: "list";
      readonly range: KeyRange;
      readonly limit: number;
      readonly reverse: boolean;
      readonly keysOnly: boolean;
    };

export interface Transaction {
  readonly kind: "transaction";
  readonly compares: readonly Compare[];
  readonly onSuccess: readonly TransactionOp[];
  readonly onFailure: readonly TransactionOp[];
}

/** One for each op of the branch that ran, in order. */
export type TransactionOpResult =
  | { readonly kind: "put" }
  /** How many keys there were to delete: of a single key, 0 or 1. */
  | { readonly kind: "deleted"; readonly count: number }
  | { readonly kind: "got"; readonly pair: StoredPair | undefined }
  | { readonly kind: "listed"; readonly pairs: readonly StoredPair[]; readonly more: boolean };

export function isInRange(key: ByteString, { from, to }: KeyRange): boolean {
  return key >= from && (to === "" || key < to);
}

/** What is wrong with it, whatever the state; undefined where nothing is. */
export function transactionProblem({ compares, onSuccess, onFailure }: Transaction): string | undefined {
  if (compares.length > maxTransactionOps) return `it has more than ${maxTransactionOps} compares`;
  for (const compare of compares) {
    const problem = compareProblem(compare);
    if (problem !== undefined) return problem;
  }
  return branchProblem(onSuccess) ?? branchProblem(onFailure);
}

function compareProblem(compare: Compare): string | undefined {
  if (compare.kind === "holds") return leaseAtProblem(compare.lease);
  if (!isKey(compare.key)) return `a compare's key is not 1 to ${maxKeyBytes} bytes`;
  if (compare.kind === "value") {
    return compare.value.length > maxValueBytes
      ? `a compare's value is longer than ${maxValueBytes} bytes`
      : undefined;
  }
  return Number.isSafeInteger(compare.number) && compare.number >= 0
    ? undefined
    : `a compare's ${compare.kind} is no integer from 0`;
}

function branchProblem(ops: readonly TransactionOp[]): string | undefined {
  if (ops.length > maxTransactionOps) return `it has more than ${maxTransactionOps} operations in a branch`;
  for (const op of ops) {
    const problem = opProblem(op);
    if (problem !== undefined) return problem;
  }
  return isAnyWrittenTwice(ops)
    ? "it writes a key twice, and a transaction writes each at most once"
    : undefined;
}

function opProblem(op: TransactionOp): string | undefined {
  if (op.kind === "deleteRange") return undefined;
  if (op.kind === "list") {
    return Number.isSafeInteger(op.limit) && op.limit >= 1 && op.limit <= maxListLimit
      ? undefined
      : `a list's limit is not from 1 to ${maxListLimit}`;
  }
  if (!isKey(op.key)) return `an operation's key is not 1 to ${maxKeyBytes} bytes`;
  if (op.kind === "put" && op.value.length > maxValueBytes) {
    return `a value is longer than ${maxValueBytes} bytes`;
  }
  return undefined;
}

/** Where any two of them meet, so do two that are neighbours in byte order. */
function isAnyWrittenTwice(ops: readonly TransactionOp[]): boolean {
  const written: KeyRange[] = [];
  for (const op of ops) {
    if (op.kind === "put" || op.kind === "delete") written.push({ from: op.key, to: `${op.key}\0` });
    else if (op.kind === "deleteRange" && (op.range.to === "" || op.range.from < op.range.to))
      written.push(op.range);
  }
  written.sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  return written.some(({ from }, at) => {
    const before = written[at - 1];
    return before !== undefined && (before.to === "" || from < before.to);
  });
}
