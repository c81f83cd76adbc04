/** What a verdict says, what a history must look like, and the models' duties: all in small examples. */
import {
  assertLinearizable,
  checkLinearizability,
  explain,
  type Model,
  type Operation,
  OperationRecorder,
  type RegisterInput,
  type RegisterOutput,
  registerModel,
  unanswered,
} from "@quorate/sim";
import { describe, expect, it } from "vitest";

type RegisterOperation = Operation<RegisterInput, RegisterOutput>;

const register = registerModel();
const done = { kind: "done" } as const;
const get = { kind: "get" } as const;
const value = (seen: number | undefined) => ({ kind: "value", value: seen }) as const;
const put = (written: number) => ({ kind: "put", value: written }) as const;

function answered(
  input: RegisterInput,
  output: RegisterOutput,
  calledAt: number,
  at: number,
): RegisterOperation {
  return { client: "c", input, calledAt, end: { kind: "ok", output, at } };
}

function kindOf(...history: RegisterOperation[]): string {
  return checkLinearizability(register, history).kind;
}

describe("real time", () => {
  it("orders what does not overlap", () => {
    expect(kindOf(answered(put(1), done, 0, 1), answered(get, value(undefined), 2, 3))).toBe("illegal");
  });

  it("leaves open what overlaps, in any order of the list", () => {
    expect(kindOf(answered(get, value(undefined), 1, 3), answered(put(1), done, 0, 2))).toBe("linearizable");
  });

  it("lets operations overlap that touch at one moment", () => {
    expect(kindOf(answered(put(1), done, 0, 1), answered(get, value(undefined), 1, 2))).toBe("linearizable");
  });

  it("does not let a later read go back", () => {
    const write = answered(put(1), done, 0, 9);
    const seen = answered(get, value(1), 1, 2);
    expect(kindOf(write, seen, answered(get, value(undefined), 3, 4))).toBe("illegal");
    expect(kindOf(write, seen, answered(get, value(undefined), 2, 4))).toBe("linearizable");
  });

  it("refuses times that no clock can have given", () => {
    expect(() => kindOf(answered(get, value(1), 5, 4))).toThrow(/called at 5, returned at 4/);
    expect(() => kindOf(answered(get, value(1), Number.NaN, 4))).toThrow(/finite/);
    expect(() => kindOf(answered(get, value(1), 0, Number.NaN))).toThrow(/no return is before/);
  });
});

describe("an unknown outcome", () => {
  const lost: RegisterOperation = { client: "c", input: put(1), calledAt: 0, end: { kind: "unknown" } };

  it("may have taken effect, late, or never", () => {
    expect(kindOf(lost, answered(get, value(undefined), 1, 2), answered(get, value(1), 3, 4))).toBe(
      "linearizable",
    );
    expect(kindOf(lost, answered(get, value(undefined), 1, 2))).toBe("linearizable");
    expect(kindOf(lost, answered(get, value(1), 1, 2), answered(get, value(undefined), 3, 4))).toBe(
      "illegal",
    );
  });

  it("cannot take effect before its call, nor twice", () => {
    expect(kindOf(answered(get, value(1), 1, 2), { ...lost, calledAt: 3 })).toBe("illegal");
    const again = [answered(put(2), done, 3, 4), answered(get, value(1), 5, 6)];
    expect(kindOf(lost, ...again)).toBe("linearizable");
    expect(kindOf(lost, answered(get, value(1), 1, 2), ...again)).toBe("illegal");
  });

  it("of a compare-and-set that no longer matches is no contradiction", () => {
    const cas = { kind: "cas", expected: 7, value: 8 } as const;
    const unknownCas: RegisterOperation = { client: "c", input: cas, calledAt: 0, end: { kind: "unknown" } };
    expect(kindOf(unknownCas, answered(put(1), done, 1, 2), answered(get, value(1), 3, 4))).toBe(
      "linearizable",
    );
  });

  it("is used up by one way to a state, and left by another to the same", () => {
    const cas = { kind: "cas", expected: undefined, value: 1 } as const;
    const other: RegisterOperation = { client: "d", input: cas, calledAt: 0, end: { kind: "unknown" } };
    const twice = [
      answered(get, value(1), 1, 2),
      answered(put(2), done, 3, 4),
      answered(get, value(1), 5, 6),
    ];
    expect(kindOf(lost, other, ...twice)).toBe("linearizable");
    expect(kindOf(other, lost, ...twice)).toBe("linearizable");
    expect(kindOf(other, other, ...twice)).toBe("illegal");
  });

  it("is none where the operation failed for certain", () => {
    expect(kindOf({ ...lost, end: { kind: "failed" } }, answered(get, value(1), 1, 2))).toBe("illegal");
  });
});

describe("a verdict", () => {
  const history = [
    answered(put(1), done, 0, 1),
    answered(put(2), done, 2, 3),
    answered(get, value(1), 4, 5),
    answered(put(3), done, 4, 9),
  ];

  it("tells how far a legal order went and what cannot follow", () => {
    const verdict = checkLinearizability(register, history);
    expect(verdict).toMatchObject({
      kind: "illegal",
      longest: { object: "", operations: [history[0], history[1], history[3]] },
      state: { value: 3 },
      blocked: history[2],
      candidates: [history[2]],
    });
  });

  it("is thrown in words", () => {
    const check = (): void => assertLinearizable(register, history);
    expect(check).toThrow(expect.objectContaining({ code: "INVARIANT_BROKEN" }));
    expect(check).toThrow(
      /^Not linearizable: .*on this register is legal.*\n.*3 operations:\n {2}\[0\.\.1\] client c: .*value: 1 .*done/,
    );
  });

  it("is cut to its end in words where it is long", () => {
    const long = Array.from({ length: 40 }, (_, index) =>
      answered(put(index), done, 2 * index, 2 * index + 1),
    );
    const verdict = checkLinearizability(register, [...long, answered(get, value(-1), 100, 101)]);
    const words = explain(register, verdict);
    expect(words).toContain("The longest legal order has 40 operations; its last 12:");
    expect(words.split("\n")).toHaveLength(2 + 12 + 2);
  });

  it("of nothing is good", () => {
    expect(checkLinearizability(register, [])).toMatchObject({
      kind: "linearizable",
      effort: { parts: 0, steps: 0 },
    });
    expect(() => assertLinearizable(register, [])).not.toThrow();
  });
});

describe("a model", () => {
  const broken: Model<number, "next", number> = {
    name: "broken",
    initial: 0,
    step: (state, _input, output) => (output === unanswered ? undefined : state + 1),
    key: (state) => state,
  };

  it("must be total where nobody knows the answer", () => {
    const history: Operation<"next", number>[] = [
      { client: "a", input: "next", calledAt: 0, end: { kind: "unknown" } },
      { client: "b", input: "next", calledAt: 1, end: { kind: "ok", output: 1, at: 2 } },
    ];
    expect(() => checkLinearizability({ ...broken, step: () => undefined }, history)).toThrow(
      /"broken" refuses an unanswered operation/,
    );
  });

  it("must not call a read what changes the state", () => {
    const history: Operation<"next", number>[] = [
      { client: "b", input: "next", calledAt: 1, end: { kind: "ok", output: 1, at: 2 } },
    ];
    expect(() => checkLinearizability({ ...broken, isRead: () => true }, history)).toThrow(
      /calls this a read/,
    );
  });

  it("without versions refuses a history that names them", () => {
    expect(() => kindOf(answered(put(1), { kind: "done", version: 1 }, 0, 1))).toThrow(/versions: true/);
  });
});

describe("OperationRecorder", () => {
  it("writes down calls and ends in their order, and takes what is open for unknown", () => {
    const recorder = new OperationRecorder<RegisterInput, RegisterOutput>();
    const first = recorder.call("a", put(1));
    const second = recorder.call("b", put(2));
    recorder.call("c", put(3));
    first.ok(done);
    second.failed();
    recorder.call("a", get).ok(value(1));
    expect(recorder.operations()).toEqual([
      { client: "a", input: put(1), calledAt: 1, end: { kind: "ok", output: done, at: 4 } },
      { client: "b", input: put(2), calledAt: 2, end: { kind: "failed" } },
      { client: "c", input: put(3), calledAt: 3, end: { kind: "unknown" } },
      { client: "a", input: get, calledAt: 5, end: { kind: "ok", output: value(1), at: 6 } },
    ]);
    expect(checkLinearizability(register, recorder.operations()).kind).toBe("linearizable");
  });

  it("lets an operation end once", () => {
    const open = new OperationRecorder<RegisterInput, RegisterOutput>().call("a", get);
    open.unknown();
    expect(() => open.ok(value(1))).toThrow(/client a ended twice/);
  });
});
