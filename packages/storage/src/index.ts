/** @quorate/storage: a Raft log on LevelDB that notices what LevelDB loses. */
export { examine } from "./directory/examine.ts";
export { type DirectoryOptions, openDirectory } from "./directory/openDirectory.ts";
export type { LogReport, Prognosis, Report, SnapshotReport } from "./directory/report.ts";
export type { DescribedSnapshot } from "./snapshots/snapshotFile.ts";
export {
  contentOfSnapshotFile,
  inspectSnapshotFile,
  type SnapshotFacts,
  writeSnapshotFile,
} from "./snapshots/snapshotFileAt.ts";
