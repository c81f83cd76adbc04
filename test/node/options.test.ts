/** Unsafe or contradictory options are refused at start, the numbers in the message. */
import { QuorateError } from "@quorate/raft";
import { resolveRaftOptions } from "@quorate/raft/internal";
import { describe, expect, it } from "vitest";

describe("raft options", () => {
  it("default to the paper's timeouts", () => {
    expect(resolveRaftOptions()).toMatchObject({
      heartbeatMs: 50,
      electionTimeoutMinMs: 150,
      electionTimeoutMaxMs: 300,
    });
  });

  it.each([
    [{ heartbeatMs: 100 }, "heartbeatMs (100) must be at most half of electionTimeoutMinMs (150)"],
    [{ electionTimeoutMinMs: 300 }, "electionTimeoutMinMs (300) must be below electionTimeoutMaxMs (300)"],
    [{ heartbeatMs: 0 }, "heartbeatMs is 0"],
    [{ maxAppendBytes: 1.5 }, "maxAppendBytes is 1.5"],
    [{ maxInflightBytes: Number.NaN }, "maxInflightBytes is NaN"],
    [{ snapshotEntries: 0 }, "snapshotEntries is 0"],
    [
      { compactionTailBytes: 200, maxCachedBytes: 100 },
      "compactionTailBytes (200) must be at most maxCachedBytes (100)",
    ],
    [{ snapshotChunkBytes: 2 ** 21 }, "snapshotChunkBytes (2097152) must be at most 1048576"],
    [{ heartbeat: 50 } as object, "heartbeat is no option of a Raft node: it takes heartbeatMs"],
  ])("refuse %j", (options, sentence) => {
    expect(() => resolveRaftOptions(options)).toThrowError(QuorateError);
    expect(() => resolveRaftOptions(options)).toThrowError(sentence);
  });

  it("leave no tail where none is asked for, and none longer than what is in memory", () => {
    expect(resolveRaftOptions({ compactionTailEntries: 0 }).compactionTailEntries).toBe(0);
    expect(resolveRaftOptions({ maxCachedBytes: 100 }).compactionTailBytes).toBe(100);
  });

  it("take an undefined option as left out", () => {
    expect(resolveRaftOptions(JSON.parse("{}")).heartbeatMs).toBe(50);
  });
});
