/**
 * The checker on histories that are hard: its memory and its steps stay within their bounds, no hopeless
 * object hides the mistake in another, and what could not be decided is no pass.
 */
import {
  assertLinearizable,
  checkLinearizability,
  type Operation,
  perKey,
  type RegisterInput,
  type RegisterOutput,
  registerModel,
} from "@quorate/sim";
import { describe, expect, it } from "vitest";

type KeyedOperation = Operation<RegisterInput & { readonly key: string }, RegisterOutput>;

const registers = perKey(registerModel());

function put(key: string, value: number, calledAt: number, at: number | undefined): KeyedOperation {
  const end =
    at === undefined
      ? ({ kind: "unknown" } as const)
      : ({ kind: "ok", output: { kind: "done" }, at } as const);
  return { client: `writer of ${value}`, input: { kind: "put", key, value }, calledAt, end };
}

function get(key: string, value: number, calledAt: number, at: number): KeyedOperation {
  const end = { kind: "ok", output: { kind: "value", value }, at } as const;
  return { client: "reader", input: { kind: "get", key }, calledAt, end };
}

/**
 * Writes that all overlap, and a value that nobody wrote: no order fits, and there are 2^writes × writes to
 * try.
 */
function hopeless(key: string, writes: number): KeyedOperation[] {
  const puts = Array.from({ length: writes }, (_, value) => put(key, value, 0, 10));
  return [...puts, get(key, -1, 11, 12)];
}

const mib = 1024 * 1024;

describe("a hopeless search", () => {
  it("stops at the bound on memory, and says which object it gave up", () => {
    const before = process.memoryUsage().arrayBuffers;
    const verdict = checkLinearizability(registers, hopeless("a", 40), { maxMemoryBytes: 16 * mib });
    const after = process.memoryUsage().arrayBuffers;
    expect(verdict).toMatchObject({ kind: "unknown", reason: "memory", objects: ["a"] });
    expect(verdict.effort.peakMemoryBytes).toBeGreaterThan(4 * mib);
    expect(verdict.effort.peakMemoryBytes).toBeLessThanOrEqual(16 * mib);
    expect(after - before).toBeLessThan(64 * mib);
  });

  it("stops at the bound on steps", () => {
    const verdict = checkLinearizability(registers, hopeless("a", 40), { maxSteps: 10_000 });
    expect(verdict).toMatchObject({ kind: "unknown", reason: "steps", objects: ["a"] });
    expect(verdict.effort.steps).toBe(10_000);
  });

  it("does not keep a mistake elsewhere from being found", () => {
    const keys = Array.from({ length: 8 }, (_, index) => `hopeless ${index}`);
    const history = [...keys.flatMap((key) => hopeless(key, 40)), put("z", 1, 0, 1), get("z", 2, 2, 3)];
    const verdict = checkLinearizability(registers, history, { maxSteps: 100_000 });
    expect(verdict).toMatchObject({ kind: "illegal", longest: { object: "z" } });
  });

  it("does not keep a mistake elsewhere from being found once it has run out of memory", () => {
    const chain = Array.from({ length: 3_000 }, (_, index) => put("z", index, 2 * index, 2 * index + 1));
    const history = [...hopeless("a", 40), ...chain, get("z", 5, 10_000, 10_001)];
    const verdict = checkLinearizability(registers, history, { maxMemoryBytes: mib });
    expect(verdict).toMatchObject({ kind: "illegal", longest: { object: "z" } });
  });

  it("gives its memory back, for the objects after it", () => {
    const keys = Array.from({ length: 50 }, (_, index) => `key ${index}`);
    const history = keys.flatMap((key) =>
      Array.from({ length: 200 }, (_, value) => put(key, value, value, value + 6)),
    );
    const verdict = checkLinearizability(registers, history, { maxMemoryBytes: mib });
    expect(verdict.kind).toBe("linearizable");
    expect(verdict.effort.peakMemoryBytes).toBeLessThan(mib / 4);
  });

  it("is a failure for assertLinearizable, with advice", () => {
    const undecided = (): void => assertLinearizable(registers, hopeless("a", 40), { maxMemoryBytes: mib });
    expect(undecided).toThrow(/Not decided.*bound on memory.*'a'.*no pass.*shorter.*maxMemoryBytes/s);
    expect(undecided).toThrow(expect.objectContaining({ code: "TOO_LARGE" }));
  });
});

describe("the search", () => {
  it("is not slowed by writes of which nobody knows whether they happened", () => {
    const lost = Array.from({ length: 60 }, (_, value) => put("a", 1_000 + value, value, undefined));
    const kept = Array.from({ length: 60 }, (_, value) => put("a", value, 300 + 2 * value, 301 + 2 * value));
    const verdict = checkLinearizability(registers, [...lost, ...kept, get("a", -1, 900, 901)]);
    expect(verdict.kind).toBe("illegal");
    expect(verdict.effort.steps).toBeLessThan(500_000);
  });

  it("takes few steps for a long history of clients that overlap", () => {
    const operations: KeyedOperation[] = [];
    for (let round = 0; round < 5_000; round++) {
      operations.push(put("a", round, 10 * round, 10 * round + 15));
      operations.push(get("a", round, 10 * round + 5, 10 * round + 9));
    }
    const verdict = checkLinearizability(registers, operations);
    expect(verdict.kind).toBe("linearizable");
    expect(verdict.effort.steps).toBeLessThan(100_000);
  });
});
