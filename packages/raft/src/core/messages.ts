/**
 * What members say to each other: one union member a message, no optional fields.
 *
 * Every message carries the sender's term (a pre-vote request: the term that it proposes). A response names the
 * request that it answers by `session` and `token`, so that a late one can be told from a current one.
 */
import type { Entry, Index, SnapshotHeader, Term } from "./types.ts";

/** Would you vote for me in `term`? Changes neither term nor vote (Dissertation §9.6). */
export interface PreVoteRequest {
  readonly kind: "preVoteRequest";
  /** The term that the sender would campaign in: its own + 1. */
  readonly term: Term;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
}

export interface PreVoteResponse {
  readonly kind: "preVoteResponse";
  /** Granted: the proposed term, repeated. Refused: the voter's own term, which the sender adopts if higher. */
  readonly term: Term;
  readonly granted: boolean;
}

export interface VoteRequest {
  readonly kind: "voteRequest";
  readonly term: Term;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  /** The leader itself told the sender to campaign: hearing that leader is no reason to refuse. */
  readonly transfer: boolean;
}

export interface VoteResponse {
  readonly kind: "voteResponse";
  readonly term: Term;
  readonly granted: boolean;
}

export interface AppendRequest {
  readonly kind: "appendRequest";
  readonly term: Term;
  /** The replication session: rises whenever the leader starts anew with this peer (raft-rs#571). */
  readonly session: number;
  readonly prevIndex: Index;
  readonly prevTerm: Term;
  readonly commitIndex: Index;
  readonly entries: readonly Entry[];
}

export interface AppendResponse {
  readonly kind: "appendResponse";
  readonly term: Term;
  readonly session: number;
  readonly result: AppendResult;
}

export type AppendResult =
  /** The follower's log equals the leader's up to `matchIndex`, **durably**, as far as this session verified it. */
  | { readonly kind: "matched"; readonly matchIndex: Index }
  /**
   * The entry at `rejectedIndex` (the request's `prevIndex`) is missing or of another term. The follower's log may
   * match at `hintIndex`, where it has `hintTerm`.
   */
  | {
      readonly kind: "rejected";
      readonly rejectedIndex: Index;
      readonly hintIndex: Index;
      readonly hintTerm: Term;
    };

export interface Heartbeat {
  readonly kind: "heartbeat";
  readonly term: Term;
  readonly session: number;
  /** At most the receiver's known match index. */
  readonly commitIndex: Index;
  /** The newest read token of the leader's term: made by the leader, rising, never reused. */
  readonly token: number;
}

export interface HeartbeatResponse {
  readonly kind: "heartbeatResponse";
  readonly term: Term;
  readonly session: number;
  readonly token: number;
}

/** The leader hands its office over: campaign at once, if you hold this last entry of mine. */
export interface TimeoutNow {
  readonly kind: "timeoutNow";
  readonly term: Term;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
}

/**
 * A piece of a snapshot, for a follower whose next entry is compacted away. Whole in itself, so that a transfer goes on
 * over restarts of the follower. Empty: it only asks how much of the snapshot the follower has.
 */
export interface SnapshotChunk {
  readonly kind: "snapshotChunk";
  readonly term: Term;
  readonly session: number;
  readonly header: SnapshotHeader;
  /** Where `data` belongs in the content. */
  readonly offset: number;
  readonly data: Uint8Array;
}

/**
 * How much of the snapshot the follower has, which promises nothing. That it is installed is said by an
 * `appendResponse` that matches its boundary.
 */
export interface SnapshotResponse {
  readonly kind: "snapshotResponse";
  readonly term: Term;
  readonly session: number;
  /** Of the snapshot's boundary. */
  readonly index: Index;
  /** `offset` of the chunk that this answers. */
  readonly answers: number;
  /** Where the next chunk belongs. */
  readonly offset: number;
}

/** A follower asks the leader for a read index. `requestId` is unique for (sender, boot, counter). */
export interface ReadIndexRequest {
  readonly kind: "readIndexRequest";
  readonly term: Term;
  readonly requestId: ReadRequestId;
}

export interface ReadIndexResponse {
  readonly kind: "readIndexResponse";
  readonly term: Term;
  readonly requestId: ReadRequestId;
  /** The read index, or -1: the receiver of the request could not confirm that it leads. */
  readonly readIndex: number;
}

export interface ReadRequestId {
  readonly boot: number;
  readonly counter: number;
}

export type Message =
  | PreVoteRequest
  | PreVoteResponse
  | VoteRequest
  | VoteResponse
  | AppendRequest
  | AppendResponse
  | Heartbeat
  | HeartbeatResponse
  | TimeoutNow
  | SnapshotChunk
  | SnapshotResponse
  | ReadIndexRequest
  | ReadIndexResponse;

export type MessageKind = Message["kind"];
