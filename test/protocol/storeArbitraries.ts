/** What transactions, watches and reads of the past can say, made of the simpler things that it is about. */
import {
  type ByteString,
  type Command,
  type CommandResult,
  type Compare,
  type Format,
  type KeyRange,
  type LeaseAt,
  type RequestBody,
  type ResponseBody,
  type StoredPair,
  type TransactionOp,
  transactionProblem,
} from "@quorate/client/protocol";
import fc from "fast-check";

export interface Basics {
  readonly keys: fc.Arbitrary<ByteString>;
  readonly values: fc.Arbitrary<Uint8Array>;
  readonly formats: fc.Arbitrary<Format>;
  /** From 0, and from 1. */
  readonly naturals: fc.Arbitrary<number>;
  readonly counts: fc.Arbitrary<number>;
  readonly ranges: fc.Arbitrary<KeyRange>;
  readonly leasesAt: fc.Arbitrary<LeaseAt>;
}

const listed = {
  limit: fc.integer({ min: 1, max: 10_000 }),
  reverse: fc.boolean(),
  keysOnly: fc.boolean(),
};

export function storeCommands(basics: Basics): fc.Arbitrary<Command> {
  const { keys, values, formats, naturals, counts, ranges, leasesAt } = basics;
  const operator = fc.constantFrom("=", "!=", "<", ">");
  const compares: fc.Arbitrary<Compare> = fc.oneof(
    fc.record({
      kind: fc.constantFrom("version", "createRevision", "modRevision", "session"),
      key: keys,
      operator,
      number: naturals,
    }),
    fc.record({ kind: fc.constant("value" as const), key: keys, operator, value: values }),
    fc.record({ kind: fc.constant("holds" as const), lease: leasesAt }),
  );
  const put = fc.record({ kind: fc.constant("put" as const), key: keys, value: values, format: formats });
  const ops: fc.Arbitrary<TransactionOp[]> = fc.array(
    fc.oneof(
      put.chain((each) => fc.constantFrom(each, { ...each, attached: true as const })),
      fc.record({ kind: fc.constantFrom("delete", "get"), key: keys }),
      fc.record({ kind: fc.constant("deleteRange" as const), range: ranges }),
      fc.record({ kind: fc.constant("list" as const), range: ranges, ...listed }),
    ),
    { maxLength: 5 },
  );
  const transactions = fc.record({
    kind: fc.constant("transaction" as const),
    compares: fc.array(compares, { maxLength: 4 }),
    onSuccess: ops,
    onFailure: ops,
  });
  const limits = fc.record(
    {
      historyRevisions: fc.integer({ min: 1, max: 1_000_000 }),
      historyBytes: fc.integer({ min: 4_096, max: 1_073_741_824 }),
      quotaBytes: fc.integer({ min: 65_536, max: 1_099_511_627_776 }),
    },
    { requiredKeys: [] },
  );
  return fc.oneof(
    transactions.filter((transaction) => transactionProblem(transaction) === undefined),
    fc.record({ kind: fc.constant("limitStore" as const), limits }),
    fc.record({
      kind: fc.constant("compareStates" as const),
      index: counts,
      digest: fc.tuple(fc.nat(0xffffffff), fc.nat(0xffffffff)),
      node: keys,
    }),
  );
}

export function storeRequests({ keys, naturals, counts, ranges }: Basics): fc.Arbitrary<RequestBody> {
  const consistency = fc.constantFrom("linearizable" as const, "local" as const);
  return fc.oneof(
    fc.record(
      { kind: fc.constant("get" as const), key: keys, consistency, revision: counts },
      { requiredKeys: ["kind", "key", "consistency"] },
    ),
    fc.record(
      {
        kind: fc.constant("list" as const),
        range: ranges,
        ...listed,
        consistency,
        revision: counts,
        count: fc.constant(true),
      },
      { requiredKeys: ["kind", "range", "limit", "reverse", "keysOnly", "consistency"] },
    ),
    fc.record({
      kind: fc.constant("watch" as const),
      range: ranges,
      from: naturals,
      filter: fc.constantFrom("all", "puts", "deletes"),
      previous: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("watchCredit" as const), watch: naturals, consumedBytes: naturals }),
    fc.record({ kind: fc.constant("unwatch" as const), watch: naturals }),
  );
}

export function storeResults(
  { naturals, counts }: Basics,
  pairs: fc.Arbitrary<StoredPair>,
): fc.Arbitrary<CommandResult> {
  return fc.oneof(
    fc.record({ kind: fc.constant("tooLarge" as const), reason: fc.string() }),
    fc.record({
      kind: fc.constant("transacted" as const),
      revision: naturals,
      succeeded: fc.boolean(),
      results: fc.array(
        fc.oneof(
          fc.constant({ kind: "put" } as const),
          fc.record({ kind: fc.constant("deleted" as const), count: naturals }),
          fc.record({ kind: fc.constant("got" as const), pair: fc.option(pairs, { nil: undefined }) }),
          fc.record({
            kind: fc.constant("listed" as const),
            pairs: fc.array(pairs, { maxLength: 3 }),
            more: fc.boolean(),
          }),
        ),
        { maxLength: 4 },
      ),
    }),
    fc.record({
      kind: fc.constant("quotaExceeded" as const),
      neededBytes: naturals,
      quotaBytes: naturals,
    }),
    fc.record({
      kind: fc.constant("storeLimited" as const),
      limits: fc.record({ historyRevisions: counts, historyBytes: counts, quotaBytes: counts }),
    }),
  );
}

export function storeResponses(
  { naturals }: Basics,
  pairs: fc.Arbitrary<StoredPair>,
): fc.Arbitrary<ResponseBody> {
  const changes = fc
    .tuple(pairs, fc.boolean(), fc.option(pairs, { nil: undefined }))
    .map(([pair, isPut, previous]) => ({ key: pair.key, pair: isPut ? pair : undefined, previous }));
  return fc.oneof(
    fc.record({
      kind: fc.constant("listed" as const),
      pairs: fc.array(pairs, { maxLength: 5 }),
      more: fc.boolean(),
      revision: naturals,
      count: naturals,
    }),
    fc.record({ kind: fc.constant("compacted" as const), floor: naturals }),
    fc.record({ kind: fc.constantFrom("watching", "watchProgress", "overflowed"), revision: naturals }),
    fc.record({
      kind: fc.constant("changed" as const),
      revision: naturals,
      changes: fc.array(changes, { maxLength: 3 }),
      more: fc.boolean(),
    }),
  );
}
