/**
 * The durable half of a node: its identity, its birth, its hard state and its log.
 *
 * Every method that writes resolves only when the write is durable and witnessed. One that rejects leaves the store
 * failed: what it was to write may or may not be there, every later call rejects, and the node must stop.
 */
import type { Persist, RestoredState } from "../core/contract.ts";
import type { Configuration, Entry, Floor, Index, MemberId, NodeId, SnapshotHeader } from "../core/types.ts";
import type { SnapshotStore } from "./snapshotStore.ts";

export interface Identity {
  readonly nodeId: NodeId;
  /** 16 random hexadecimal digits, drawn when the directory was made. */
  readonly incarnation: string;
}

/** What makes an unborn directory a member: the same on every member of the cluster. */
export interface Birth {
  /** 32 random hexadecimal digits. */
  readonly clusterId: string;
  readonly configuration: Configuration;
}

export type Standing =
  /** Never was a member. `promisedTo` is the only founder whose birth it may still take. */
  | { readonly kind: "unborn"; readonly promisedTo: MemberId | undefined }
  /** Was a member of this cluster and lost the record of it. Takes its birth again from a member; founds nothing. */
  | { readonly kind: "lost"; readonly clusterId: string; readonly floor: Floor }
  | { readonly kind: "born"; readonly birth: Birth; readonly restored: RestoredState };

/**
 * The most that a peer has shown. Boot and sequence only rise, and each start of a process shows more of both than the
 * one before: a start that does not has lost what was seen.
 */
export interface Seen {
  /** Which start of its process showed it: 16 random hexadecimal digits. */
  readonly start: string;
  readonly boot: number;
  readonly sequence: number;
}

export interface LogStore {
  readonly identity: Identity;
  /** How often the directory was opened, this time included. */
  readonly boot: number;
  /** The sequence k of the last **witnessed** write. */
  readonly sequence: number;
  readonly standing: Standing;
  /** What peers have shown, as it was when the directory was opened, and as `remember` has raised it since. */
  readonly seen: ReadonlyMap<MemberId, Seen>;
  readonly snapshots: SnapshotStore;

  /** Promises an unborn directory to a founder. Rejects `REFUSED` when it is promised to another. */
  promise(founder: MemberId): Promise<void>;
  /** Makes the directory a member; from then on `standing` is born. Idempotent for an equal birth. */
  bear(birth: Birth): Promise<RestoredState>;
  /** Writes atomically and durably. The caller has one write outstanding at most. */
  write(persist: Persist): Promise<void>;
  /**
   * Entries `from`..`to` (inclusive), verified, at most `maxBytes` of data but at least one. None where `from` is no
   * longer after the boundary: they were compacted.
   */
  read(from: Index, to: Index, maxBytes: number): Promise<readonly Entry[]>;
  /**
   * Moves the boundary up to this entry and deletes what is no longer after it, in bounded batches between which other
   * writes go on. Does nothing where it is there already. `upTo`: at most `snapshots.compactableTo`.
   */
  compact(upTo: Index): Promise<void>;
  /**
   * Puts a snapshot that was received in the place of the log up to its boundary, in one write: after a crash either
   * all of it happened or nothing. What follows the boundary is kept only where the log has the snapshot's own entry
   * there. The machine is restored from the snapshot afterwards.
   */
  install(header: SnapshotHeader): Promise<RestoredState>;
  /** Raises what was seen of a peer: in memory, and durably when its boot or its start is new. */
  remember(peer: MemberId, seen: Seen): Promise<void>;
  /** Marks the directory as one that must never speak again, and why. Opening it says so. */
  quarantine(reason: string): Promise<void>;
  /** Waits for the write under way. Idempotent. */
  close(): Promise<void>;
}
