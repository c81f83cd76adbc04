/**
 * What LevelDB does with damaged files, pinned down: the log's own checks exist because of it. A later
 * version may behave better; then these tests say so.
 */
import { createHash } from "node:crypto";
import { readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { BatchOperation, BatchStore } from "@quorate/raft";
import { openLevelBatchStore } from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { copyOf, filesEnding, flipByte, temporaryDirectory } from "./temporaryDirectory.ts";

const valueBytes = 500;

function keyOf(at: number): Uint8Array {
  return Buffer.from(`key ${String(at).padStart(6, "0")}`);
}

function put(at: number): BatchOperation {
  return { kind: "put", key: keyOf(at), value: Buffer.alloc(valueBytes, `value ${at} `) };
}

/** `count` synced batches of one value; the path is a database's that was stopped without closing. */
async function written(count: number): Promise<string> {
  const path = join(temporaryDirectory(), "log");
  const store = await openLevelBatchStore(path);
  for (let at = 0; at < count; at += 1) await store.write([put(at)]);
  const frozen = copyOf(path);
  await store.close();
  return frozen;
}

async function survivors(path: string): Promise<readonly number[]> {
  const store = await openLevelBatchStore(path);
  const pairs = await store.range(Buffer.from("key"), Buffer.from("l"), 100_000);
  await store.close();
  return pairs.map(([key]) => Number(Buffer.from(key).toString().slice(4)));
}

function logFile(path: string): string {
  return filesEnding(path, ".log")[0]!;
}

function rangeOf(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

describe("LevelDB", () => {
  it("opens in silence when a byte of a small .log file is flipped, with everything from there on gone", async () => {
    const path = await written(20);
    flipByte(logFile(path), Math.floor(statSync(logFile(path)).size / 2));
    const left = await survivors(path);
    expect(left.length).toBeLessThan(12);
    expect(left).toEqual(rangeOf(0, left.length));
  });

  it("leaves a hole when the .log file is large: what follows the damaged 32 KiB block survives", async () => {
    const path = await written(200);
    flipByte(logFile(path), 40_000);
    const left = await survivors(path);
    expect(left.length).toBeLessThan(200);
    expect(left).toContain(0);
    expect(left).toContain(199);
  });

  it("opens in silence when the .log file is cut, emptied or deleted", async () => {
    for (const damage of ["cut", "emptied", "deleted"] as const) {
      const path = await written(10);
      const file = logFile(path);
      if (damage === "deleted") rmSync(file);
      else truncateSync(file, damage === "cut" ? Math.floor(statSync(file).size / 2) : 0);
      const left = await survivors(path);
      expect(left).toEqual(damage === "cut" ? rangeOf(0, left.length) : []);
      expect(left.length).toBeLessThan(10);
    }
  });

  it("makes a new database in silence when CURRENT is gone, and forgets every .ldb file", async () => {
    const path = await written(10);
    const store = await openLevelBatchStore(path); // opening moves the .log file's records to an .ldb file
    await store.write([put(10)]);
    await store.close();
    rmSync(join(path, "CURRENT"));
    expect(await survivors(path)).toEqual([10]);
  });

  it("can give back a wrong value without an error when a byte of an .ldb file is flipped", async () => {
    const path = join(temporaryDirectory(), "log");
    let store: BatchStore = await openLevelBatchStore(path);
    const digests = rangeOf(0, 100).map((at) => createHash("sha256").update(String(at)).digest());
    const noise = Buffer.concat(digests); // nothing in it can be compressed
    await store.write([{ kind: "put", key: keyOf(0), value: noise }]);
    await store.close();
    store = await openLevelBatchStore(path); // opening moves the .log file's records to an .ldb file
    await store.close();
    const [table = ""] = filesEnding(path, ".ldb");
    const place = readFileSync(table).indexOf(noise.subarray(1000, 1016));
    expect(place).toBeGreaterThan(0);
    flipByte(table, place);
    store = await openLevelBatchStore(path);
    const found = await store.get(keyOf(0));
    await store.close();
    expect(found?.length).toBe(noise.length);
    expect(Buffer.compare(found!, noise)).not.toBe(0);
  });

  it("lets a second process, or a second opening, know that it is locked", async () => {
    const path = await written(1);
    const store = await openLevelBatchStore(path);
    await expect(openLevelBatchStore(path)).rejects.toMatchObject({ failure: "locked" });
    await store.close();
  });
});
