/**
 * Reads a data directory without changing it, and says what is in it and what a start would do.
 *
 * Opening a LevelDB database writes into it, so a copy is opened, in the system's temporary directory,
 * which must have room for it. A directory that a running node has open can be examined too: the witness is
 * copied first, so that the database is never older than it.
 */
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Identity, type NodeId, nodeIdOf, QuorateError, type SnapshotFiles } from "@quorate/raft";
import { corruptionSentence, isCorruption, openLevelBatchStore } from "../level/levelBatchStore.ts";
import { type Evidence, gatherEvidence } from "../log/evidence.ts";
import { judge } from "../log/judgement.ts";
import { planRecovery, type Recovery } from "../log/recovery.ts";
import { isIntact } from "../snapshots/findSnapshots.ts";
import { DiskSlotFile } from "./diskSlotFile.ts";
import { DiskSnapshotFiles } from "./diskSnapshotFiles.ts";
import { codeOf } from "./durableFiles.ts";
import { readIdentity } from "./identityFile.ts";
import { filesIn, type Layout, layoutOf } from "./layout.ts";
import { holderOf } from "./lockFile.ts";
import { type Report, refusalReport, reportOf, type SnapshotReport } from "./report.ts";

/** How often a database that changes while it is copied is tried. */
const copyAttempts = 5;

/**
 * Rejects `STORAGE_FAILED` when `directory` cannot be read, `WRONG_DIRECTORY` when it is of a newer format.
 */
export async function examine(directory: string): Promise<Report> {
  const layout = layoutOf(resolve(directory));
  if ((await filesIn(layout.directory)).length === 0) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `${layout.directory} is empty, or there is no such directory.`,
    );
  }
  const pid = await holderOf(layout);
  const identity = await readIdentity(layout.identity);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await examineCopy(layout, pid, identity);
    } catch (error) {
      const moved = codeOf(error) === "ENOENT" || isCorruption(error);
      if (moved && pid !== undefined && attempt < copyAttempts) continue;
      if (!isCorruption(error)) throw error;
      return refusalReport(layout.directory, pid, identity, corruptionSentence(layout.log, error));
    }
  }
}

async function examineCopy(
  layout: Layout,
  pid: number | undefined,
  identity: Identity | undefined,
): Promise<Report> {
  const temporary = await mkdtemp(join(tmpdir(), "quorate-doctor-"));
  try {
    const copy = layoutOf(temporary);
    await copyInto(layout, copy);
    const batches = await openLevelBatchStore(copy.log);
    const snapshots = new DiskSnapshotFiles(layout.snapshots);
    try {
      const evidence = await gatherEvidence(batches, new DiskSlotFile(copy.witness));
      const judgement = judge(evidence, nameOf(identity, evidence), evidence.slots === undefined);
      const recovery =
        judgement.kind === "open"
          ? await planRecovery({ batches, snapshots }, evidence, judgement)
          : undefined;
      const reports = await snapshotReports(snapshots, recovery);
      const { directory } = layout;
      return reportOf({ directory, pid, identity, evidence, judgement, recovery, snapshots: reports });
    } finally {
      await batches.close();
    }
  } finally {
    await rm(temporary, { recursive: true });
  }
}

/** All of them are read: the older one is what a node falls back to. */
async function snapshotReports(
  files: SnapshotFiles,
  recovery: Recovery | undefined,
): Promise<readonly SnapshotReport[]> {
  const reports: SnapshotReport[] = [];
  for (const snapshot of recovery?.snapshots ?? []) {
    const { boundary, bytes } = snapshot.header;
    reports.push({ ...boundary, bytes, intact: await isIntact(files, snapshot) });
  }
  return reports;
}

async function copyInto(from: Layout, to: Layout): Promise<void> {
  await mkdir(to.log);
  const names = await filesIn(from.directory);
  if (names.includes("witness")) await copyFile(from.witness, to.witness);
  for (const name of await filesIn(from.log)) {
    if (name !== "LOCK") await copyFile(join(from.log, name), join(to.log, name));
  }
}

/** Whose directory it is, by whatever can still be read. */
function nameOf(identity: Identity | undefined, { database, slots }: Evidence): NodeId {
  const record = slots?.[0] ?? slots?.[1] ?? database;
  return identity?.nodeId ?? (record === undefined ? ("unknown" as NodeId) : nodeIdOf(record.member));
}
