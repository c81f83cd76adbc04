/** Transactions: what they refuse, what they see, and that they happen whole or not at all. */
import {
  answerBytes,
  type Command,
  encodeProposal,
  maxRangeDeletes,
  maxValueBytes,
  type Transaction,
  type TransactionOp,
} from "@quorate/client/protocol";
import { hashState, quotaAlarm, recordsAfter } from "@quorate/kv/machine";
import { describe, expect, it } from "vitest";
import { anonymous, createLog, type Log, put, remove } from "./log.ts";

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

function puts(key: string, value = "v"): TransactionOp {
  return { kind: "put", key, value: text(value), format: "text" };
}

function transaction(parts: Partial<Transaction>): Transaction {
  return { kind: "transaction", compares: [], onSuccess: [], onFailure: [], ...parts };
}

function expectNothingChanged(log: Log, command: Command, kind: string): void {
  const before = hashState(log.state);
  const result = log.run(command);
  expect(result.kind).toBe(kind);
  expect(hashState(log.state)).toBe(before);
}

describe("a transaction", () => {
  it("is one revision, whatever it writes, and none where it changes nothing", () => {
    const log = createLog();
    log.run(put("a", "1"));
    const written = log.run(transaction({ onSuccess: [puts("b"), { kind: "delete", key: "a" }, puts("c")] }));
    expect(written).toMatchObject({ kind: "transacted", revision: 2, succeeded: true });
    const [record] = recordsAfter(log.state.history, log.state.pairs, 1);
    expect(record?.changes.map(({ key }) => key)).toEqual(["b", "a", "c"]);
    expect(log.run(transaction({ onSuccess: [{ kind: "delete", key: "zz" }] }))).toMatchObject({
      revision: 2,
    });
    expect(log.run(transaction({}))).toMatchObject({ revision: 2, succeeded: true, results: [] });
  });

  it("reads the store as it was before its own writes", () => {
    const log = createLog();
    log.run(put("a", "old"));
    const result = log.run(
      transaction({ onSuccess: [puts("a", "new"), { kind: "get", key: "a" }, { kind: "get", key: "none" }] }),
    );
    expect(result).toMatchObject({
      results: [{ kind: "put" }, { kind: "got", pair: { version: 1 } }, { kind: "got", pair: undefined }],
    });
    expect(log.state.pairs.get("a")?.version).toBe(2);
  });

  it("runs its second branch where one compare fails; a value that is absent compares to nothing", () => {
    const log = createLog();
    log.run(put("a", "1"));
    const absent = { kind: "value", key: "none", operator: "!=", value: text("x") } as const;
    const zero = { kind: "version", key: "none", operator: "=", number: 0 } as const;
    const onSuccess = [puts("yes")];
    const onFailure = [puts("no")];
    const run = (compares: Transaction["compares"]) =>
      log.run(transaction({ compares, onSuccess, onFailure }));
    expect(run([zero])).toMatchObject({ succeeded: true });
    expect(run([zero, absent])).toMatchObject({ succeeded: false });
    expect([log.state.pairs.has("yes"), log.state.pairs.has("no")]).toEqual([true, true]);
  });

  it.each([
    ["two puts of a key", [puts("a"), puts("a")]],
    ["a put and a delete of a key", [puts("a"), { kind: "delete", key: "a" }]],
    ["a put under a deleted range", [puts("b"), { kind: "deleteRange", range: { from: "a", to: "c" } }]],
    [
      "two ranges that meet",
      [
        { kind: "deleteRange", range: { from: "a", to: "" } },
        puts("0"),
        { kind: "deleteRange", range: { from: "x", to: "y" } },
      ],
    ],
    ["too many operations", Array.from({ length: 129 }, (_, n) => puts(`k${n}`))],
  ] as [string, TransactionOp[]][])("is malformed with %s", (_, onSuccess) => {
    expect(() => encodeProposal({ origin: anonymous, command: transaction({ onSuccess }) })).toThrow(
      "A proposal cannot be encoded",
    );
    expect(() =>
      encodeProposal({ origin: anonymous, command: transaction({ onFailure: onSuccess }) }),
    ).toThrow("A proposal cannot be encoded");
  });

  it("takes 128 operations, and ranges that lie side by side", () => {
    const log = createLog();
    const many = Array.from({ length: 128 }, (_, n) => puts(`k${n}`));
    expect(log.run(transaction({ onSuccess: many }))).toMatchObject({ kind: "transacted", revision: 1 });
    const beside: TransactionOp[] = [
      { kind: "deleteRange", range: { from: "k", to: "k2" } },
      { kind: "deleteRange", range: { from: "k2", to: "" } },
      puts("j"),
    ];
    expect(log.run(transaction({ onSuccess: beside }))).toMatchObject({ revision: 2 });
    expect([...log.state.pairs.pairs()].map(({ key }) => key)).toEqual(["j"]);
  });

  it("is refused whole where it would read or delete too much", () => {
    const log = createLog();
    for (let n = 0; n < 3; n += 1) log.run(put(`big/${n}`, new Uint8Array(600_000)));
    const reads: TransactionOp[] = [puts("a"), { kind: "get", key: "big/0" }, { kind: "get", key: "big/1" }];
    expectNothingChanged(log, transaction({ onSuccess: reads }), "tooLarge");
    const page: TransactionOp = {
      kind: "list",
      range: { from: "big/", to: "big0" },
      limit: 10,
      reverse: false,
      keysOnly: false,
    };
    expect(log.run(transaction({ onSuccess: [page] }))).toMatchObject({
      results: [{ kind: "listed", more: true, pairs: [{ key: "big/0" }] }],
    });
    for (let n = 0; n <= maxRangeDeletes; n += 1) log.run(put(`many/${n}`, ""));
    const all: TransactionOp = { kind: "deleteRange", range: { from: "many/", to: "many0" } };
    expectNothingChanged(log, transaction({ onSuccess: [puts("b"), all] }), "tooLarge");
    log.run(remove("many/0"));
    expect(log.run(transaction({ onSuccess: [all] }))).toMatchObject({
      results: [{ kind: "deleted", count: maxRangeDeletes }],
    });
  });
});

describe("many reads in one transaction", () => {
  const range = { from: "", to: "" };
  const page: TransactionOp = { kind: "list", range, limit: 10_000, reverse: false, keysOnly: true };

  function answerOf(log: Log, reads: number): { kind: string; bytes: number } {
    const result = log.run(transaction({ onSuccess: Array.from({ length: reads }, () => page) }));
    return { kind: result.kind, bytes: answerBytes(result) };
  }

  it("are bounded by what they answer, keys included, from the version on that bounds what one entry does", () => {
    const log = createLog();
    for (let n = 0; n < 10_000; n += 1) log.run(put(`${n}`.padStart(100, "k"), "v"));
    expect(answerOf(log, 16).bytes).toBeGreaterThan(16 * 1_000_000);
    log.run({ kind: "raiseVersion", office: log.term, version: 3 });
    const most = answerOf(log, 3);
    expect(most.kind).toBe("transacted");
    expect(most.bytes).toBeGreaterThan(3_000_000);
    // The last page is as long as there is room, as for values.
    expect(answerOf(log, 5).bytes).toBeLessThan(4_200_000);
    expect(answerOf(log, 16)).toMatchObject({ kind: "tooLarge" });
    log.run(put("large", new Uint8Array(maxValueBytes)));
    const get: TransactionOp = { kind: "get", key: "large" };
    expect(log.run(transaction({ onSuccess: [get] })).kind).toBe("transacted");
  });
});

describe("the quota", () => {
  it("refuses what would grow the store above it, while what shrinks it works", () => {
    const log = createLog();
    log.run({ kind: "limitStore", limits: { quotaBytes: 65_536 } });
    expect(log.run(put("a", new Uint8Array(30_000))).kind).toBe("put");
    expect(quotaAlarm(log.state)).toBeUndefined();
    expect(log.run(put("b", new Uint8Array(30_000))).kind).toBe("put");
    expect(quotaAlarm(log.state)).toContain("of its quota of 65536");
    expectNothingChanged(log, put("c", new Uint8Array(10_000)), "quotaExceeded");
    expectNothingChanged(
      log,
      transaction({ onSuccess: [puts("d"), puts("e", "x".repeat(9_000))] }),
      "quotaExceeded",
    );
    const swap = transaction({ onSuccess: [{ kind: "delete", key: "a" }, puts("c", "x".repeat(10_000))] });
    expect(log.run(swap).kind).toBe("transacted");
    expect(log.run({ kind: "limitStore", limits: { quotaBytes: 65_537 } })).toMatchObject({
      limits: { quotaBytes: 65_537, historyRevisions: 100_000 },
    });
    log.run({ kind: "limitStore", limits: { quotaBytes: 65_536 } });
    for (const key of ["b", "c"]) expect(log.run(remove(key)).kind).toBe("deleted");
    expect(log.state.bytes).toBe(0);
  });
});
