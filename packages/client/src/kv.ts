/**
 * The store as its users call it. Arguments are checked before anything is sent; what is sent, resent and reported is
 * decided in caller.ts and session.ts.
 */
import { QuorateError, refuseUnknownOptions } from "@quorate/raft";
import { type Answer, type Caller, type CallPolicy, senseless } from "./caller.ts";
import type {
  Key,
  KeySet,
  KeyValue,
  KeyValueStore,
  ListOptions,
  Page,
  PutOptions,
  ReadOptions,
  RequestOptions,
  Value,
  WriteOptions,
} from "./cluster.ts";
import { ConflictError } from "./conflictError.ts";
import { StaleTermError } from "./fencing/staleTermError.ts";
import { CompactedError } from "./historyErrors.ts";
import { cursorAfter, rangeFrom, rangeOf, requireListOptions } from "./keySets.ts";
import { leaseName } from "./leasePlan.ts";
import { taken } from "./optionNames.ts";
import type { Calls, Patience, PatienceOptions } from "./patience.ts";
import {
  type ByteString,
  type CommandResult,
  type Condition,
  type Consistency,
  defaultListLimit,
  type LeaseAt,
  maxListLimit,
  maxRequestTimeoutMs,
  type RequestBody,
  type StoreLimits,
  storeLimitBounds,
  storeLimitProblem,
  type Transaction,
} from "./protocol/index.ts";
import { transactionBuilder } from "./transaction.ts";
import { encodeValue, keyBytes, keyValueOf, shown } from "./values.ts";
import type { Watches } from "./watches.ts";
import type { WatchOptions } from "./watching.ts";
import { unexpected, type Writer } from "./writer.ts";

/** What every request of a cluster object needs. */
export interface AskPorts {
  readonly calls: Calls;
  readonly caller: Caller;
  readonly requestTimeoutMs: number;
}

export interface StorePorts extends AskPorts {
  readonly writer: Writer;
  readonly watches: Watches;
}

const reading: CallPolicy = { target: "home", resend: "always", hasEffect: false };

export function keyValueStore(ports: StorePorts): KeyValueStore {
  return {
    get: async (key, options = {}) => get(ports, key, taken("kv.get", options)),
    put: async (key, value, options = {}) => put(ports, key, value, taken("kv.put", options)),
    delete: async (key, options = {}) => remove(ports, key, taken("kv.delete", options)),
    list: async (keys, options = {}) => list(ports, keys, taken("kv.list", options)),
    count: async (keys, options = {}) => {
      taken("kv.count", options);
      const { count = 0, revision } = await list(ports, keys, {
        ...options,
        limit: 1,
        keysOnly: true,
        count: true,
      });
      return { count, revision };
    },
    deleteRange: async (keys, options = {}) => {
      taken("kv.deleteRange", options);
      const command: Transaction = {
        kind: "transaction",
        compares: [],
        onSuccess: [{ kind: "deleteRange", range: rangeOf(keys) }],
        onFailure: [],
      };
      const { revision, results } = await transact(ports, command, options);
      const [result] = results;
      return { revision, deleted: result?.kind === "deleted" ? result.count : 0 };
    },
    txn: () => transactionBuilder((transaction, options) => transact(ports, transaction, options)),
    watch: ((keys: KeySet, options?: WatchOptions) =>
      ports.watches.open(keys, taken("kv.watch", options))) as KeyValueStore["watch"],
    limit: async (limits, options = {}) => limitStore(ports, limits, taken("kv.limit", options)),
  };
}

async function transact(
  ports: StorePorts,
  transaction: Transaction,
  options: RequestOptions,
): Promise<Extract<CommandResult, { readonly kind: "transacted" }>> {
  const { result, earlierUnanswered } = await run(ports, options, (patience) =>
    ports.writer.execute(transaction, patience),
  );
  if (result.kind === "transacted") return result;
  throw unexpected(result, earlierUnanswered);
}

async function limitStore(
  ports: StorePorts,
  limits: Partial<StoreLimits>,
  options: RequestOptions,
): Promise<StoreLimits> {
  refuseUnknownOptions(limits, { call: "the limits of kv.limit()", names: storeLimitBounds });
  const problem = storeLimitProblem(limits);
  if (problem !== undefined) {
    throw new QuorateError("INVALID_ARGUMENT", `The store cannot be limited so: ${problem}.`);
  }
  const { result, earlierUnanswered } = await run(ports, options, (patience) =>
    ports.writer.execute({ kind: "limitStore", limits }, patience),
  );
  if (result.kind === "storeLimited") return result.limits;
  throw unexpected(result, earlierUnanswered);
}

async function get(ports: StorePorts, key: Key, options: ReadOptions): Promise<KeyValue | undefined> {
  const body: RequestBody = {
    kind: "get",
    key: keyBytes(key, "key"),
    consistency: consistencyOf(options),
    ...pastOf(options),
  };
  const answer = await read(ports, body, options);
  if (answer.kind !== "got") throw senseless("a read", answer, "none");
  return answer.pair === undefined ? undefined : keyValueOf(answer.pair, false);
}

async function put(
  ports: StorePorts,
  key: Key,
  value: Value,
  options: PutOptions,
): Promise<{ readonly revision: number }> {
  const target = keyBytes(key, "key");
  const condition = conditionOf(options);
  const { bytes, format } = encodeValue(value);
  const { result, earlierUnanswered } = await run(ports, options, (patience) =>
    ports.writer.execute(
      { kind: "put", key: target, value: bytes, format, condition, ...guardOf(options) },
      patience,
    ),
  );
  if (result.kind === "put") return { revision: result.revision };
  if (result.kind === "conflict") throw conflict(target, condition, result.modRevision);
  if (result.kind === "staleFence") throw stale(options, result.term);
  throw unexpected(result, earlierUnanswered);
}

async function remove(
  ports: StorePorts,
  key: Key,
  options: WriteOptions,
): Promise<{ readonly revision: number; readonly deleted: boolean }> {
  const target = keyBytes(key, "key");
  const condition = conditionOf(options);
  if (condition.kind === "absent") {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      "A delete with ifAbsent could never delete anything; leave it out.",
    );
  }
  const { result, earlierUnanswered } = await run(ports, options, (patience) =>
    ports.writer.execute({ kind: "delete", key: target, condition, ...fenceOf(options) }, patience),
  );
  if (result.kind === "deleted") return { revision: result.revision, deleted: result.existed };
  if (result.kind === "conflict") throw conflict(target, condition, result.modRevision);
  if (result.kind === "staleFence") throw stale(options, result.term);
  throw unexpected(result, earlierUnanswered);
}

async function list(ports: StorePorts, keys: KeySet, options: ListOptions): Promise<Page> {
  const { cursor, order = "ascending", keysOnly = false, limit = defaultListLimit, count } = options;
  requireListOptions(order, keysOnly);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxListLimit) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `The limit is ${limit}; a page has 1 to ${maxListLimit} pairs.`,
    );
  }
  const whole = rangeOf(keys);
  const range = cursor === undefined ? whole : rangeFrom(whole, cursor, order);
  const reverse = order === "descending";
  const consistency = consistencyOf(options);
  const past = pastOf(options);
  const body: RequestBody = { kind: "list", range, limit, reverse, keysOnly, consistency, ...past };
  if (count && cursor !== undefined) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      "A count is of the whole set: ask for it with the first page.",
    );
  }
  const answer = await read(ports, count ? { ...body, count } : body, options);
  if (answer.kind !== "listed") throw senseless("a read", answer, "none");
  const last = answer.pairs.at(-1);
  return {
    entries: answer.pairs.map((pair) => keyValueOf(pair, keysOnly)),
    cursor: answer.more && last !== undefined ? cursorAfter(last.key, order) : undefined,
    revision: answer.revision,
    ...(answer.count === undefined ? {} : { count: answer.count }),
  };
}

function pastOf({ revision }: ReadOptions): { readonly revision?: number } {
  if (revision === undefined) return {};
  if (Number.isSafeInteger(revision) && revision >= 1) return { revision };
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The revision is ${revision}; one that the store had is an integer from 1.`,
  );
}

async function read(ports: StorePorts, body: RequestBody, options: RequestOptions): Promise<Answer> {
  const { body: answer } = await run(ports, options, (patience) =>
    ports.caller.call(body, reading, patience),
  );
  if (answer.kind !== "compacted") return answer;
  const { revision } = options as ReadOptions;
  throw new CompactedError(`the read was of revision ${revision}`, answer.floor);
}

function run<T>(
  ports: StorePorts,
  options: RequestOptions,
  body: (patience: Patience) => Promise<T>,
): Promise<T> {
  return ports.calls.run(patienceOptions(options, ports.requestTimeoutMs), body);
}

export function patienceOptions(options: RequestOptions, defaultTimeoutMs: number): PatienceOptions {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  if (!(timeoutMs >= 1 && timeoutMs <= maxRequestTimeoutMs)) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `timeoutMs is ${timeoutMs}; it has to be from 1 to ${maxRequestTimeoutMs} ms.`,
    );
  }
  return { timeoutMs, signal: options.signal };
}

function consistencyOf({ consistency = "linearizable" }: ReadOptions): Consistency {
  if (consistency === "linearizable" || consistency === "local") return consistency;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The consistency of a read is "linearizable" or "local", not ${String(consistency)}.`,
  );
}

function conditionOf({ ifRevision, ifAbsent = false }: WriteOptions): Condition {
  if (ifRevision === undefined) return ifAbsent ? { kind: "absent" } : { kind: "none" };
  if (ifAbsent) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `ifRevision (${ifRevision}) and ifAbsent contradict each other: a key that is absent has no revision.`,
    );
  }
  if (Number.isSafeInteger(ifRevision) && ifRevision >= 1) return { kind: "revision", revision: ifRevision };
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `ifRevision is ${ifRevision}; the revision of a key is an integer from 1. For a key that is absent: ifAbsent.`,
  );
}

function guardOf(options: PutOptions): { readonly attached?: true; readonly fence?: LeaseAt } {
  return { ...(options.attached === true ? { attached: true } : {}), ...fenceOf(options) };
}

function fenceOf({ fence }: WriteOptions): { readonly fence?: LeaseAt } {
  if (fence === undefined) return {};
  const { term } = fence;
  if (Number.isSafeInteger(term) && term >= 1) return { fence: { name: leaseName(fence.name), term } };
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The fence's term is ${term}; pass a lease, or its name and term.`,
  );
}

function stale({ fence }: WriteOptions, termInForce: number): StaleTermError {
  const { name = "", term = 0 } = fence ?? {};
  const why = termInForce === 0 ? "nobody holds the lease" : `the lease is held in term ${termInForce}`;
  return new StaleTermError(name, term, termInForce, why);
}

function conflict(key: ByteString, condition: Condition, currentRevision: number): ConflictError {
  const found = currentRevision === 0 ? "does not exist" : `is at revision ${currentRevision}`;
  const expected = condition.kind === "revision" ? `at revision ${condition.revision}` : "absent";
  return new ConflictError(
    `The key ${shown(key)} ${found}, and the write expected it ${expected}. Read it again and decide anew.`,
    currentRevision,
  );
}
