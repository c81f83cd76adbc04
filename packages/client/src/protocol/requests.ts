/**
 * What a client asks and what a server answers. Sent as positional arrays (requestCodec.ts), many in one frame.
 */
import type { ByteString, CommandResult, Format } from "./commands.ts";

export type Consistency = "linearizable" | "local";

/** A set of keys: `from` ≤ key < `to`; an empty `to` means no upper bound. A prefix is such a range. */
export interface KeyRange {
  readonly from: ByteString;
  readonly to: ByteString;
}

export type RequestBody =
  /** `proposal` is an encoded `Proposal`. Only the leader takes it. */
  | { readonly kind: "execute"; readonly proposal: Uint8Array }
  | { readonly kind: "get"; readonly key: ByteString; readonly consistency: Consistency }
  | {
      readonly kind: "list";
      readonly range: KeyRange;
      /** 1 to 10,000 pairs; a page also ends when its bytes reach the frame's bound. */
      readonly limit: number;
      readonly reverse: boolean;
      readonly keysOnly: boolean;
      readonly consistency: Consistency;
    }
  /** Only the leader answers: a linearizable read of "is this session alive?". */
  | { readonly kind: "keepAlive"; readonly session: number }
  | { readonly kind: "status" }
  /** Only the leader answers, once another node leads. `target` is a node id; empty: the best voter. */
  | { readonly kind: "transfer"; readonly target: string };

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
}

export interface ReportedMember {
  readonly id: string;
  readonly endpoint: string;
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

export type ResponseBody =
  | { readonly kind: "executed"; readonly result: CommandResult }
  /** `revision` is the store's at which the read was made. */
  | { readonly kind: "got"; readonly pair: StoredPair | undefined; readonly revision: number }
  | {
      readonly kind: "listed";
      readonly pairs: readonly StoredPair[];
      /** There is more after the last pair. */
      readonly more: boolean;
      readonly revision: number;
    }
  | { readonly kind: "keptAlive"; readonly alive: boolean }
  | { readonly kind: "status"; readonly status: ReportedStatus }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "transferred"; readonly leader: string; readonly term: number };

export interface Response {
  readonly id: number;
  readonly body: ResponseBody;
}
