/** Of a large batch a store takes some at once, and lets the process do other things between. */
import { join } from "node:path";
import type { BatchOperation, BatchStore, Entry } from "@quorate/raft";
import {
  MemoryBatchStore,
  MemorySlotFile,
  MemorySnapshotFiles,
  openLevelBatchStore,
  openLog,
} from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { countingRandom } from "./recordedDisk.ts";
import { temporaryDirectory } from "./temporaryDirectory.ts";
import { birthOf, entry, logOf, nodeA, persist } from "./vocabulary.ts";

const mostAtOnce = 512;

/** Calls `body` with a function that tells in which turn of the process it is called. */
async function countingTurns(body: (turn: () => number) => Promise<void>): Promise<void> {
  let turns = 0;
  let isOver = false;
  const next = (): void => {
    turns += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  await body(() => turns);
  isOver = true;
}

describe("LevelDB's store", () => {
  it("takes a batch in portions, with a turn of the process between any two", async () => {
    const store = await openLevelBatchStore(join(temporaryDirectory(), "log"));
    const takenIn = new Map<number, number>();
    await countingTurns(async (turn) => {
      function* operations(): Generator<BatchOperation, void> {
        for (let at = 0; at < 5_000; at += 1) {
          takenIn.set(turn(), (takenIn.get(turn()) ?? 0) + 1);
          yield { kind: "put", key: Buffer.from(`key ${at}`), value: Buffer.alloc(100) };
        }
      }
      await store.write(operations());
    });
    expect(Math.max(...takenIn.values())).toBeLessThanOrEqual(mostAtOnce);
    expect([...takenIn.values()].reduce((sum, taken) => sum + taken, 0)).toBe(5_000);
    await store.close();
  });
});

describe("The log store", () => {
  it("encodes an entry when the batch takes it, not all of them before", async () => {
    const inner = new MemoryBatchStore();
    let encoded = 0;
    const aheads: number[] = [];
    const batches: BatchStore = {
      get: (key) => inner.get(key),
      range: (from, to, limit) => inner.range(from, to, limit),
      close: () => inner.close(),
      async write(operations) {
        const taken: BatchOperation[] = [];
        for (const operation of operations) {
          taken.push(operation);
          aheads.push(encoded - taken.length);
        }
        await inner.write(taken);
      },
    };
    const snapshots = new MemorySnapshotFiles();
    const random = countingRandom();
    const log = await openLog({
      batches,
      slots: new MemorySlotFile(undefined),
      snapshots,
      nodeId: nodeA,
      random,
    });
    await log.bear(birthOf(log.identity));
    const entries = Array.from({ length: 100 }, (_, at): Entry => {
      const { data, ...rest } = entry(at + 1, 1);
      return Object.defineProperty({ ...rest, data }, "data", {
        get: () => {
          encoded += 1;
          return data;
        },
      });
    });
    aheads.length = 0;
    await log.write(persist({ term: 1, entries }));
    expect(encoded).toBe(100);
    expect(Math.max(...aheads)).toBe(0);
    expect(await logOf(log, 100)).toHaveLength(100);
    await log.close();
  });
});
