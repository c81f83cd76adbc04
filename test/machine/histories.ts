/** Logs of store commands that meet: few keys, sessions and sequences, over a few terms. */
import {
  type Command,
  type Compare,
  encodeProposal,
  type Proposal,
  sessionWindow,
  type TransactionOp,
  transactionProblem,
} from "@quorate/client/protocol";
import type { AppliedEntry } from "@quorate/kv/machine";
import fc from "fast-check";

export interface History {
  readonly proposals: readonly Proposal[];
  /** The same, encoded: entries 1, 2, … */
  readonly entries: readonly AppliedEntry[];
}

// Revisions are near those that the store reaches.
const key = fc.constantFrom("a", "b", "a\0", "\u00ff");
const condition = fc.oneof(
  fc.constantFrom({ kind: "none" } as const, { kind: "absent" } as const),
  fc.record({ kind: fc.constant("revision" as const), revision: fc.nat(12) }),
);
const session = fc.integer({ min: 1, max: 4 });
const value = fc.uint8Array({ maxLength: 3 });
const range = fc.constantFrom({ from: "a", to: "b" }, { from: "", to: "" }, { from: "a\0", to: "a" });
const operator = fc.constantFrom("=", "!=", "<", ">");
const compare: fc.Arbitrary<Compare> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("version", "createRevision", "modRevision"),
    key,
    operator,
    number: fc.nat(6),
  }),
  fc.record({ kind: fc.constant("value" as const), key, operator, value }),
);
const op: fc.Arbitrary<TransactionOp> = fc.oneof(
  fc.record({ kind: fc.constant("put" as const), key, value, format: fc.constantFrom("text", "json") }),
  fc.record({ kind: fc.constantFrom("delete", "get"), key }),
  fc.record({ kind: fc.constant("deleteRange" as const), range }),
  fc.record({
    kind: fc.constant("list" as const),
    range,
    limit: fc.integer({ min: 1, max: 4 }),
    reverse: fc.boolean(),
    keysOnly: fc.boolean(),
  }),
);
const ops = fc.array(op, { maxLength: 4 });
const transaction = fc
  .record({
    kind: fc.constant("transaction" as const),
    compares: fc.array(compare, { maxLength: 2 }),
    onSuccess: ops,
    onFailure: ops,
  })
  .filter((made) => transactionProblem(made) === undefined);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      key,
      value: fc.uint8Array({ maxLength: 3 }),
      format: fc.constant("bytes" as const),
      condition,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("delete" as const), key, condition }) },
  { weight: 4, arbitrary: transaction },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("limitStore" as const),
      limits: fc.record({ historyRevisions: fc.integer({ min: 1, max: 5 }) }, { requiredKeys: [] }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("openSession" as const), ttlMs: fc.constant(5_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("closeSession" as const), session }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("expireSession" as const),
      session,
      term: fc.integer({ min: 1, max: 3 }),
    }),
  },
);
const origin = fc.oneof(
  fc.constant({ kind: "anonymous" } as const),
  fc.record({
    kind: fc.constant("session" as const),
    session,
    sequence: fc.oneof(
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom(sessionWindow, sessionWindow + 1, 1_030),
    ),
    ackedBelow: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 0, max: 4 }) }, fc.constant(8)),
  }),
);
const step = fc.tuple(fc.record({ origin, command }), fc.integer({ min: 0, max: 1 }));

export const histories: fc.Arbitrary<History> = historiesOf({});
/** Most of them of dozens of commands. */
export const longHistories: fc.Arbitrary<History> = historiesOf({ size: "medium" });

/** Begins with three sessions, so that most origins are of a living one. */
function historiesOf(size: fc.ArrayConstraints): fc.Arbitrary<History> {
  return fc.array(step, { ...size, maxLength: 60 }).map((steps) => {
    const open: Proposal = { origin: { kind: "anonymous" }, command: { kind: "openSession", ttlMs: 5_000 } };
    const proposals: Proposal[] = [open, open, open, ...steps.map(([proposal]) => proposal)];
    let term = 1;
    const entries = proposals.map((proposal, at): AppliedEntry => {
      if (at % 9 === 8) term += steps[at - 3]?.[1] ?? 0;
      return { index: at + 1, term, kind: "command", data: encodeProposal(proposal) };
    });
    return { proposals, entries };
  });
}
