/** The stores, the real ones and those in memory, against the same suites. */
import { join } from "node:path";
import type { BatchStore, SlotFile, SnapshotFiles } from "@quorate/raft";
import {
  batchStoreSuite,
  DiskSlotFile,
  DiskSnapshotFiles,
  MemoryBatchStore,
  MemorySlotFile,
  MemorySnapshotFiles,
  openLevelBatchStore,
  slotFileSuite,
  snapshotFilesSuite,
} from "@quorate/storage/internal";
import { describe, it } from "vitest";
import { temporaryDirectory } from "./temporaryDirectory.ts";

describe("LevelDB conforms as a batch store: it", () => {
  const suite = batchStoreSuite(async () => {
    const path = join(temporaryDirectory(), "log");
    const store = await openLevelBatchStore(path);
    const reopen = async (): Promise<BatchStore> => {
      await store.close();
      return openLevelBatchStore(path);
    };
    return { store, reopen };
  });
  for (const { name, run } of suite) it(name, run);
});

describe("Memory conforms as a batch store: it", () => {
  const suite = batchStoreSuite(async () => {
    const store = new MemoryBatchStore();
    return { store, reopen: async () => new MemoryBatchStore(store.contents()) };
  });
  for (const { name, run } of suite) it(name, run);
});

describe("A file on disk conforms as a slot file: it", () => {
  const suite = slotFileSuite(async () => {
    const path = join(temporaryDirectory(), "witness");
    const file = new DiskSlotFile(path);
    const reopen = async (): Promise<SlotFile> => {
      await file.close();
      return new DiskSlotFile(path);
    };
    return { file, reopen };
  });
  for (const { name, run } of suite) it(name, run);
});

describe("Memory conforms as a slot file: it", () => {
  const suite = slotFileSuite(async () => {
    const file = new MemorySlotFile();
    return { file, reopen: async () => new MemorySlotFile(file.contents()) };
  });
  for (const { name, run } of suite) it(name, run);
});

describe("A folder on disk conforms as snapshot files: it", () => {
  const suite = snapshotFilesSuite(async () => {
    const path = join(temporaryDirectory(), "snapshots");
    const files = new DiskSnapshotFiles(path);
    const reopen = async (): Promise<SnapshotFiles> => {
      await files.close();
      return new DiskSnapshotFiles(path);
    };
    return { files, reopen };
  });
  for (const { name, run } of suite) it(name, run);
});

describe("Memory conforms as snapshot files: it", () => {
  const suite = snapshotFilesSuite(async () => {
    const files = new MemorySnapshotFiles();
    return { files, reopen: async () => new MemorySnapshotFiles(files.contents()) };
  });
  for (const { name, run } of suite) it(name, run);
});
