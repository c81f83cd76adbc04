/**
 * Transactions as their users write them, and what comes back: compares, what is done where all hold, what is done
 * where not.
 *
 *     await kv.txn().if({ key: "a", version: 0 }).then({ put: "a", value: 1 }).else({ get: "a" }).commit();
 */
import { type OptionNames, QuorateError, refuseUnknownOptions } from "@quorate/raft";
import type { Key, KeySet, KeyValue, RequestOptions, Value } from "./cluster.ts";
import { rangeOf, requireListOptions } from "./keySets.ts";
import { taken } from "./optionNames.ts";
import {
  type CommandResult,
  type Compare,
  type CompareOperator,
  defaultListLimit,
  encodeProposal,
  maxRequestBytes,
  type Transaction,
  type TransactionOp,
  type TransactionOpResult,
  transactionProblem,
} from "./protocol/index.ts";
import { encodeValue, keyBytes, keyValueOf } from "./values.ts";

/** Names one thing of the key and what it has to be; an absent key has version, revisions and session 0, no value. */
export type TxnKeyCompare = {
  readonly key: Key;
  /** Default `=`. */
  readonly is?: CompareOperator;
} & (
  | { readonly version: number }
  | { readonly createRevision: number }
  | { readonly modRevision: number }
  /** The id of the session that the key is attached to; 0: none. */
  | { readonly session: number }
  | { readonly value: Value }
);

/** That grant of the lease is in force: what fences a transaction. */
export interface TxnHolds {
  readonly holds: { readonly name: Key; readonly term: number };
}

export type TxnCompare = TxnKeyCompare | TxnHolds;

export interface TxnPut {
  readonly put: Key;
  readonly value: Value;
  /** Attached to the session of this cluster object: deleted when that ends. */
  readonly attached?: boolean;
}

/** A key, or a set of keys: `{ prefix }` or `{ from, to }`. */
export interface TxnDelete {
  readonly delete: Key | KeySet;
}

export interface TxnGet {
  readonly get: Key;
}

export interface TxnList {
  readonly list: KeySet;
  /** Default 1,000. */
  readonly limit?: number;
  readonly order?: "ascending" | "descending";
  readonly keysOnly?: boolean;
}

export type TxnOp = TxnPut | TxnDelete | TxnGet | TxnList;

export interface TxnDeleted {
  /** How many keys there were to delete. */
  readonly deleted: number;
}

export interface TxnGot {
  readonly entry: KeyValue | undefined;
}

export interface TxnListed {
  readonly entries: readonly KeyValue[];
  /** There are more than the limit, or than fit into one answer. */
  readonly more: boolean;
}

type TxnPutDone = Readonly<Record<never, never>>;

export type TxnOpResult<Op> = Op extends TxnPut
  ? TxnPutDone
  : Op extends TxnDelete
    ? TxnDeleted
    : Op extends TxnGet
      ? TxnGot
      : TxnListed;

type TxnResults<Ops extends readonly TxnOp[]> = { readonly [At in keyof Ops]: TxnOpResult<Ops[At]> };

export type TxnResult<Then extends readonly TxnOp[], Else extends readonly TxnOp[]> =
  | { readonly succeeded: true; readonly revision: number; readonly results: TxnResults<Then> }
  | { readonly succeeded: false; readonly revision: number; readonly results: TxnResults<Else> };

/**
 * All of it happens in one revision, or nothing does. A branch writes each key at most once, and its reads see the
 * store as it was before its writes.
 */
export interface Txn<Then extends readonly TxnOp[] = [], Else extends readonly TxnOp[] = []> {
  /** All of them have to hold. */
  if(...compares: readonly TxnCompare[]): Txn<Then, Else>;
  /** What is done where they hold; at most 128 operations. */
  then<const Ops extends readonly TxnOp[]>(...ops: Ops): Txn<Ops, Else>;
  /** What is done where one does not. */
  else<const Ops extends readonly TxnOp[]>(...ops: Ops): Txn<Then, Ops>;
  /** Sends it. `revision` is the store's after it. */
  commit(options?: RequestOptions): Promise<TxnResult<Then, Else>>;
}

export type CommitTransaction = (
  transaction: Transaction,
  options: RequestOptions,
) => Promise<Extract<CommandResult, { readonly kind: "transacted" }>>;

interface Parts {
  readonly compares: readonly TxnCompare[];
  readonly onSuccess: readonly TxnOp[];
  readonly onFailure: readonly TxnOp[];
}

export function transactionBuilder(commit: CommitTransaction): Txn {
  return builder(commit, { compares: [], onSuccess: [], onFailure: [] });
}

function builder<Then extends readonly TxnOp[], Else extends readonly TxnOp[]>(
  commit: CommitTransaction,
  parts: Parts,
): Txn<Then, Else> {
  return {
    if: (...compares) => builder(commit, { ...parts, compares: [...parts.compares, ...compares] }),
    // biome-ignore lint/suspicious/noThenProperty: it is what every user of a transaction looks for; see refuseAwait.
    then: <const Ops extends readonly TxnOp[]>(...ops: Ops): Txn<Ops, Else> => {
      refuseAwait(ops);
      return builder(commit, { ...parts, onSuccess: ops });
    },
    else: (...ops) => builder(commit, { ...parts, onFailure: ops }),
    commit: async (options = {}) => {
      taken("txn.commit", options);
      const transaction = encodeTransaction(parts);
      const { succeeded, revision, results } = await commit(transaction, options);
      const ops = succeeded ? transaction.onSuccess : transaction.onFailure;
      const told = results.map((result, at) => resultOf(result, ops[at]));
      return { succeeded, revision, results: told } as TxnResult<Then, Else>;
    },
  };
}

/** `await` takes what has a `then` for a promise, and would wait for this for ever. */
function refuseAwait(ops: readonly unknown[]): void {
  const [, reject] = ops;
  if (typeof reject !== "function") return;
  reject(new QuorateError("INVALID_ARGUMENT", "A transaction is sent by commit(): await that."));
}

function encodeTransaction({ compares, onSuccess, onFailure }: Parts): Transaction {
  const transaction: Transaction = {
    kind: "transaction",
    compares: compares.map(encodeCompare),
    onSuccess: onSuccess.map(encodeOp),
    onFailure: onFailure.map(encodeOp),
  };
  const problem = transactionProblem(transaction);
  if (problem !== undefined) {
    throw new QuorateError("INVALID_ARGUMENT", `The transaction cannot be sent: ${problem}.`);
  }
  const { length } = encodeProposal({ origin: { kind: "anonymous" }, command: transaction });
  if (length > maxRequestBytes - maxOriginBytes) {
    const sentence = `The transaction has ${length} bytes; about ${maxRequestBytes} are taken. Do it in parts.`;
    throw new QuorateError("TOO_LARGE", sentence);
  }
  return transaction;
}

/** Three integers. */
const maxOriginBytes = 24;
const targets = ["version", "createRevision", "modRevision", "session", "value"] as const;
const operators: readonly CompareOperator[] = ["=", "!=", "<", ">"];

const opNames = {
  put: { put: true, value: true, attached: true },
  delete: { delete: true },
  get: { get: true },
  list: { list: true, limit: true, order: true, keysOnly: true },
} as const;
const holdsNames: OptionNames<TxnHolds> = { holds: true };
const compareNames = { key: true, is: true, ...Object.fromEntries(targets.map((target) => [target, true])) };

/** Of a write alone these would be its condition. */
function placeOf(name: string): string | undefined {
  return name === "ifRevision" || name === "ifAbsent" || name === "fence"
    ? "what has to hold stands in if()"
    : undefined;
}

function encodeCompare(compare: TxnCompare): Compare {
  const names = "holds" in compare ? holdsNames : compareNames;
  refuseUnknownOptions(compare, { call: "a compare", names });
  if ("holds" in compare) {
    const { name, term } = compare.holds;
    return { kind: "holds", lease: { name: keyBytes(name, "name of a lease"), term } };
  }
  const key = keyBytes(compare.key, "key of a compare");
  const { is: operator = "=" } = compare;
  const named = targets.filter((target) => target in compare);
  const [kind] = named;
  if (kind === undefined || named.length > 1 || !operators.includes(operator)) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `A compare names one of ${targets.join(", ")}, and \`is\` one of ${operators.join(" ")}.`,
    );
  }
  const wanted = (compare as Partial<Record<string, unknown>>)[kind];
  if (kind === "value") return { kind, key, operator, value: encodeValue(wanted as Value).bytes };
  return { kind, key, operator, number: Number(wanted) };
}

function encodeOp(op: TxnOp): TransactionOp {
  const names = (["put", "delete", "get", "list"] as const).filter((name) => name in op);
  if (names.length !== 1) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      "An operation of a transaction is { put, value }, { delete }, { get } or { list }; one of them.",
    );
  }
  const [name = "get"] = names;
  refuseUnknownOptions(op, { call: `a ${name} of a transaction`, names: opNames[name], placeOf });
  if ("put" in op) {
    const { bytes, format } = encodeValue(op.value);
    const attached = op.attached === true ? ({ attached: true } as const) : {};
    return { kind: "put", key: keyBytes(op.put, "key of a put"), value: bytes, format, ...attached };
  }
  if ("get" in op) return { kind: "get", key: keyBytes(op.get, "key of a get") };
  if ("delete" in op) {
    const isSet = typeof op.delete === "object" && !(op.delete instanceof Uint8Array);
    if (isSet) return { kind: "deleteRange", range: rangeOf(op.delete as KeySet) };
    return { kind: "delete", key: keyBytes(op.delete as Key, "key of a delete") };
  }
  const { limit = defaultListLimit, order = "ascending", keysOnly = false } = op;
  requireListOptions(order, keysOnly);
  return { kind: "list", range: rangeOf(op.list), limit, reverse: order === "descending", keysOnly };
}

function resultOf(result: TransactionOpResult, op: TransactionOp | undefined): TxnOpResult<TxnOp> {
  switch (result.kind) {
    case "put":
      return {};
    case "deleted":
      return { deleted: result.count };
    case "got":
      return { entry: result.pair === undefined ? undefined : keyValueOf(result.pair, false) };
    case "listed": {
      const keysOnly = op?.kind === "list" && op.keysOnly;
      return { entries: result.pairs.map((pair) => keyValueOf(pair, keysOnly)), more: result.more };
    }
  }
}
