/**
 * Power cuts on real files. They only ever grow or are overwritten in place, so cutting the log file
 * anywhere behind its last synced byte, and leaving the witness old, torn or new, is what a power cut
 * leaves.
 */
import { cpSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LogStore } from "@quorate/raft";
import { openDirectory } from "@quorate/storage";
import { describe, expect, it } from "vitest";
import { countingRandom } from "./recordedDisk.ts";
import { copyOf, filesEnding, temporaryDirectory } from "./temporaryDirectory.ts";
import { birthOf, entry, logOf, member, nodeA, persist } from "./vocabulary.ts";

interface Moment {
  readonly logBytes: number;
  readonly witness: Buffer;
  readonly entries: number;
}

function logFile(directory: string): string {
  return filesEnding(join(directory, "log"), ".log")[0]!;
}

function momentOf(directory: string, entries: number): Moment {
  return {
    logBytes: statSync(logFile(directory)).size,
    witness: readFileSync(join(directory, "witness")),
    entries,
  };
}

async function expectVoter(directory: string, allowed: readonly number[]): Promise<void> {
  const store: LogStore = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
  const { standing } = store;
  if (standing.kind !== "born") throw new Error(`a power cut made it ${standing.kind}`);
  const { lastIndex, floor, term, vote } = standing.restored;
  expect([floor, allowed.includes(lastIndex)]).toEqual([undefined, true]);
  expect([term, vote]).toEqual([lastIndex, member("b")]);
  expect((await logOf(store, lastIndex)).length).toBe(lastIndex);
  await store.close();
}

describe("A power cut", () => {
  it("anywhere in a write leaves a voter that has all earlier writes, and this one whole or not at all", async () => {
    const directory = temporaryDirectory();
    const store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    await store.bear(birthOf(store.identity));
    const write = (index: number): Promise<void> =>
      store.write(persist({ term: index, vote: member("b"), entries: [entry(index, index)] }));
    await write(1);
    const before = momentOf(directory, 1);
    await write(2);
    const after = momentOf(directory, 2);
    // The disk as it is while the process has it open: nothing of a clean stop is in it.
    const frozen = temporaryDirectory();
    cpSync(directory, frozen, { recursive: true });
    await store.close();

    const cuts = Array.from({ length: 13 }, (_, at) =>
      Math.round(before.logBytes + (at * (after.logBytes - before.logBytes)) / 12),
    );
    for (const logBytes of cuts) {
      const cut = copyOf(frozen);
      truncateSync(logFile(cut), logBytes);
      writeFileSync(join(cut, "witness"), before.witness);
      await expectVoter(cut, logBytes === after.logBytes ? [2] : [1]);
    }
    for (const tornAt of [0, 100, 2048, 2100, 4095]) {
      const cut = copyOf(frozen);
      writeFileSync(join(cut, "witness"), tornWitness(before.witness, after.witness, tornAt));
      await expectVoter(cut, [2]);
    }
  });

  it("leaves zeros or noise in the place of what was not synced, and a voter all the same", async () => {
    const directory = temporaryDirectory();
    const store = await openDirectory(directory, { nodeId: nodeA, random: countingRandom() });
    await store.bear(birthOf(store.identity));
    await store.write(persist({ term: 1, vote: member("b"), entries: [entry(1, 1)] }));
    const frozen = copyOf(directory);
    await store.close();
    const { length } = readFileSync(logFile(frozen));
    for (const filling of [0x00, 0xa5]) {
      const cut = copyOf(frozen);
      const content = Buffer.alloc(length + 700, filling);
      readFileSync(logFile(frozen)).copy(content);
      writeFileSync(logFile(cut), content);
      await expectVoter(cut, [1]);
    }
  });
});

/** The slot that changed, new up to `at` and old after it. */
function tornWitness(before: Buffer, after: Buffer, at: number): Buffer {
  const torn = Buffer.from(before);
  const slot = before.subarray(0, 4096).equals(after.subarray(0, 4096)) ? 4096 : 0;
  after.copy(torn, slot, slot, slot + at);
  return torn;
}
