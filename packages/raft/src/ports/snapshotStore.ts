/**
 * Snapshots on a node's disk. A snapshot stands for all entries up to and including its boundary.
 *
 * The last two are kept, so that one that is found damaged has one before it, which the log still reaches back to.
 * Each is written under another name, synced, and only then given its own: it is there whole, or not at all.
 *
 * Unlike the log's, a write that fails here harms no promise. What it left is removed, and it may be tried again.
 */
import type { Boundary, ConfigurationAt, Index, SnapshotHeader } from "../core/types.ts";

/** A snapshot that this node makes of its own state. One at a time. Exactly one of `finish` and `abort` ends it. */
export interface SnapshotWriter {
  readonly boundary: Boundary;
  /** Content, in order, in pieces of any size. The next one is given when this one was taken. */
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves when it is durable and among `kept`; what is older than two is removed. */
  finish(): Promise<SnapshotHeader>;
  /** Idempotent; also after a failure. */
  abort(): Promise<void>;
}

/** A snapshot that a peer sends. One at a time: another header takes the place of one that was not finished. */
export interface SnapshotReceiver {
  readonly header: SnapshotHeader;
  /** Bytes of content that it has: above 0 where an earlier receiver of the same header was left behind. */
  readonly offset: number;
  /** `offset` is where the chunk belongs: it must be this receiver's. Rejects `INVALID_ARGUMENT` for another. */
  write(offset: number, chunk: Uint8Array): Promise<void>;
  /**
   * Verifies length and checksum, and resolves when it is durable, ready for `LogStore.install`. Rejects
   * `SNAPSHOT_DAMAGED` where they are wrong: then it is gone, and is received again from its start.
   */
  finish(): Promise<void>;
  /** Throws away what was received. Idempotent. Who wants to go on later just leaves it. */
  abort(): Promise<void>;
}

export interface SnapshotStore {
  /** Newest first, at most two, each one that the log reaches back to or begins at. */
  readonly kept: readonly SnapshotHeader[];
  /** Entries above this index are not to be compacted: the older one's boundary; undefined with fewer than two. */
  readonly compactableTo: Index | undefined;
  /** The log must hold the entry at `boundary`, and it must be applied. `configuration`: in force there. */
  write(boundary: Boundary, configuration: ConfigurationAt): Promise<SnapshotWriter>;
  receive(header: SnapshotHeader): Promise<SnapshotReceiver>;
  /**
   * Content from `offset` on, at most `maxBytes` (a megabyte at most). Not verified: the checksum in the header is of
   * the whole. Rejects `UNAVAILABLE` where the snapshot is no longer kept.
   */
  read(header: SnapshotHeader, offset: number, maxBytes: number): Promise<Uint8Array>;
  /** Keeps a snapshot readable until the function that it returns is called, even when two newer ones are there. */
  retain(header: SnapshotHeader): () => void;
}
