/**
 * What a client asks and what a server answers. Sent as positional arrays (requestCodec.ts), many in one frame.
 */
import type { ByteString, CommandResult, Format } from "./commands.ts";
import type { CandidateReport, LeaseReport, LeaseSet, PastGrant, SessionReport } from "./leases.ts";
import type { WatchedChange, WatchRequest } from "./watches.ts";

export type Consistency = "linearizable" | "local";

/** A set of keys: `from` ≤ key < `to`; an empty `to` means no upper bound. A prefix is such a range. */
export interface KeyRange {
  readonly from: ByteString;
  readonly to: ByteString;
}

export type RequestBody =
  /** `proposal` is an encoded `Proposal`. Only the leader takes it. */
  | { readonly kind: "execute"; readonly proposal: Uint8Array }
  | {
      readonly kind: "get";
      readonly key: ByteString;
      readonly consistency: Consistency;
      /** As the store was at this revision, from 1; undefined: as it is. */
      readonly revision?: number;
    }
  | {
      readonly kind: "list";
      readonly range: KeyRange;
      /** 1 to 10,000 pairs; a page also ends when its bytes reach the frame's bound. */
      readonly limit: number;
      readonly reverse: boolean;
      readonly keysOnly: boolean;
      readonly consistency: Consistency;
      /** As the store was at this revision, from 1; undefined: as it is. */
      readonly revision?: number;
      /** Also tell how many pairs the range has, on all its pages. */
      readonly count?: boolean;
    }
  /** Only the leader answers: a linearizable read of "is this session alive?". */
  | { readonly kind: "keepAlive"; readonly session: number }
  | { readonly kind: "status" }
  /** Only the leader answers, once another node leads. `target` is a node id; empty: the best voter. */
  | { readonly kind: "transfer"; readonly target: string }
  /** Linearizable, like all that asks for or changes the members: only the leader answers. */
  | { readonly kind: "listMembers" }
  | {
      readonly kind: "changeMembers";
      readonly changes: readonly MembershipChange[];
      /** The index of the configuration that they are meant for; -1: whichever is in force. */
      readonly ifIndex: number;
    }
  /**
   * Adds a node that waits to join, or lets it take the place of the member of its name. Answered as done where it is
   * a member already, so it may be asked again.
   */
  | {
      readonly kind: "joinCluster";
      /** The node's id and its directory's incarnation: `d.9f86d081884c7d65`. */
      readonly member: string;
      readonly endpoint: string;
      /** Votes when it has caught up; otherwise it stays a learner. */
      readonly votes: boolean;
    }
  | SnapshotRequest
  | LeaseRequest
  | WatchMessage;

/** Of watches, see watches.ts. The first is answered by a stream of responses under its id; the others are not. */
export type WatchMessage =
  | WatchRequest
  /** So many bytes of changes of that watch have been consumed, since it began. */
  | { readonly kind: "watchCredit"; readonly watch: number; readonly consumedBytes: number }
  /** What is under way may still come. */
  | { readonly kind: "unwatch"; readonly watch: number };

/** A backup of the whole store, from one node. */
export type SnapshotRequest =
  /** Linearizable; any node answers. */
  | { readonly kind: "takeSnapshot" }
  /** From 0, one after the other; the last one may be asked for again. */
  | { readonly kind: "snapshotPart"; readonly snapshot: string; readonly part: number };

/** About sessions and their leases. `version` and `changed` are what the asker has seen. */
export type LeaseRequest =
  /** A keep-alive that also tells the session's leases, where they are not as of `version`. Only the leader answers. */
  | { readonly kind: "renew"; readonly session: number; readonly version: number }
  /** As `renew` of each of them, 1 to 1,024, with the `version` at the same place: they share one confirmation. */
  | { readonly kind: "renewAll"; readonly sessions: readonly number[]; readonly versions: readonly number[] }
  /**
   * Answered when the session's leases are not as of `version`, or the session has ended: at the latest when the
   * request's time is over. Says what was so, not what is: only the leader answers, and asks nobody.
   */
  | { readonly kind: "awaitSession"; readonly session: number; readonly version: number }
  | { readonly kind: "getLease"; readonly name: ByteString; readonly consistency: Consistency }
  /** The lease as it is, and its past grants that are remembered. */
  | { readonly kind: "leaseHistory"; readonly name: ByteString; readonly consistency: Consistency }
  /** Answered when anything of the lease is not as of `changed`; otherwise as `awaitSession`. */
  | { readonly kind: "awaitLease"; readonly name: ByteString; readonly changed: number }
  | {
      readonly kind: "listLeases";
      readonly range: KeyRange;
      readonly limit: number;
      readonly consistency: Consistency;
    }
  /** Of one name: who holds it, then who waits, in the order in which they would be granted it. */
  | {
      readonly kind: "listCandidates";
      readonly name: ByteString;
      readonly limit: number;
      readonly consistency: Consistency;
    }
  /** In the order in which they were opened. `from`: the first id that is meant. */
  | {
      readonly kind: "listSessions";
      readonly from: number;
      readonly limit: number;
      readonly consistency: Consistency;
    };

/** `member` is a node id, or an id with its incarnation where one id names two members. */
export type MembershipChange =
  | { readonly kind: "promote" | "demote" | "remove"; readonly member: string }
  | { readonly kind: "move"; readonly member: string; readonly endpoint: string };

export interface Request {
  /** Chosen by the client, unique on its connection. */
  readonly id: number;
  /** The server gives up after this long, so that nothing waits for a client that has gone. */
  readonly timeoutMs: number;
  readonly body: RequestBody;
}

export interface StoredPair {
  readonly key: ByteString;
  /** Empty where only keys were asked for. */
  readonly value: Uint8Array;
  readonly format: Format;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  /** That it is attached to; left out where it is attached to none. */
  readonly session?: number;
}

export interface ReportedMember {
  readonly id: string;
  readonly endpoint: string;
}

export interface MemberReport {
  readonly id: string;
  /** With its incarnation. */
  readonly member: string;
  readonly endpoint: string;
  readonly role: "voter" | "learner";
  /** It voted before the change under way, and leaves with it. */
  readonly leaving: boolean;
  /** A learner that becomes a voter when it has caught up. */
  readonly promotes: boolean;
  /** The member, with its incarnation, that leaves then; empty where none. */
  readonly replaces: string;
}

/** Who belongs to the cluster, by the configuration of the entry `index`. */
export interface MembershipReport {
  readonly clusterId: string;
  readonly index: number;
  readonly members: readonly MemberReport[];
}

/** One node's own view. */
export interface ReportedStatus {
  readonly id: string;
  readonly pid: number;
  readonly standing: "unborn" | "lost" | "born" | "closed";
  /** Empty while unborn. */
  readonly clusterId: string;
  readonly role: "follower" | "preCandidate" | "candidate" | "leader";
  readonly term: number;
  /** The leader's node id; empty where none is known. */
  readonly leader: string;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly lastIndex: number;
  readonly revision: number;
  readonly mute: boolean;
  readonly members: readonly ReportedMember[];
  readonly complaints: readonly string[];
}

/** An error as data: the fields of a `QuorateError`, and where the leader is, if the server knows. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly outcome: "none" | "unknown";
  /** Empty where unknown. */
  readonly leaderEndpoint: string;
}

export type SnapshotResponse =
  | {
      readonly kind: "snapshotTaken";
      /** To ask for its parts with, of this node. */
      readonly snapshot: string;
      /** The last entry that is in it, and a term that no entry in it is above. */
      readonly index: number;
      readonly term: number;
      readonly revision: number;
      readonly membership: MembershipReport;
    }
  /** Empty after the last part. */
  | { readonly kind: "snapshotPart"; readonly bytes: Uint8Array };

export type ResponseBody =
  | SnapshotResponse
  | { readonly kind: "executed"; readonly result: CommandResult }
  /** `revision` is the store's at which the read was made. */
  | { readonly kind: "got"; readonly pair: StoredPair | undefined; readonly revision: number }
  | {
      readonly kind: "listed";
      readonly pairs: readonly StoredPair[];
      /** There is more after the last pair. */
      readonly more: boolean;
      readonly revision: number;
      /** Only where it was asked for. */
      readonly count?: number;
    }
  | { readonly kind: "keptAlive"; readonly alive: boolean }
  | { readonly kind: "status"; readonly status: ReportedStatus }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "transferred"; readonly leader: string; readonly term: number }
  /** Answers all that asks about the members or changes them. */
  | { readonly kind: "members"; readonly membership: MembershipReport }
  /** `set` is left out where the asker has it already. */
  | { readonly kind: "sessionState"; readonly alive: boolean; readonly set: LeaseSet | undefined }
  /** All are alive, with leases as of the version asked with, but for those in `apart`: ask about each by itself. */
  | { readonly kind: "renewedAll"; readonly apart: readonly number[] }
  | { readonly kind: "lease"; readonly lease: LeaseReport; readonly revision: number }
  /** The oldest first. */
  | {
      readonly kind: "leaseHistory";
      readonly lease: LeaseReport;
      readonly past: readonly PastGrant[];
      readonly revision: number;
    }
  | {
      readonly kind: "leases";
      readonly leases: readonly LeaseReport[];
      readonly more: boolean;
      readonly revision: number;
    }
  | {
      readonly kind: "candidates";
      readonly candidates: readonly CandidateReport[];
      readonly more: boolean;
      readonly revision: number;
    }
  | {
      readonly kind: "sessions";
      readonly sessions: readonly SessionReport[];
      readonly more: boolean;
      readonly revision: number;
    }
  /** The history before `floor`, the oldest revision that can be read, has been cut away. It ends a watch. */
  | { readonly kind: "compacted"; readonly floor: number }
  /** A watch ends because its client reads too slowly; `revision` is the first that it was not told. */
  | { readonly kind: "overflowed"; readonly revision: number }
  /** A watch began: it is told all that changes after `revision`. */
  | { readonly kind: "watching"; readonly revision: number }
  /** All changes of `revision` that the watch is told; with `more`, further ones of it follow. */
  | {
      readonly kind: "changed";
      readonly revision: number;
      readonly changes: readonly WatchedChange[];
      readonly more: boolean;
    }
  /** Under the id 0: every watch of this connection that has begun has been told all up to `revision`. */
  | { readonly kind: "watchProgress"; readonly revision: number };

export interface Response {
  readonly id: number;
  readonly body: ResponseBody;
}
