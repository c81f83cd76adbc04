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

/** What a batch or an iterator holds in native memory is freed with the garbage only, and V8 does not know how much. */
describe("The native memory of LevelDB's store", () => {
  interface Level {
    batch(): unknown;
    iterator(options: unknown): { nextv(size: number): Promise<unknown[]> };
  }

  it("is one batch, which all writes use, but not after one of many megabytes", async () => {
    const store = await openLevelBatchStore(join(temporaryDirectory(), "log"));
    const { database } = store as unknown as { readonly database: Level };
    const begin = database.batch.bind(database);
    let begun = 0;
    database.batch = () => {
      begun += 1;
      return begin();
    };
    const key = (at: number): Buffer => Buffer.from(`key ${at}`);
    const write = (at: number, bytes: number): Promise<void> =>
      store.write([
        { kind: "put", key: key(at), value: Buffer.alloc(bytes, at) },
        { kind: "delete", key: key(at - 2) },
      ]);
    for (let at = 0; at < 10; at += 1) await write(at, 100_000);
    expect(begun).toBe(1);
    await write(10, 5_000_000);
    for (let at = 11; at < 15; at += 1) await write(at, 100);
    expect(begun).toBe(2);
    await Promise.all([write(15, 100), write(16, 100)]);
    expect(begun).toBe(3);
    function* broken(): Generator<BatchOperation, void> {
      yield { kind: "put", key: key(99), value: Buffer.alloc(1) };
      throw new Error("on purpose");
    }
    await expect(store.write(broken())).rejects.toThrow("on purpose");
    await write(17, 100);
    const left = await store.range(Buffer.from("key"), Buffer.from("l"), 100);
    expect(left.map(([name]) => Buffer.from(name).toString()).sort()).toEqual(["key 16", "key 17"]);
    await store.close();
  });

  it("says of a write that it was done where the store is closed while it is, and takes none afterwards", async () => {
    const path = join(temporaryDirectory(), "log");
    const store = await openLevelBatchStore(path);
    const put = (value: Buffer): readonly BatchOperation[] => [
      { kind: "put", key: Buffer.from("key"), value },
    ];
    await store.write(put(Buffer.alloc(1)));
    await Promise.all([store.write(put(Buffer.alloc(1_000_000))), store.close()]);
    await expect(store.write(put(Buffer.alloc(2)))).rejects.toThrow();
    const again = await openLevelBatchStore(path);
    expect(await again.get(Buffer.from("key"))).toHaveLength(1_000_000);
    await again.close();
  });

  it("keeps one pair of what was read", async () => {
    const store = await openLevelBatchStore(join(temporaryDirectory(), "log"));
    const { database } = store as unknown as { readonly database: Level };
    const begin = database.iterator.bind(database);
    let held = 0;
    database.iterator = (options) => {
      const iterator = begin(options);
      const next = iterator.nextv.bind(iterator);
      iterator.nextv = async (size) => {
        const pairs = await next(size);
        held = pairs.length;
        return pairs;
      };
      return iterator;
    };
    const keys = Array.from({ length: 100 }, (_, at) => Buffer.from(`key ${at + 100}`));
    await store.write(keys.map((key) => ({ kind: "put", key, value: Buffer.alloc(50_000) })));
    for (const limit of [1, 30, 99, 100]) {
      const read = await store.range(Buffer.from("key"), Buffer.from("l"), limit);
      expect(read.map(([key]) => Buffer.from(key))).toEqual(keys.slice(0, limit));
      expect(held).toBeLessThanOrEqual(1);
    }
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
