/**
 * Each model, one step at a time: what it allows, what it refuses, and what it makes of an answer that got
 * lost.
 */
import {
  appendListModel,
  fencedResourceModel,
  keyValueModel,
  lockModel,
  type Model,
  perKey,
  registerModel,
  sessionCounterModel,
  type Unanswered,
  unanswered,
} from "@quorate/sim";
import { describe, expect, it } from "vitest";

/** The state after all of these, or `undefined` from the first illegal one on. */
function run<S, I, O>(model: Model<S, I, O>, ...steps: (readonly [I, O | Unanswered])[]): S | undefined {
  let state: S | undefined = model.initial;
  for (const [input, output] of steps) {
    if (state === undefined) return undefined;
    state = model.step(state, input, output);
  }
  return state;
}

const done = { kind: "done" } as const;
const refused = { kind: "refused" } as const;

describe("the register", () => {
  const model = registerModel({ versions: true });
  const put = (value: number) => [{ kind: "put", value }, done] as const;

  it("counts versions from the last absence", () => {
    expect(run(model, put(1), put(2))).toEqual({ value: 2, version: 2 });
    expect(run(model, put(1), [{ kind: "delete" }, done])).toEqual(model.initial);
    expect(run(model, put(1), [{ kind: "delete" }, done], put(3))).toEqual({ value: 3, version: 1 });
  });

  it("puts on a version only where that is the one", () => {
    const onOne = { kind: "put", value: 9, ifVersion: 1 } as const;
    expect(run(model, put(1), [onOne, { kind: "done", version: 2 }])).toEqual({ value: 9, version: 2 });
    expect(run(model, put(1), [onOne, refused])).toBeUndefined();
    expect(run(model, [onOne, refused])).toEqual(model.initial);
    expect(run(model, [onOne, done])).toBeUndefined();
    expect(run(model, [onOne, unanswered])).toEqual(model.initial);
  });

  it("compares and sets", () => {
    const cas = { kind: "cas", expected: undefined, value: 5 } as const;
    expect(run(model, [cas, done])).toEqual({ value: 5, version: 1 });
    expect(run(model, put(1), [cas, done])).toBeUndefined();
    expect(run(model, put(1), [cas, refused])).toEqual({ value: 1, version: 1 });
  });

  it("is read with its version, where that was told", () => {
    const read = (value: number, version?: number) =>
      [{ kind: "get" }, { kind: "value", value, ...(version === undefined ? {} : { version }) }] as const;
    expect(run(model, put(1), read(1), read(1, 1))).toBeDefined();
    expect(run(model, put(1), read(1, 2))).toBeUndefined();
    expect(run(model, put(1), read(2))).toBeUndefined();
  });

  it("tells 1 and the text 1 apart", () => {
    expect(model.key({ value: 1, version: 1 })).not.toBe(model.key({ value: "1", version: 1 }));
    expect(model.key({ value: null, version: 1 })).not.toBe(model.key({ value: undefined, version: 1 }));
  });
});

describe("the lock", () => {
  const model = lockModel();
  const granted = (owner: string, token: number) =>
    [
      { kind: "acquire", owner },
      { kind: "granted", token },
    ] as const;
  const released = (owner: string, token: number) => [{ kind: "release", owner, token }, done] as const;

  it("is granted to one at a time", () => {
    expect(run(model, granted("a", 1), granted("b", 2))).toBeUndefined();
    expect(run(model, granted("a", 1), [{ kind: "acquire", owner: "b" }, { kind: "held" }])).toBeDefined();
    expect(run(model, granted("a", 1), released("a", 1), granted("b", 2))).toBeDefined();
  });

  it("is granted again once a lease ran out", () => {
    expect(
      run(model, granted("a", 1), [{ kind: "expire", owner: "a" }, unanswered], granted("b", 2)),
    ).toBeDefined();
    expect(
      run(model, granted("a", 1), [{ kind: "expire", owner: "b" }, unanswered], granted("b", 2)),
    ).toBeUndefined();
  });

  it("never lets a token come back or fall", () => {
    expect(run(model, granted("a", 5), released("a", 5), granted("b", 5))).toBeUndefined();
    expect(run(model, granted("a", 5), released("a", 5), granted("a", 4))).toBeUndefined();
  });

  it("does not release or keep alive a grant that is over", () => {
    const old = { kind: "keepAlive", owner: "a", token: 1 } as const;
    const again = [granted("a", 1), released("a", 1), granted("a", 2)] as const;
    expect(run(model, ...again, [old, done])).toBeUndefined();
    expect(run(model, ...again, [old, { kind: "notHolder" }])).toBeDefined();
    expect(run(model, ...again, released("a", 1))).toBeUndefined();
  });

  it("learns the token of a grant whose answer got lost", () => {
    const lost = [{ kind: "acquire", owner: "a" }, unanswered] as const;
    expect(run(model, granted("b", 3), released("b", 3), lost)).toEqual({
      floor: 4,
      holder: { owner: "a", token: undefined },
    });
    expect(run(model, lost, [{ kind: "keepAlive", owner: "a", token: 7 }, done])).toEqual({
      floor: 7,
      holder: { owner: "a", token: 7 },
    });
    expect(run(model, lost, [{ kind: "release", owner: "a", token: 7 }, unanswered])?.holder).toBeUndefined();
    expect(run(model, granted("b", 3), released("b", 3), lost, released("a", 3))).toBeUndefined();
  });
});

describe("the fenced resource", () => {
  const model = fencedResourceModel();
  const write = (token: number, kind: "accepted" | "rejected") =>
    [{ kind: "write", token, value: `by ${token}` }, { kind }] as const;

  it("takes tokens that do not fall, and no others", () => {
    expect(run(model, write(1, "accepted"), write(1, "accepted"), write(3, "accepted"))?.value).toBe("by 3");
    expect(run(model, write(3, "accepted"), write(2, "accepted"))).toBeUndefined();
    expect(run(model, write(3, "accepted"), write(2, "rejected"))?.value).toBe("by 3");
    expect(run(model, write(3, "accepted"), write(4, "rejected"))).toBeUndefined();
  });
});

describe("the list", () => {
  const model = appendListModel();
  const append = (value: number, length: number) =>
    [
      { kind: "append", value },
      { kind: "appended", length },
    ] as const;

  it("is read in the order of its appends", () => {
    const read = (...values: number[]) => [{ kind: "read" }, { kind: "list", values }] as const;
    expect(run(model, append(1, 1), append(2, 2), read(1, 2))).toEqual([1, 2]);
    expect(run(model, append(1, 1), append(2, 2), read(2, 1))).toBeUndefined();
    expect(run(model, append(1, 1), read())).toBeUndefined();
    expect(run(model, append(1, 2))).toBeUndefined();
  });
});

describe("the session counter", () => {
  const model = sessionCounterModel();

  it("counts each increment once, also those without an answer", () => {
    const read = (value: number) => [{ kind: "read" }, { kind: "value", value }] as const;
    const lost = [{ kind: "increment" }, unanswered] as const;
    expect(
      run(model, [{ kind: "increment" }, done], lost, [{ kind: "increment", by: 3 }, done], read(5)),
    ).toBe(5);
    expect(run(model, [{ kind: "increment" }, done], read(2))).toBeUndefined();
    expect(run(model, [{ kind: "increment" }, { kind: "value", value: 2 }])).toBeUndefined();
  });
});

describe("the key-value store", () => {
  const model = keyValueModel();
  const put = (key: string, value: number) => [{ kind: "put", key, value }, done] as const;

  it("lists exactly what is there", () => {
    const list = (...pairs: [string, number][]) => [{ kind: "list" }, { kind: "pairs", pairs }] as const;
    expect(run(model, put("a", 1), put("b", 2), list(["b", 2], ["a", 1]))).toBeDefined();
    expect(run(model, put("a", 1), put("b", 2), list(["a", 1]))).toBeUndefined();
    expect(run(model, put("a", 1), list(["a", 1], ["a", 1]))).toBeUndefined();
    expect(run(model, put("a", 1), [{ kind: "delete", key: "a" }, done], list())).toBeDefined();
  });

  it("has equal keys for equal states, whatever their history", () => {
    const one = run(model, put("a", 1), put("b", 2));
    const other = run(model, put("b", 2), put("a", 1));
    expect(one && model.key(one)).toBe(other && model.key(other));
  });

  it("is split by key unless everything is listed", () => {
    expect(model.objectOf?.({ kind: "get", key: "a" })).toBe("a");
    expect(model.objectOf?.({ kind: "list" })).toBeUndefined();
  });
});

describe("perKey", () => {
  it("makes one object of each key", () => {
    const model = perKey(sessionCounterModel());
    expect(model.objectOf?.({ kind: "read", key: "k" })).toBe("k");
    expect(model.isRead?.({ kind: "read", key: "k" })).toBe(true);
    expect(model.step(1, { kind: "increment", key: "k" }, done)).toBe(2);
  });
});
