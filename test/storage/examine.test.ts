/** What `quorate doctor` finds, and that it changes nothing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { examine, openDirectory } from "@quorate/storage";
import { describe, expect, it } from "vitest";
import { countingRandom } from "./recordedDisk.ts";
import { temporaryDirectory } from "./temporaryDirectory.ts";
import { birthOf, entry, member, nodeA, persist } from "./vocabulary.ts";

describe("An examination", () => {
  it("says who it is, what was promised last, how far the log verifies, and who has it open", async () => {
    const directory = temporaryDirectory();
    const store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    await store.bear(birthOf(store.identity));
    await store.write(persist({ term: 4, vote: member("b"), entries: [entry(1, 3), entry(2, 4)] }));
    const open = await examine(directory);
    expect(open).toEqual({
      directory,
      pid: process.pid,
      identity: store.identity,
      clusterId: "c".repeat(32),
      boot: 1,
      sequence: { database: 3, slots: [2, 3] },
      term: 4,
      vote: member("b"),
      floor: undefined,
      log: { firstIndex: 1, lastIndex: 2, verifiedTo: 2, fault: undefined },
      prognosis: "voter",
      verdict: "It starts as a voter with everything that it acknowledged.",
      findings: [],
    });
    await store.close();
    expect(await examine(directory)).toEqual({ ...open, pid: undefined });
  });

  it("of a directory that never joined a cluster says so", async () => {
    const directory = temporaryDirectory();
    const store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    await store.close();
    expect(await examine(directory)).toMatchObject({ prognosis: "unborn", clusterId: undefined });
  });

  it("is refused where there is nothing to examine", async () => {
    const empty = join(temporaryDirectory(), "empty");
    await expect(examine(empty)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    mkdirSync(empty);
    await expect(examine(empty)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
