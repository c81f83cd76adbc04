/**
 * For sister packages and tests: the log over its two small ports, memory adapters, the ports' conformance suites, and
 * the adapters below `openDirectory`. Nothing here loads LevelDB until a database is opened.
 */
export { encodeBirth } from "./log/birthRecord.ts";
export { decodeEntry, encodeEntry } from "./log/entryRecord.ts";
export { type Evidence, gatherEvidence } from "./log/evidence.ts";
export { type Judgement, judge } from "./log/judgement.ts";
export { entryKey } from "./log/keys.ts";
export { type LogOptions, openLog } from "./log/openLog.ts";
export { decodeStateRecord, encodeStateRecord, type StateRecord, slotBytes } from "./log/stateRecord.ts";
export { MemoryBatchStore, type MemoryContents } from "./memory/memoryBatchStore.ts";
export { MemorySlotFile, type SlotContents } from "./memory/memorySlotFile.ts";
