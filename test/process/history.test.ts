/** The judge of the process tests, shown histories that it must refuse. */
import { describe, expect, it } from "vitest";
import {
  durabilityComplaints,
  type FoundPair,
  longestGapMs,
  median,
  orderComplaints,
  type WriteOutcome,
  type WriteRecord,
} from "./rig/history.ts";

function record(key: string, invokedMs: number, completedMs: number, outcome: WriteOutcome): WriteRecord {
  return { key, value: `value of ${key}`, invokedMs, completedMs, outcome };
}

function ack(key: string, revision: number, invokedMs = 0, completedMs = 1): WriteRecord {
  return record(key, invokedMs, completedMs, { kind: "acknowledged", revision });
}

function failed(key: string, outcome: "none" | "unknown"): WriteRecord {
  return record(key, 0, 1, { kind: "failed", outcome, code: "TIMED_OUT" });
}

function found(...pairs: [key: string, facts?: Partial<FoundPair>][]): Map<string, FoundPair> {
  return new Map(
    pairs.map(([key, facts]) => [key, { value: `value of ${key}`, modRevision: 1, version: 1, ...facts }]),
  );
}

describe("durabilityComplaints", () => {
  it("accepts what was promised, and an unknown write both there and absent", () => {
    const records = [ack("a", 1), failed("b", "unknown"), failed("c", "unknown"), failed("d", "none")];
    expect(durabilityComplaints(records, found(["a"], ["b", { modRevision: 2 }]))).toEqual([]);
  });

  it.each([
    ["an acknowledged write that is gone", [ack("a", 1)], found(), /gone/],
    ["another revision than was told", [ack("a", 1)], found(["a", { modRevision: 2 }]), /read back at 2/],
    ["another value", [ack("a", 1)], found(["a", { value: "x" }]), /x, not value of a/],
    ["a write that was executed twice", [ack("a", 1)], found(["a", { version: 2 }]), /executed 2 times/],
    ["a certain failure that was written", [failed("a", "none")], found(["a"]), /failed for certain/],
    ["a key out of nowhere", [], found(["a"]), /nobody wrote it/],
  ])("refuses %s", (_title, records, pairs, complaint) => {
    expect(durabilityComplaints(records, pairs)).toEqual([expect.stringMatching(complaint)]);
  });
});

describe("orderComplaints", () => {
  it("accepts revisions that rise with real time, in any order where writes overlap", () => {
    expect(orderComplaints([ack("a", 1, 0, 10), ack("b", 3, 11, 30), ack("c", 2, 12, 20)])).toEqual([]);
  });

  it("refuses a revision that was given twice", () => {
    expect(orderComplaints([ack("a", 1, 0, 9), ack("b", 1, 0, 9)])).toEqual([expect.stringMatching(/both/)]);
  });

  it("refuses a later write with a lower revision", () => {
    expect(orderComplaints([ack("a", 2, 0, 9), ack("b", 1, 10, 12)])).toEqual([
      expect.stringMatching(/before/),
    ]);
  });
});

describe("longestGapMs", () => {
  const records = [ack("a", 1, 0, 100), ack("b", 2, 0, 150), ack("c", 3, 0, 550), ack("d", 4, 0, 600)];

  it("is the longest silence that touches the span", () => {
    expect(longestGapMs(records, 160, 560)).toBe(400);
    expect(longestGapMs(records, 560, 590)).toBe(50);
  });

  it("goes on to the end of the span when nothing was acknowledged any more", () => {
    expect(longestGapMs(records, 580, 1_600)).toBe(1_000);
  });
});

describe("median", () => {
  it("is the middle, or between the two in the middle", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
  });
});
