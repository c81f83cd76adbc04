/** What a node says of how leases end: counts, and names that are lost again and again. */
import { type ByteString, byteStringOf, type GrantEnd } from "@quorate/client/protocol";
import { silentLogger } from "@quorate/raft";
import { beforeEach, describe, expect, it } from "vitest";
import { flappingLosses, flappingWindowMs, LeaseEnds } from "../../packages/kv/src/server/leaseEnds.ts";
import { manyTimers } from "../client/manyTimers.ts";

const clock = manyTimers();
let warnings: string[];
let ends: LeaseEnds;

beforeEach(() => {
  warnings = [];
  ends = new LeaseEnds(clock, {
    ...silentLogger,
    warn: (_facts: unknown, sentence: string) => void warnings.push(sentence),
  });
  ends.officeBegun();
});

function end(name: ByteString, how: GrantEnd, times = 1): void {
  for (let n = 0; n < times; n += 1) ends.applied([{ name, end: how }]);
}

describe("a lease that is lost again and again", () => {
  it("is said once in the log, and in the status for as long as it is so", () => {
    end("x", "expired", flappingLosses - 2);
    end("x", "lost");
    expect([ends.flapping, ends.complaints, warnings]).toEqual([[], [], []]);
    end("x", "revoked");
    expect(ends.flapping).toEqual(["x"]);
    end("x", "revoked", 2);
    expect(ends.complaints).toEqual([
      expect.stringMatching(/^The lease "x" was lost 5 times within 5 minutes/),
    ]);
    expect(warnings).toEqual(ends.complaints);
    clock.stall(flappingWindowMs + 1);
    expect([ends.flapping, ends.complaints]).toEqual([[], []]);
  });

  it("is not one that is given back as often, nor many that are lost once", () => {
    end("lock", "released", 1_000);
    end("lock", "closed", 1_000);
    for (let n = 0; n < 20_000; n += 1) end(`crowd ${n}`, "expired");
    expect(ends.flapping).toEqual([]);
    expect(ends.counts.get("released")).toBe(1_000);
    expect(ends.counts.get("expired")).toBe(20_000);
  });

  it("is remembered as long as it is lost among thousands of others, and forgotten after as many", () => {
    const crowd = (from: number, count: number): void => {
      for (let n = from; n < from + count; n += 1) end(`crowd ${n}`, "expired");
    };
    for (let n = 0; n < flappingLosses; n += 1) {
      crowd(n * 4_000, 4_000);
      end("x", "expired");
    }
    expect(ends.flapping).toEqual(["x"]);
    crowd(50_000, 10_100);
    expect(ends.flapping).toEqual([]);
    end("x", "expired", flappingLosses - 1);
    expect(ends.flapping).toEqual([]);
  });

  it("is judged by a leader, of what it has seen itself", () => {
    ends.officeLost();
    end("x", "expired", 10);
    ends.officeBegun();
    end("x", "expired", flappingLosses - 1);
    expect(ends.flapping).toEqual([]);
    end("x", "unclaimed");
    expect(ends.flapping).toEqual(["x"]);
    ends.officeLost();
    expect(ends.flapping).toEqual([]);
  });

  it("is told of by its name as people write it", () => {
    end(byteStringOf(Buffer.from("größe")), "expired", flappingLosses);
    expect(ends.complaints[0]).toContain('"größe"');
  });
});
