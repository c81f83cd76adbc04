/** @quorate/kv/recovery: what `quorate snapshot` and `quorate recover` do with files and directories. */
export { type DirectoryStore, readDirectoryStore } from "./directoryStore.ts";
export { makeNewCluster, type NewCluster, revisionJump } from "./newCluster.ts";
export {
  lossSentences,
  type Recovered,
  type RecoveryRecord,
  readRecoveryRecord,
  recoverDirectory,
  recoveryRecordName,
} from "./recoverDirectory.ts";
export {
  inspectSnapshot,
  restoreSnapshot,
  type SnapshotSummary,
  saveDirectory,
  saveStoreSnapshot,
} from "./snapshots.ts";
