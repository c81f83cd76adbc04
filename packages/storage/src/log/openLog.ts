/**
 * Opens a log over the two small stores: gathers the evidence, judges it, repairs what may be repaired, and
 * ends with one witnessed batch (boot + 1) before anything can be promised.
 *
 *   evidence ──▶ judge ──▶ create
 *                    ├──▶ refuse
 *                    └──▶ open ──▶ plan ──▶ witness what a crash left without ──▶ opening batch
 *
 * It never guesses: a refusal changes nothing, and entries that were acknowledged and are gone set a floor,
 * below which the node stays mute until its peers have given them back.
 */
import {
  asIndex,
  asTerm,
  type BatchOperation,
  type BatchStore,
  type Index,
  invariant,
  type Logger,
  type LogStore,
  memberId,
  type NodeId,
  QuorateError,
  type Random,
  randomHex,
  type SlotFile,
  type SnapshotFiles,
  type Standing,
  silentLogger,
} from "@quorate/raft";
import { ChainedLog } from "./chainedLog.ts";
import { type Evidence, gatherEvidence } from "./evidence.ts";
import { judge } from "./judgement.ts";
import { birthKey, entriesEnd, entryKey } from "./keys.ts";
import { positionAt } from "./readEntries.ts";
import { outcomeSentence, planRecovery, type Recovery } from "./recovery.ts";
import { restoredState } from "./restoredState.ts";
import { encodeSlot } from "./slot.ts";
import { encodeStateRecord, newbornRecord, type Position, type StateRecord } from "./stateRecord.ts";
import { type Stores, writeWitness, writeWitnessed } from "./witness.ts";

export interface LogOptions {
  readonly batches: BatchStore;
  readonly slots: SlotFile;
  readonly snapshots: SnapshotFiles;
  readonly nodeId: NodeId;
  /** Draws the incarnation of a directory that is made. */
  readonly random: Random;
  /** Is told what an opening found; silent by default. */
  readonly logger?: Logger;
  /** How sentences name the place; default "the log". */
  readonly location?: string;
  /**
   * Default true. False where creation is the caller's and was finished before: then nothing means
   * something lost.
   */
  readonly mayCreate?: boolean;
}

/**
 * Takes over the three stores: closing the log closes them, and so does a rejection.
 *
 * Rejects `DATA_LOST` when hard state may be gone or the directory is quarantined, `WRONG_DIRECTORY` when
 * the data are another node's or of a newer format, `STORAGE_FAILED` when reading or writing fails.
 */
export async function openLog(options: LogOptions): Promise<LogStore> {
  const { batches, slots, snapshots } = options;
  try {
    return await open(options);
  } catch (error) {
    await snapshots.close();
    await slots.close();
    await batches.close();
    throw error instanceof QuorateError ? error : failedToOpen(error, options.location ?? defaultLocation);
  }
}

const defaultLocation = "the log";

async function open(options: LogOptions): Promise<ChainedLog> {
  const {
    batches,
    slots,
    snapshots,
    nodeId,
    location = defaultLocation,
    logger = silentLogger,
    mayCreate = true,
  } = options;
  const stores: Stores = { batches, slots };
  let evidence = await gatherEvidence(batches, slots);
  let judgement = judge(evidence, nodeId, mayCreate);
  if (judgement.kind === "create") {
    evidence = await create(options, stores);
    judgement = judge(evidence, nodeId, false);
  }
  if (judgement.kind === "refuse") throw new QuorateError(judgement.code, `${location}: ${judgement.reason}`);
  invariant(judgement.kind === "open", "what was just created opens");
  const recovery = await planRecovery({ batches, snapshots }, evidence, judgement);
  report(logger, location, recovery);
  if (judgement.unwitnessed) await writeWitness(stores, judgement.record);
  return recover({ stores, snapshots, location, logger }, evidence, recovery);
}

/** A creation that did not finish promised nothing: it is made anew, as a new incarnation. */
async function create({ nodeId, random }: LogOptions, { batches, slots }: Stores): Promise<Evidence> {
  const [zero, one] = newbornSlots(nodeId, randomHex(random, 16));
  await slots.write(0, zero);
  await slots.write(1, one);
  return gatherEvidence(batches, slots);
}

/** What both slots hold before a directory's first opening. */
export function newbornSlots(nodeId: NodeId, incarnation: string): readonly [Uint8Array, Uint8Array] {
  const content = encodeSlot(encodeStateRecord(newbornRecord(memberId(nodeId, incarnation))));
  return [content, content];
}

interface Place {
  readonly stores: Stores;
  readonly snapshots: SnapshotFiles;
  readonly location: string;
  readonly logger: Logger;
}

async function recover(place: Place, evidence: Evidence, recovery: Recovery): Promise<ChainedLog> {
  const { stores, snapshots } = place;
  const { scan, seen, birth } = recovery;
  const last = await keptPosition(stores.batches, recovery);
  if (recovery.cleanUp) await removeEntries(stores.batches, asIndex(last.index + 1), entriesEnd);
  scan.tail.cutTo(last);
  const record = openingRecord(recovery, last);
  const operations: BatchOperation[] = [];
  if (record.membership === undefined && evidence.birth !== undefined) {
    operations.push({ kind: "delete", key: birthKey });
  }
  await writeWitnessed(stores, operations, () => record);
  // What a crash left of a compaction or an installation: they move the boundary first.
  await removeEntries(stores.batches, asIndex(0), entryKey(asIndex(record.boundary.index + 1)));
  for (const name of recovery.leftovers) await snapshots.remove(name);
  const standing = standingOf(record, recovery);
  invariant(standing.kind !== "born" || birth !== undefined, "a born node has its birth");
  return new ChainedLog({ ...place, record, tail: scan.tail, standing, seen, kept: recovery.snapshots });
}

function openingRecord(recovery: Recovery, last: Position): StateRecord {
  const { record, boundary, floor, seen } = recovery;
  const term = asTerm(Math.max(record.term, last.term));
  return {
    ...record,
    k: record.k + 1,
    boot: record.boot + 1,
    term,
    vote: term > record.term ? undefined : record.vote,
    floor,
    boundary,
    last,
    seen: seen.size === 0 ? 0 : record.seen,
  };
}

function standingOf(record: StateRecord, { birth, scan, snapshots }: Recovery): Standing {
  const { membership, promisedTo, floor, last } = record;
  if (membership === undefined) return { kind: "unborn", promisedTo };
  if (birth === undefined) {
    const { clusterId } = membership;
    return { kind: "lost", clusterId, floor: floor ?? { lastIndex: last.index, lastTerm: last.term } };
  }
  const restored = restoredState(record, birth, scan, snapshots[0]?.header);
  return { kind: "born", birth, restored };
}

async function keptPosition(batches: BatchStore, { scan, keepTo, boundary }: Recovery): Promise<Position> {
  if (keepTo === boundary.index) return boundary;
  const position = await positionAt(batches, scan.tail, keepTo);
  if (position !== undefined) return position;
  throw new QuorateError(
    "STORAGE_FAILED",
    `Entry ${keepTo} was there a moment ago and cannot be read again.`,
  );
}

/**
 * In small batches that change nothing about the judgement: until the opening batch is written, a crash
 * among them leaves a log that is found faulty in the same way, or one that begins where it did.
 */
async function removeEntries(batches: BatchStore, first: Index, end: Uint8Array): Promise<void> {
  let from = entryKey(first);
  for (;;) {
    const doomed = await batches.range(from, end, 512);
    if (doomed.length === 0) return;
    await batches.write(doomed.map(([key]) => ({ kind: "delete", key })));
    from = doomed.at(-1)![0]; // not from the start again: LevelDB would step over every deleted key
  }
}

function report(logger: Logger, location: string, recovery: Recovery): void {
  const { findings, outcome } = recovery;
  for (const { kind, text } of findings) {
    if (kind === "note") logger.info({ location }, `${location}: ${text}.`);
    else logger.warn({ location, outcome }, `${location}: ${text}. ${outcomeSentence(recovery)}`);
  }
}

function failedToOpen(cause: unknown, location: string): QuorateError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  const advice =
    "Find the cause (a full or failing disk, missing rights?), remove it, and start the node again.";
  return new QuorateError("STORAGE_FAILED", `Opening ${location} failed: ${detail}. ${advice}`, { cause });
}
