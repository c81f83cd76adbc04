/**
 * The snapshots of an open directory: which are kept, the one that is being written, the one that is being
 * received.
 *
 * A file gets its own name only when it is whole and synced; what is no longer kept is removed when nobody reads it any
 * more. Whether a snapshot counts after a crash is not decided here: the log's state record does that (`recovery.ts`).
 */
import {
  type Boundary,
  type ConfigurationAt,
  type Index,
  invariant,
  type Logger,
  QuorateError,
  type SnapshotFiles,
  type SnapshotHeader,
  type SnapshotReceiver,
  type SnapshotStore,
  type SnapshotWriter,
} from "@quorate/raft";
import type { Membership } from "../log/stateRecord.ts";
import type { StoredSnapshot } from "./findSnapshots.ts";
import { PartialFile } from "./partialFile.ts";
import { preamble, sameSnapshot } from "./snapshotFile.ts";

/** Most bytes of one `read`. */
const maxReadBytes = 1_048_576;
const maxKept = 2;

const writingName = "writing.partial";
const receivingName = "receiving.partial";

/** What the store asks of the log beside it. */
export interface SnapshotContext {
  readonly files: SnapshotFiles;
  /** For sentences: the directory's path. */
  readonly location: string;
  readonly logger: Logger;
  /** The chain value at an entry that the log holds, or at its boundary. */
  chainAt(boundary: Boundary): Promise<number>;
  /** Where the log begins. */
  begins(): Boundary;
  membership(): Membership;
}

interface Receiving {
  readonly header: SnapshotHeader;
  readonly file: PartialFile;
}

export class FileSnapshotStore implements SnapshotStore {
  private readonly context: SnapshotContext;
  private stored: readonly StoredSnapshot[];
  private writing: SnapshotWriter | undefined;
  private receiving: Receiving | undefined;
  /** Whole and durable, and not installed. */
  private received: StoredSnapshot | undefined;
  /** How many read each file. */
  private readonly readers = new Map<string, number>();
  /** No longer kept, and still read. */
  private readonly doomed = new Map<string, SnapshotHeader>();
  private removals: Promise<void> = Promise.resolve();
  /** What was begun on the files and has not ended. */
  private readonly underWay = new Set<Promise<unknown>>();
  private isClosed = false;

  constructor(context: SnapshotContext, kept: readonly StoredSnapshot[]) {
    this.context = context;
    this.stored = kept;
  }

  get kept(): readonly SnapshotHeader[] {
    return this.stored.map(({ header }) => header);
  }

  get compactableTo(): Index | undefined {
    return this.stored[maxKept - 1]?.header.boundary.index;
  }

  async write(boundary: Boundary, configuration: ConfigurationAt): Promise<SnapshotWriter> {
    invariant(this.writing === undefined, "one snapshot is written at a time");
    const newest = this.stored[0]?.header.boundary.index ?? 0;
    invariant(boundary.index > newest, "a snapshot is newer than those before it", { boundary, newest });
    const writer = this.writerAt(boundary, configuration);
    this.writing = writer;
    try {
      await writer.begin();
    } catch (error) {
      this.writing = undefined;
      throw this.failed("Beginning", error);
    }
    return writer;
  }

  private writerAt(
    boundary: Boundary,
    configuration: ConfigurationAt,
  ): SnapshotWriter & { begin(): Promise<void> } {
    let file: PartialFile | undefined;
    let chain = 0;
    const ended = (): void => {
      if (this.writing === writer) this.writing = undefined;
    };
    const open = (): PartialFile => {
      invariant(file !== undefined && this.writing === writer, "a snapshot is written until it is ended");
      return file;
    };
    const writer = {
      boundary,
      begin: async (): Promise<void> => {
        chain = await this.context.chainAt(boundary);
        file = await this.storing(() => PartialFile.begin(this.context.files, writingName));
      },
      write: (chunk: Uint8Array): Promise<void> => this.storing(() => open().append(chunk)),
      finish: async (): Promise<SnapshotHeader> => {
        const { bytes, checksum } = open();
        const header: SnapshotHeader = { boundary, chain, configuration, bytes, checksum };
        if (boundary.index < this.context.begins().index) throw this.overtaken(boundary);
        await this.storing(async () => {
          const name = await open().seal({ header, membership: this.context.membership() });
          ended();
          this.keep({ header, name });
        });
        return header;
      },
      abort: async (): Promise<void> => {
        if (this.writing !== writer) return;
        ended();
        // Of a closed directory the next opening removes it.
        const left = file;
        if (left !== undefined && !this.isClosed) await this.storing(() => left.remove());
      },
    };
    return writer;
  }

  async receive(header: SnapshotHeader): Promise<SnapshotReceiver> {
    if (this.received !== undefined && sameSnapshot(this.received.header, header)) return whole(header);
    const unfinished = this.receiving;
    const resumes =
      unfinished !== undefined && sameSnapshot(unfinished.header, header) && !unfinished.file.isBroken;
    if (resumes) {
      // Another object: the receiver that was left behind can do nothing any more.
      this.receiving = { header, file: unfinished.file };
    } else {
      const file = await this.storing(() => PartialFile.begin(this.context.files, receivingName));
      this.receiving = { header, file };
    }
    return this.receiverOf(this.receiving);
  }

  private receiverOf(receiving: Receiving): SnapshotReceiver {
    const { header, file } = receiving;
    const discard = async (): Promise<void> => {
      if (this.receiving !== receiving) return;
      this.receiving = undefined;
      if (!this.isClosed) await this.storing(() => file.remove());
    };
    const damaged = async (what: string): Promise<never> => {
      await discard();
      throw new QuorateError("SNAPSHOT_DAMAGED", `The snapshot at entry ${header.boundary.index} ${what}.`);
    };
    const assertCurrent = (): void => {
      if (this.receiving === receiving) return;
      throw new QuorateError(
        "INVALID_ARGUMENT",
        "This receiver of a snapshot was ended, or replaced by another.",
      );
    };
    return {
      header,
      get offset() {
        return file.bytes;
      },
      write: async (offset, chunk) => {
        assertCurrent();
        if (offset !== file.bytes) {
          const detail = `The next chunk begins at byte ${file.bytes}, not at ${offset}.`;
          throw new QuorateError("INVALID_ARGUMENT", detail);
        }
        if (offset + chunk.length > header.bytes) await damaged("is longer than its header says");
        await this.storing(() => file.append(chunk));
      },
      finish: async () => {
        assertCurrent();
        if (file.bytes !== header.bytes) await damaged(`has ${file.bytes} bytes, not ${header.bytes}`);
        if (file.checksum !== header.checksum) await damaged("has another checksum than its header says");
        const name = await this.storing(() => file.seal({ header, membership: this.context.membership() }));
        this.receiving = undefined;
        this.letGo(this.received);
        this.received = { header, name };
      },
      abort: discard,
    };
  }

  async read(header: SnapshotHeader, offset: number, maxBytes: number): Promise<Uint8Array> {
    const name = this.nameOf(header);
    const wanted = Math.min(maxBytes, maxReadBytes, Math.max(0, header.bytes - offset));
    const piece = await this.storing(() => this.context.files.read(name, preamble.length + offset, wanted));
    if (piece.length === wanted) return piece;
    throw new QuorateError(
      "SNAPSHOT_DAMAGED",
      `The snapshot at entry ${header.boundary.index} ends before its header says.`,
    );
  }

  retain(header: SnapshotHeader): () => void {
    const name = this.nameOf(header);
    this.readers.set(name, (this.readers.get(name) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const left = this.readers.get(name)! - 1;
      if (left > 0) this.readers.set(name, left);
      else this.readers.delete(name);
      if (left === 0 && this.doomed.delete(name)) this.removeFile(name);
    };
  }

  /** The one that was received whole, to be installed. */
  receivedOf(header: SnapshotHeader): StoredSnapshot {
    if (this.received !== undefined && sameSnapshot(this.received.header, header)) return this.received;
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `No snapshot at entry ${header.boundary.index} was received whole, so none can be installed.`,
    );
  }

  /** The log begins at this one now: the others are of no use. */
  installed(snapshot: StoredSnapshot): void {
    this.received = undefined;
    const before = this.stored;
    this.stored = [snapshot];
    for (const one of before) if (one.name !== snapshot.name) this.letGo(one);
  }

  /** Waits for what is under way: nothing of this directory is touched afterwards. */
  async close(): Promise<void> {
    this.isClosed = true;
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
    await this.removals;
    await this.context.files.close();
  }

  private keep(snapshot: StoredSnapshot): void {
    const all = [snapshot, ...this.stored];
    this.stored = all.slice(0, maxKept);
    for (const one of all.slice(maxKept)) this.letGo(one);
  }

  private letGo(snapshot: StoredSnapshot | undefined): void {
    if (snapshot === undefined) return;
    if (this.readers.has(snapshot.name)) this.doomed.set(snapshot.name, snapshot.header);
    else this.removeFile(snapshot.name);
  }

  /** What cannot be removed now is removed at the next opening: it takes room, and harms nothing else. */
  private removeFile(name: string): void {
    const { files, logger, location } = this.context;
    const remove = async (): Promise<void> => {
      try {
        await files.remove(name);
      } catch (error) {
        logger.warn(
          { location, name, error },
          `${location}: ${name} could not be removed; it is at the next start.`,
        );
      }
    };
    this.removals = this.removals.then(remove);
  }

  private nameOf(header: SnapshotHeader): string {
    const held = this.stored.find((one) => sameSnapshot(one.header, header));
    if (held !== undefined) return held.name;
    for (const [name, doomed] of this.doomed) if (sameSnapshot(doomed, header)) return name;
    throw new QuorateError(
      "UNAVAILABLE",
      `The snapshot at entry ${header.boundary.index} is no longer kept.`,
    );
  }

  private overtaken({ index }: Boundary): QuorateError {
    return new QuorateError(
      "UNAVAILABLE",
      `The log begins after entry ${index} now: its snapshot is of no use.`,
    );
  }

  private async storing<T>(begin: () => Promise<T>): Promise<T> {
    if (this.isClosed)
      throw new QuorateError("CLOSED", `The snapshots in ${this.context.location} are closed.`);
    const result = begin();
    this.underWay.add(result);
    try {
      return await result;
    } catch (cause) {
      throw this.failed("Reading or writing", cause);
    } finally {
      this.underWay.delete(result);
    }
  }

  private failed(what: string, cause: unknown): QuorateError {
    if (cause instanceof QuorateError) return cause;
    const detail = cause instanceof Error ? cause.message : String(cause);
    return new QuorateError(
      "STORAGE_FAILED",
      `${what} a snapshot in ${this.context.location} failed (${detail}). The log is not harmed.`,
      { cause },
    );
  }
}

/** It was received before, and is there whole. */
function whole(header: SnapshotHeader): SnapshotReceiver {
  const nothing = (): Promise<void> => Promise.resolve();
  return { header, offset: header.bytes, write: nothing, finish: nothing, abort: nothing };
}
