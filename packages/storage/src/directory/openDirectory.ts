/**
 * Opens a node's data directory: looks before it touches, locks before it writes, makes what is not there
 * in an order that a crash at any instant leaves recoverable (identity, witness, directory synced, then
 * LevelDB).
 *
 * It refuses rather than guesses, and a refusal changes nothing.
 */
import { mkdir, realpath, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  type BatchStore,
  type Identity,
  type Logger,
  type LogStore,
  type NodeId,
  QuorateError,
  type Random,
  randomHex,
} from "@quorate/raft";
import {
  corruptionSentence,
  isCorruption,
  LevelOpenError,
  openLevelBatchStore,
} from "../level/levelBatchStore.ts";
import { newbornSlots, openLog } from "../log/openLog.ts";
import { decodeSlots } from "../log/slot.ts";
import { DiskSlotFile, slotFileContent, slotsOf } from "./diskSlotFile.ts";
import { DiskSnapshotFiles } from "./diskSnapshotFiles.ts";
import { createDurably, readIfPresent, syncDirectory } from "./durableFiles.ts";
import { readIdentity, writeIdentity } from "./identityFile.ts";
import { filesIn, type Layout, layoutOf } from "./layout.ts";
import { holderOf, removeLockFile, writeLockFile } from "./lockFile.ts";

export interface DirectoryOptions {
  readonly nodeId: NodeId;
  /** Draws the incarnation of a directory that is made. */
  readonly random: Random;
  /** Is told what an opening found; silent by default. */
  readonly logger?: Logger;
}

/**
 * Opens, or makes, the data directory of node `nodeId`.
 *
 * Rejects `DIRECTORY_IN_USE` when another process has it open, `WRONG_DIRECTORY` when it is another node's
 * or of a newer format, `DATA_LOST` when hard state may be gone or it is quarantined, `STORAGE_FAILED` when
 * the disk fails.
 */
export async function openDirectory(directory: string, options: DirectoryOptions): Promise<LogStore> {
  const { nodeId, random, logger } = options;
  const layout = await findOrMake(directory);
  const identity = await readIdentity(layout.identity);
  if (identity !== undefined && identity.nodeId !== nodeId) throw anotherNodes(layout, identity, nodeId);
  if (!(await isMade(layout))) await make(layout, { nodeId, incarnation: randomHex(random, 16) });
  const batches = locked(layout, await openDatabase(layout));
  await writeLockFile(layout);
  const store = await openLog({
    batches,
    slots: new DiskSlotFile(layout.witness),
    snapshots: new DiskSnapshotFiles(layout.snapshots),
    nodeId,
    random,
    ...(logger === undefined ? {} : { logger }),
    location: layout.directory,
    mayCreate: false,
  }).catch((error: unknown) => {
    throw error instanceof QuorateError && isCorruption(error.cause) ? corrupt(layout, error.cause) : error;
  });
  await repairIdentity(layout, store.identity);
  return store;
}

async function findOrMake(directory: string): Promise<Layout> {
  const path = resolve(directory);
  const made = await mkdir(path, { recursive: true });
  if (made !== undefined) await syncDirectory(dirname(made));
  return layoutOf(await realpath(path));
}

/**
 * Making ends with a whole witness; before that, nothing was promised. Throws where the witness is of a newer format:
 * LevelDB writes into its files when they are opened, and these are left alone.
 */
async function isMade(layout: Layout): Promise<boolean> {
  const witness = await readIfPresent(layout.witness);
  if (witness !== undefined) {
    decodeSlots(slotsOf(witness));
    return true;
  }
  if ((await filesIn(layout.log)).length === 0) return false;
  throw new QuorateError(
    "DATA_LOST",
    `${layout.directory}: its witness file is gone, so nobody can tell what this node promised. ` +
      "It must not speak again, since it could vote twice in one term: it stays out, and the others go on without it.",
  );
}

/**
 * What an unfinished making left is made anew, as another incarnation: nothing of it was ever shown to
 * anybody.
 */
async function make(layout: Layout, identity: Identity): Promise<void> {
  await writeIdentity(layout.identity, identity);
  const [zero, one] = newbornSlots(identity.nodeId, identity.incarnation);
  await createDurably(layout.witness, slotFileContent(zero, one));
}

async function openDatabase(layout: Layout): Promise<BatchStore> {
  try {
    return await openLevelBatchStore(layout.log);
  } catch (error) {
    if (!(error instanceof LevelOpenError)) throw error;
    if (error.failure === "locked") throw await inUse(layout);
    if (error.failure === "failed") throw failed(layout, error);
    if (!(await promisedNothing(layout))) throw corrupt(layout, error);
    await rm(layout.log, { recursive: true });
    return await openLevelBatchStore(layout.log);
  }
}

/**
 * Both slots are good and of no write: a database that is damaged now was damaged while it was being made.
 */
async function promisedNothing(layout: Layout): Promise<boolean> {
  const content = await readIfPresent(layout.witness);
  const slots = content && decodeSlots(slotsOf(content));
  return slots?.every((slot) => slot?.k === 0) ?? false;
}

/** The lock file goes when the lock does. */
function locked(layout: Layout, batches: BatchStore): BatchStore {
  return {
    write: (operations) => batches.write(operations),
    get: (key) => batches.get(key),
    range: (from, to, limit) => batches.range(from, to, limit),
    close: async () => {
      await removeLockFile(layout);
      await batches.close();
    },
  };
}

async function repairIdentity(layout: Layout, identity: Identity): Promise<void> {
  const written = await readIdentity(layout.identity);
  if (written?.nodeId === identity.nodeId && written.incarnation === identity.incarnation) return;
  await writeIdentity(layout.identity, identity);
}

function anotherNodes({ directory }: Layout, found: Identity, wanted: NodeId): QuorateError {
  return new QuorateError(
    "WRONG_DIRECTORY",
    `${directory} holds the data of node "${found.nodeId}", and this is node "${wanted}". Start it with the ` +
      `directory of "${wanted}", or as "${found.nodeId}". Nothing was changed.`,
  );
}

async function inUse(layout: Layout): Promise<QuorateError> {
  const holder = await holderOf(layout);
  const pid = holder === undefined ? "" : ` (pid ${holder})`;
  return new QuorateError(
    "DIRECTORY_IN_USE",
    `Another process${pid} has ${layout.directory} open; stop it or choose another --data-dir.`,
  );
}

function failed({ directory }: Layout, cause: LevelOpenError): QuorateError {
  const advice =
    "Find the cause (a full or failing disk, missing rights?), remove it, and start the node again.";
  return new QuorateError("STORAGE_FAILED", `${directory}: ${cause.message}. ${advice}`, { cause });
}

/**
 * LevelDB itself finds its files damaged: it would fail again at its next compaction, so nothing is written
 * to it.
 */
function corrupt({ directory, log }: Layout, cause: Error): QuorateError {
  return new QuorateError("DATA_LOST", `${directory}: ${corruptionSentence(log, cause)}`, { cause });
}
