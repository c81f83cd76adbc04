/**
 * What goes into the core and what comes out of it: the whole surface between Raft and the world.
 *
 *        events  ──▶  step(state, event, nowMs)  ──▶  takeEffects(state)  ──▶  effects
 *
 * The order of durability is in the data. The core keeps two outboxes: `sendNow`, true whatever the disk says, and
 * `sendAfterPersist`, promises that wait for the write that backs them. `Effects.send` holds only what may leave;
 * a promise comes out of the core with the effects of the `persisted` event of its own write, so a caller cannot
 * send it too early.
 */
import type { MemberChange, MemberChangeRefusal } from "./memberChange.ts";
import type { Message, SnapshotChunk } from "./messages.ts";
import type {
  Boundary,
  ConfigurationAt,
  Entry,
  EntryKind,
  Floor,
  Index,
  Member,
  MemberId,
  SnapshotHeader,
  Term,
  TermRun,
} from "./types.ts";

export type Role = "follower" | "preCandidate" | "candidate" | "leader";

/** All numbers are resolved and checked before they reach the core; durations are in milliseconds. */
export interface CoreOptions {
  readonly self: MemberId;
  readonly heartbeatMs: number;
  readonly electionTimeoutMinMs: number;
  /** Exclusive: timeouts are drawn from [min, max). */
  readonly electionTimeoutMaxMs: number;
  /** Appends in flight to one peer, by count and by bytes of entry data. */
  readonly maxInflightAppends: number;
  readonly maxInflightBytes: number;
  /** Bytes of entry data in one append; a single larger entry still goes alone. */
  readonly maxAppendBytes: number;
  /** Entries appended by this leader and not yet committed, by count and by bytes. The no-op is never refused. */
  readonly maxUncommittedEntries: number;
  readonly maxUncommittedBytes: number;
  /** Reads that wait for a confirmed read index. */
  readonly maxPendingReads: number;
  /** Memory for durable, applied entries that slow followers may need, the overhead of each included. */
  readonly maxCachedBytes: number;
  /** Content of a snapshot in one chunk, and what a transfer may take of a link on average. */
  readonly snapshotChunkBytes: number;
  readonly maxSnapshotBytesPerSecond: number;
  /** Entries before the newest snapshot that compaction leaves for slow followers, by count and by bytes. */
  readonly compactionTailEntries: number;
  readonly compactionTailBytes: number;
  /** A leader whose own write takes longer hands over to a voter that keeps more. */
  readonly diskStallMs: number;
  /** Seed of the core's own generator (unsigned 32 bits), whose state is part of the core's state. */
  readonly seed: number;
}

/** What the disk gave back, from which a core starts. */
export interface RestoredState {
  readonly term: Term;
  readonly vote: MemberId | undefined;
  readonly floor: Floor | undefined;
  /** Where the log begins: at or before the snapshot's boundary. */
  readonly boundary: Boundary;
  /**
   * The newest good one: the machine is restored from it, and entries are applied from its boundary on. All of its
   * entries are committed. Undefined where there is none: then the boundary is that of birth.
   */
  readonly snapshot: SnapshotHeader | undefined;
  readonly lastIndex: Index;
  /** The terms of the entries after the boundary, ascending; empty for an empty log. */
  readonly termRuns: readonly TermRun[];
  /** Ascending; the first is the one in force at the snapshot's boundary, or that of birth. Never empty. */
  readonly configurations: readonly ConfigurationAt[];
  /** How often this directory was opened; makes read request ids unique across restarts. */
  readonly boot: number;
}

export type Event =
  /** The timer armed at `nextDeadlineMs` fired. Harmless at any other time. */
  | { readonly kind: "tick" }
  | { readonly kind: "received"; readonly from: MemberId; readonly message: Message }
  /** Append this if we lead; answered once in `Effects.proposals` with the same `id`. */
  | {
      readonly kind: "proposed";
      readonly id: number;
      readonly entry: EntryKind;
      readonly data: Uint8Array;
    }
  /**
   * Change the membership if we lead; answered once in `Effects.memberships` with the same `id`. `ifIndex`: only if the
   * configuration in force is that of this index.
   */
  | {
      readonly kind: "membershipRequested";
      readonly id: number;
      readonly changes: readonly MemberChange[];
      readonly ifIndex: Index | undefined;
    }
  /** Ask for a read index; answered once in `Effects.reads` with the same `id`, now or later. */
  | { readonly kind: "readRequested"; readonly id: number }
  /** The write `sequence` and all before it are durable. */
  | { readonly kind: "persisted"; readonly sequence: number }
  /** Entries that an effect `load` asked for. */
  | { readonly kind: "loaded"; readonly load: Load; readonly entries: readonly Entry[] }
  /** The state machine has applied everything up to `upTo`. */
  | { readonly kind: "applied"; readonly upTo: Index }
  /** A connection with this peer was closed from its side: its process ended, or one link broke. */
  | { readonly kind: "peerLost"; readonly peer: MemberId }
  /** Hand leadership to `target`, or to the best voter; answered once in `Effects.transfers` with the same `id`. */
  | { readonly kind: "transferRequested"; readonly id: number; readonly target: MemberId | undefined }
  /** A snapshot of this node's own state is durable. Nothing after `compactableTo` is to be compacted. */
  | {
      readonly kind: "snapshotTaken";
      readonly header: SnapshotHeader;
      readonly compactableTo: Index | undefined;
    }
  /** Content that an effect `chunkLoads` asked for; undefined: the snapshot is no longer there. */
  | { readonly kind: "chunkLoaded"; readonly load: ChunkLoad; readonly data: Uint8Array | undefined }
  /** What became of a chunk of an effect `chunks`: `offset` bytes of its snapshot are here now. */
  | { readonly kind: "chunkStored"; readonly chunk: ReceivedChunk; readonly offset: number }
  /** All chunks are here, verified and durable. */
  | { readonly kind: "snapshotReceived"; readonly header: SnapshotHeader }
  /** An effect `install` was carried out: the log store begins at the snapshot, and the machine is restored from it. */
  | { readonly kind: "snapshotInstalled"; readonly header: SnapshotHeader };

/** One atomic, synced write: truncation, entries, hard state. At most one is outstanding. */
export interface Persist {
  /** Rises by one with each write of this start. */
  readonly sequence: number;
  readonly term: Term;
  readonly vote: MemberId | undefined;
  readonly floor: Floor | undefined;
  /** Delete every entry from this index on before `entries` are added. */
  readonly truncateFrom: Index | undefined;
  /** Consecutive; the first follows what is left. */
  readonly entries: readonly Entry[];
}

export interface Envelope {
  readonly to: MemberId;
  readonly message: Message;
}

/** Read entries `from`..`to` (inclusive) from the log store, at most `maxBytes` but at least one, for `peer`. */
export interface Load {
  readonly peer: MemberId;
  readonly term: Term;
  readonly session: number;
  readonly from: Index;
  readonly to: Index;
  readonly maxBytes: number;
}

/** Read content of a snapshot from `offset` on, `bytes` at most, for `peer`. */
export interface ChunkLoad {
  readonly peer: MemberId;
  readonly term: Term;
  readonly session: number;
  readonly header: SnapshotHeader;
  readonly offset: number;
  readonly bytes: number;
}

/** A chunk to be stored where it continues what is here of its snapshot; anything else is not taken. */
export interface ReceivedChunk {
  readonly from: MemberId;
  readonly message: SnapshotChunk;
}

/** Of a snapshot that is sent. `sent`: the follower has it; `overtaken`: it needs it no longer. */
export interface SnapshotProgress {
  readonly kind: "begun" | "sent" | "overtaken" | "aborted";
  readonly peer: MemberId;
  readonly header: SnapshotHeader;
}

/**
 * Why a proposal or a read was not taken. Nothing of it happened. `handedOver`: a successor is about to be known.
 * `elsewhere`: a snapshot brings this node up to date, which takes longer than a read should wait.
 */
export type RefusalReason = "notLeader" | "handedOver" | "overloaded" | "mute" | "elsewhere";

/** Why a transfer did not begin: `nobodyElse` has a vote, or the target has none. */
export type TransferRefusal = "notLeader" | "nobodyElse" | "notVoter" | "overloaded";

/** Why a transfer ended without a successor. The node leads on, but for `leadershipLost`. */
export type TransferAbort = "timedOut" | "superseded" | "targetLost" | "targetRemoved" | "leadershipLost";

export type TransferOutcome =
  /** This node stepped down for a newer term after the target was told, or the target leads already. */
  | { readonly kind: "handedOver"; readonly id: number }
  | { readonly kind: "refused"; readonly id: number; readonly reason: TransferRefusal }
  | { readonly kind: "aborted"; readonly id: number; readonly reason: TransferAbort };

export type ProposalOutcome =
  | { readonly kind: "appended"; readonly id: number; readonly index: Index; readonly term: Term }
  | { readonly kind: "refused"; readonly id: number; readonly reason: RefusalReason };

export type ReadOutcome =
  /** `asLeader`: confirmed by a quorum of this node's own followers, in `term`. */
  | {
      readonly kind: "confirmed";
      readonly id: number;
      readonly index: Index;
      readonly term: Term;
      readonly asLeader: boolean;
    }
  | { readonly kind: "refused"; readonly id: number; readonly reason: RefusalReason };

/** Why a change of membership was not begun. Nothing of it happened. */
export type MembershipRefusal =
  | "notLeader"
  /** This leader has not committed an entry of its own term yet. */
  | "notReady"
  /** An earlier change is not over. */
  | "changing"
  /** The configuration in force is another than the one that the change was made for. */
  | "superseded"
  /** Of the voters that would be left, the leader hears no quorum: nothing could be committed any more. */
  | "quorumSilent"
  | MemberChangeRefusal;

/**
 * `appended`: in force on this leader. It is over when this entry is committed and, where the change goes by way of a
 * joint configuration, when the leader has led out of that; what commits at `index` in another term is another's.
 */
export type MembershipOutcome =
  | { readonly kind: "appended"; readonly id: number; readonly index: Index; readonly term: Term }
  | { readonly kind: "refused"; readonly id: number; readonly reason: MembershipRefusal };

export interface MembershipView {
  /** The newest configuration in the log, committed or not. */
  readonly inForce: ConfigurationAt;
  /** With whom links are to be kept: who belongs to it, who may belong to it again, who is yet to be told. */
  readonly linked: readonly Member[];
}

export interface RoleChange {
  readonly role: Role;
  readonly term: Term;
  readonly leader: MemberId | undefined;
}

export interface Effects {
  /** Start this write now. Undefined while an earlier one is outstanding. */
  readonly persist: Persist | undefined;
  /** In order for each receiver. */
  readonly send: readonly Envelope[];
  readonly loads: readonly Load[];
  readonly chunkLoads: readonly ChunkLoad[];
  /** Received, to be stored in order. */
  readonly chunks: readonly ReceivedChunk[];
  /**
   * Put this snapshot, which is here whole, in the place of the log and of the machine's state, while nothing is
   * applied. It counts as a write: none other is outstanding meanwhile.
   */
  readonly install: SnapshotHeader | undefined;
  /** Entries up to here are needed no more, and count as gone already. */
  readonly compactTo: Index | undefined;
  /** Snapshots that are sent. Each one that began ends, and is to be kept until then. */
  readonly snapshots: readonly SnapshotProgress[];
  /** The newest snapshot cannot be used any more: take another one. */
  readonly snapshotWanted: boolean;
  /** Everything up to here may be applied. Never falls within a start. */
  readonly commitIndex: Index;
  readonly proposals: readonly ProposalOutcome[];
  readonly reads: readonly ReadOutcome[];
  readonly memberships: readonly MembershipOutcome[];
  /** Set when it changed since the last effects. */
  readonly membership: MembershipView | undefined;
  readonly transfers: readonly TransferOutcome[];
  /** Set when role, term or known leader changed since the last effects. */
  readonly roleChange: RoleChange | undefined;
  /** When the next `tick` is due. */
  readonly nextDeadlineMs: number;
}
