/**
 * For sister packages and tests: the log over its two small ports, memory adapters, the ports' conformance
 * suites, and the adapters below `openDirectory`. Nothing here loads LevelDB before a database is opened.
 */
export {
  type BatchStoreUnderTest,
  batchStoreSuite,
} from "./conformance/batchStoreSuite.ts";
export type { ConformanceCase } from "./conformance/check.ts";
export { type SlotFileUnderTest, slotFileSuite } from "./conformance/slotFileSuite.ts";
export {
  type SnapshotFilesUnderTest,
  snapshotFilesSuite,
} from "./conformance/snapshotFilesSuite.ts";
export { DiskSlotFile } from "./directory/diskSlotFile.ts";
export { DiskSnapshotFiles } from "./directory/diskSnapshotFiles.ts";
export { syncDirectory, writeDurably } from "./directory/durableFiles.ts";
export { LevelOpenError, openLevelBatchStore } from "./level/levelBatchStore.ts";
export { decodeEntry, encodeEntry } from "./log/entryRecord.ts";
export { entryKey, recordKey } from "./log/keys.ts";
export { type LogOptions, openLog } from "./log/openLog.ts";
export { slotBytes } from "./log/slot.ts";
export { decodeStateRecord, encodeStateRecord, type StateRecord } from "./log/stateRecord.ts";
export { MemoryBatchStore, type MemoryContents } from "./memory/memoryBatchStore.ts";
export { MemorySlotFile, type SlotContents } from "./memory/memorySlotFile.ts";
export { MemorySnapshotFiles, type SnapshotContents } from "./memory/memorySnapshotFiles.ts";
