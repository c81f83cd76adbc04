/** What `quorate doctor` finds, and that it changes nothing. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asIndex, asTerm } from "@quorate/raft";
import { examine, openDirectory } from "@quorate/storage";
import { describe, expect, it } from "vitest";
import { countingRandom } from "./recordedDisk.ts";
import { temporaryDirectory } from "./temporaryDirectory.ts";
import { birthOf, entry, member, nodeA, persist } from "./vocabulary.ts";

/** Flips a bit in the middle; flips it back the second time. */
function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes[50_000] = bytes[50_000]! ^ 4;
  writeFileSync(path, bytes);
}

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
      log: { firstIndex: 1, lastIndex: 2, verifiedTo: 2, verifiedTerm: 4, fault: undefined },
      snapshots: [],
      prognosis: "voter",
      verdict: "It starts as a voter with everything that it acknowledged.",
      findings: [],
    });
    await store.close();
    expect(await examine(directory)).toEqual({ ...open, pid: undefined });
  });

  it("tells the snapshots that are kept, reads all of each, and finds one that is damaged", async () => {
    const directory = temporaryDirectory();
    const store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    const birth = birthOf(store.identity);
    await store.bear(birth);
    await store.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1), entry(3, 1)] }));
    const configuration = { index: asIndex(0), configuration: birth.configuration };
    for (const index of [1, 2]) {
      const writer = await store.snapshots.write({ index: asIndex(index), term: asTerm(1) }, configuration);
      await writer.write(Buffer.alloc(100_000, index));
      await writer.finish();
    }
    await store.compact(asIndex(1));
    await store.close();
    const whole = [
      { index: 2, term: 1, bytes: 100_000, intact: true },
      { index: 1, term: 1, bytes: 100_000, intact: true },
    ];
    const report = await examine(directory);
    expect(report).toMatchObject({ snapshots: whole, prognosis: "voter", findings: [] });
    expect(report.log).toMatchObject({ firstIndex: 2, lastIndex: 3, verifiedTo: 3, verifiedTerm: 1 });

    const [older = "", newer = ""] = readdirSync(join(directory, "snapshots")).sort();
    damage(join(directory, "snapshots", older));
    expect((await examine(directory)).snapshots).toEqual([whole[0], { ...whole[1], intact: false }]);
    damage(join(directory, "snapshots", older));
    damage(join(directory, "snapshots", newer));
    const fallen = await examine(directory);
    expect(fallen).toMatchObject({ snapshots: [whole[1]], prognosis: "voter" });
    expect(fallen.findings).toEqual(["The snapshot at entry 2 is damaged."]);
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
