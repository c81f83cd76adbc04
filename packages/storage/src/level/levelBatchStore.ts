/**
 * A batch store on LevelDB. Every write is synced before it resolves.
 *
 * It never repairs a database and never hides an error. LevelDB itself may lose records in silence (see the
 * log's checks above this); what it does report, and which opening errors mean what, is told here in the
 * project's words.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { BatchOperation, BatchStore } from "@quorate/raft";
import type { Level } from "level";

/** Why a database did not open. `corrupt`: LevelDB itself says that its files are damaged. */
export type OpenFailure = "locked" | "corrupt" | "failed";

export class LevelOpenError extends Error {
  readonly failure: OpenFailure;

  constructor(failure: OpenFailure, message: string, cause: unknown) {
    super(message, { cause });
    this.name = "LevelOpenError";
    this.failure = failure;
  }
}

type Database = Level<Uint8Array, Uint8Array>;

/** Operations that are taken in one turn of the process: a millisecond or two. */
const portionOperations = 512;

/** Bytes that one hop to the native side may bring back. */
const hopBytes = 1024 * 1024;

/** A batch that had more bytes is not used again: it keeps the room for them. */
const keptBatchBytes = 4 * 1024 * 1024;

type Batch = ReturnType<Database["batch"]>;

/** What every implementation of abstract-level has, and does for `write`, which closes the batch besides. */
interface Writable {
  _write(options: { readonly sync: boolean }): Promise<void>;
}

/** Opens or makes the database. Rejects `LevelOpenError`. LevelDB is loaded here, not before. */
export async function openLevelBatchStore(path: string): Promise<LevelBatchStore> {
  const { Level } = await import("level");
  const database: Database = new Level(path, { keyEncoding: "view", valueEncoding: "view" });
  try {
    await database.open();
  } catch (error) {
    throw openError(path, error);
  }
  return new LevelBatchStore(database);
}

export class LevelBatchStore implements BatchStore {
  private readonly database: Database;
  /** Empty, and not in use. */
  private idleBatch: Batch | undefined;

  constructor(database: Database) {
    this.database = database;
  }

  /**
   * A chained batch: several times faster than an array of operations, and it copies each as it takes it.
   *
   * What it copied is native memory that goes with the garbage, of which V8 does not know how much that is: under load
   * a hundred megabytes. So one batch is used for all writes.
   */
  async write(operations: Iterable<BatchOperation>): Promise<void> {
    const batch = this.idleBatch ?? this.database.batch();
    this.idleBatch = undefined;
    let bytes = 0;
    try {
      let taken = 0;
      for (const operation of operations) {
        if (operation.kind === "put") batch.put(operation.key, operation.value);
        else batch.del(operation.key);
        bytes += operation.key.length + (operation.kind === "put" ? operation.value.length : 0);
        taken += 1;
        if (taken % portionOperations === 0) await nextTurn();
      }
      await (batch as unknown as Writable)._write({ sync: true });
    } catch (error) {
      await batch.close();
      throw error;
    }
    // What was written is so even where the database was closed meanwhile, and the batch with it.
    if (this.idleBatch === undefined && bytes <= keptBatchBytes && this.database.status === "open") {
      this.idleBatch = batch.clear();
    } else await batch.close();
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.database.get(key);
  }

  async range(from: Uint8Array, to: Uint8Array, limit: number): Promise<[Uint8Array, Uint8Array][]> {
    const iterator = this.database.iterator({
      gte: from,
      lt: to,
      limit: limit + 1,
      fillCache: false,
      highWaterMarkBytes: hopBytes,
    });
    try {
      const pairs: [Uint8Array, Uint8Array][] = [];
      for (;;) {
        const hop = await iterator.nextv(limit - pairs.length);
        for (const pair of hop) pairs.push(pair);
        if (hop.length === 0 || pairs.length >= limit) break;
      }
      // What a hop brought stays in native memory until the next one, or goes with the garbage much later.
      await iterator.nextv(1);
      return pairs;
    } finally {
      await iterator.close();
    }
  }

  async close(): Promise<void> {
    await this.database.close();
  }
}

/** LevelDB says that its own files are damaged; it does not always notice. */
export function isCorruption(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return error instanceof LevelOpenError ? error.failure === "corrupt" : codeOf(error) === "LEVEL_CORRUPTION";
}

/** What a damaged database means for its node, and what to do. `path` is the database's. */
export function corruptionSentence(path: string, error: Error): string {
  return (
    `The database is damaged (${error.message}). The node stays out, and the others go on without it. ` +
    `What it promised is in the witness file, beside the database: move ${path} away and start the node again, ` +
    "and it comes back without votes until its peers have given it back its log."
  );
}

function codeOf(error: Error): unknown {
  return "code" in error ? error.code : undefined;
}

function openError(path: string, error: unknown): LevelOpenError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new LevelOpenError(failureOf(cause), `LevelDB does not open ${path}: ${detail}`, error);
}

function failureOf(cause: unknown): OpenFailure {
  if (!(cause instanceof Error)) return "failed";
  if (codeOf(cause) === "LEVEL_LOCKED") return "locked";
  // The directory itself was just made where it was not there: a file that CURRENT or the manifest names is missing.
  const isMissing = /No such file/.test(cause.message);
  return codeOf(cause) === "LEVEL_CORRUPTION" || isMissing ? "corrupt" : "failed";
}
