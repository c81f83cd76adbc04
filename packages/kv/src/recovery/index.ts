/** @quorate/kv/recovery: what `quorate snapshot` and `quorate recover` do with files and directories. */
export { type DirectoryStore, readDirectoryStore } from "./directoryStore.ts";
export {
  bearNewCluster,
  makeNewCluster,
  type NewCluster,
  type NewClusterOptions,
  newClusterSentences,
  revisionJump,
} from "./newCluster.ts";
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
