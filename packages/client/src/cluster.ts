/**
 * The cluster as its users see it. `connect()` gives it from outside, `join()` from within a node's own process, and
 * a simulation in virtual time: the same object.
 */
import type { Clock } from "@quorate/raft";
import type { Lease, LeaseStore } from "./leaseApi.ts";
import type { Format, MembershipChange, StoreLimits } from "./protocol/index.ts";
import type { Election } from "./recipes/election.ts";
import type { ElectionOptions } from "./recipes/electionOptions.ts";
import type { Lock } from "./recipes/lock.ts";
import type { OnceOptions, OnceResult } from "./recipes/once.ts";
import type { ClusterMetrics } from "./seen/clusterMetrics.ts";
import type { ClusterHealth } from "./seen/health.ts";
import type { Txn } from "./transaction.ts";
import type { Watch, WatchEvent, WatchOptions } from "./watching.ts";

/** UTF-8 text or raw bytes, 1 to 4,096 bytes. Text with a lone surrogate is refused. */
export type Key = string | Uint8Array;

/** A set of keys. `to` is exclusive. */
export type KeySet = string | { readonly prefix: Key } | { readonly from: Key; readonly to: Key };

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Stored as they are meant: `Uint8Array` as bytes, a string as text, everything else as JSON. At most 1 MiB. */
export type Value = Uint8Array | Json;

export interface RequestOptions {
  /** Ends the waiting with `ABORTED`. A write that was sent then has an unknown outcome. */
  readonly signal?: AbortSignal;
  /** How long to try, retries included. Default: the cluster's `requestTimeoutMs`. */
  readonly timeoutMs?: number;
}

export interface ReadOptions extends RequestOptions {
  /** `linearizable` (default): sees every write acknowledged before the call. `local`: what the asked node has. */
  readonly consistency?: "linearizable" | "local";
  /**
   * The store as it was at this revision, which must be kept: `COMPACTED` (`CompactedError`) below, `FUTURE_REVISION`
   * above. Every node gives the same answer.
   */
  readonly revision?: number;
}

export interface WriteOptions extends RequestOptions {
  /** Write only if the key's `modRevision` is this one; otherwise `ConflictError`. */
  readonly ifRevision?: number;
  /** Write only if the key does not exist; otherwise `ConflictError`. */
  readonly ifAbsent?: boolean;
  /** Write only as long as this lease is held in its term, which the cluster decides; otherwise `StaleTermError`. */
  readonly fence?: { readonly name: string; readonly term: number };
}

export interface PutOptions extends WriteOptions {
  /** The key is deleted when the session of this cluster object ends. Default false. */
  readonly attached?: boolean;
}

export interface ListOptions extends ReadOptions {
  /** Pairs on a page, 1 to 10,000. Default 1,000. */
  readonly limit?: number;
  /** The `cursor` of the page before. */
  readonly cursor?: string;
  readonly order?: "ascending" | "descending";
  readonly keysOnly?: boolean;
  /** With the first page: also how many pairs there are on all. */
  readonly count?: boolean;
}

export interface KeyValue {
  /** The key as text; keys that are not UTF-8 have U+FFFD in it, and are whole in `keyBytes`. */
  readonly key: string;
  readonly keyBytes: Uint8Array;
  /** By `format`: a `Uint8Array`, a string, or the parsed JSON. Undefined where only keys were asked for. */
  readonly value: unknown;
  readonly bytes: Uint8Array;
  readonly format: Format;
  /** The store's revision when the key was created, when it was last written, and how often it was since. */
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  /** The session whose end deletes it; null where it stays. */
  readonly session: number | null;
}

export interface Page {
  readonly entries: readonly KeyValue[];
  /** Pass it on to get the next page; undefined on the last one. */
  readonly cursor: string | undefined;
  /** The store's revision at which this page was read; pass it on as well for pages that fit together. */
  readonly revision: number;
  /** Where it was asked for: of all pages. */
  readonly count?: number;
}

export interface KeyValueStore {
  /** Undefined where the key does not exist. */
  get(key: Key, options?: ReadOptions): Promise<KeyValue | undefined>;
  put(key: Key, value: Value, options?: PutOptions): Promise<{ readonly revision: number }>;
  delete(key: Key, options?: WriteOptions): Promise<{ readonly revision: number; readonly deleted: boolean }>;
  /** One page, in byte order of the keys. */
  list(keys: KeySet, options?: ListOptions): Promise<Page>;
  /** How many pairs there are. */
  count(keys: KeySet, options?: ReadOptions): Promise<{ readonly count: number; readonly revision: number }>;
  /** In one revision, at most 10,000 keys and 16 MiB: otherwise `TOO_LARGE`, and nothing is deleted. */
  deleteRange(
    keys: KeySet,
    options?: RequestOptions,
  ): Promise<{ readonly revision: number; readonly deleted: number }>;
  /** See `Txn`. */
  txn(): Txn;
  /** Changes as they happen, see `Watch`. */
  watch(keys: KeySet, options: WatchOptions & { readonly progress: true }): Watch<WatchEvent>;
  watch(keys: KeySet, options?: WatchOptions): Watch;
  /** Changes the limits that are named, for the whole cluster, and tells those in force. */
  limit(limits: Partial<StoreLimits>, options?: RequestOptions): Promise<StoreLimits>;
}

export interface NodeReport {
  readonly id: string;
  /** Null where the node could not be reached. */
  readonly pid: number | null;
  /** Null where the node could not be reached, or belongs to none yet. */
  readonly clusterId: string | null;
  readonly role: "leader" | "follower" | "candidate" | "mute" | "unborn" | "unreachable";
  readonly term: number | null;
  readonly commitIndex: number | null;
  readonly appliedIndex: number | null;
  readonly endpoint: string;
  /** Sentences about what keeps the node from taking part. */
  readonly complaints: readonly string[];
}

export interface ClusterStatus {
  readonly clusterId: string | null;
  /** Node id, as most of the newest term say. */
  readonly leader: string | null;
  readonly term: number;
  readonly revision: number;
  readonly nodes: readonly NodeReport[];
}

export interface TransferOptions extends RequestOptions {
  /** The id of the node that is to lead. Default: the voter that is best caught up. */
  readonly target?: string;
}

/** Who leads now, in which term. */
export interface Succession {
  readonly leader: string;
  readonly term: number;
}

export interface ClusterMember {
  /** The node's id. */
  readonly id: string;
  /** The id and the incarnation of its directory: another one after the directory was wiped. */
  readonly member: string;
  readonly endpoint: string;
  /** A learner is sent everything and does not vote. */
  readonly role: "voter" | "learner";
  /** It voted before the change under way, and leaves with it. */
  readonly leaving: boolean;
  /** A learner that becomes a voter as soon as it has caught up. */
  readonly promotes: boolean;
  /** The `member` that leaves when this learner becomes a voter. */
  readonly replaces: string | null;
}

export interface MemberList {
  readonly clusterId: string;
  /** Of the log's entry that set this membership; 0: the cluster was founded with it. */
  readonly index: number;
  readonly members: readonly ClusterMember[];
}

export interface MemberChangeOptions extends RequestOptions {
  /** Only if the membership is still the one of this `MemberList.index`; otherwise `CHANGE_REFUSED`. */
  readonly ifIndex?: number;
}

/** `member` is a node's id; where two members have one id, the id with its incarnation. */
export type MemberAction = MembershipChange;

/**
 * Who belongs to the cluster. A node joins by itself, started with `via` (`--join`); here is what is done to members.
 *
 * Each change resolves when it is committed, and rejects `CHANGE_REFUSED` with the reason where nothing was begun. One
 * whose answer is lost rejects with the outcome `unknown`: list the members to see.
 */
export interface ClusterMembers {
  /** Linearizable. */
  list(options?: RequestOptions): Promise<MemberList>;
  /** A learner becomes a voter, as soon as it has caught up. */
  promote(member: string, options?: MemberChangeOptions): Promise<MemberList>;
  /** A voter becomes a learner. */
  demote(member: string, options?: MemberChangeOptions): Promise<MemberList>;
  /** Of the last voter it is refused. A removed node stops; its data stays. */
  remove(member: string, options?: MemberChangeOptions): Promise<MemberList>;
  /** The others look for it at another address. */
  move(member: string, endpoint: string, options?: MemberChangeOptions): Promise<MemberList>;
  /** All of them in one step. */
  change(actions: readonly MemberAction[], options?: MemberChangeOptions): Promise<MemberList>;
}

export interface SessionInfo {
  /** Its id, which is never used again. */
  readonly session: number;
  /** Infinity: no silence ends it. */
  readonly ttlMs: number;
  /** For how long it was silent, as far as leaders have logged it; 0 where that is not long. */
  readonly silentMs: number;
  /** Acquires by which it holds leases, and by which it waits for some. */
  readonly held: number;
  readonly waiting: number;
  /** Keys that are attached to it. */
  readonly keys: number;
  /** The `holder` of one of its acquires; empty where none has one. */
  readonly holder: string;
}

export interface SessionListOptions extends RequestOptions {
  /** Only those that were opened after this one: for the next page, the last of the page before. */
  readonly after?: number;
  /** At most 10,000; default 1,000. */
  readonly limit?: number;
}

/** The sessions of all clients, for administrators. */
export interface ClusterSessions {
  /** Linearizable, in the order in which they were opened. */
  list(options?: SessionListOptions): Promise<readonly SessionInfo[]>;
  /**
   * Ends one: its attached keys go. False where it had ended before. Rejects `REFUSED` where it holds leases or waits
   * for some, since its process would go on believing in them: break those first.
   */
  close(session: number, options?: RequestOptions): Promise<boolean>;
}

/** The whole store as of one moment. */
export interface StoreSnapshot {
  /** The last entry of the log that is in it. */
  readonly index: number;
  /** The term that the node was in. */
  readonly term: number;
  readonly revision: number;
  readonly members: MemberList;
  /**
   * In order, in pieces of at most a megabyte; once. Rejects `INVALID_ARGUMENT` where the node was restarted meanwhile
   * or was asked for nothing for a minute: then take another snapshot.
   */
  content(): AsyncIterable<Uint8Array>;
}

export interface Cluster extends AsyncDisposable {
  readonly kv: KeyValueStore;
  readonly lease: LeaseStore;
  /** Candidates for a role, of which one leads at a time. Throws `INVALID_OPTIONS`. */
  election(name: string, options?: ElectionOptions): Election;
  lock(name: string): Lock;
  /** As redlock has it: all of the names or none; renewed as long as `work` runs, under a time to live of `ms`. */
  using<Result>(
    names: string | readonly string[],
    ms: number,
    work: (signal: AbortSignal, lease: Lease) => Result | Promise<Result>,
    options?: RequestOptions,
  ): Promise<Result>;
  /**
   * Runs `work` unless there is a record that it was done, and keeps that: once per key, as far as that can be. A
   * process that dies between the work and the record leaves none.
   */
  once<Result extends Json>(
    key: string,
    work: (lease: Lease) => Result | Promise<Result>,
    options?: OnceOptions,
  ): Promise<OnceResult<Result>>;
  readonly members: ClusterMembers;
  readonly sessions: ClusterSessions;
  readonly clock: Clock;
  /** Asks every node that it knows of. Resolves also when some, or all, do not answer. */
  status(options?: RequestOptions): Promise<ClusterStatus>;
  /** What this object has counted, and where it stands. Asks nobody. */
  metrics(): ClusterMetrics;
  /**
   * Whether this process can count on the cluster now: asks every node, and a quorum, within a second unless you say.
   * Rejects `ABORTED` and `CLOSED` alone; what is wrong stands in what it gives.
   */
  health(options?: RequestOptions): Promise<ClusterHealth>;
  /**
   * Has the leader hand its office to another voter; writes wait for some milliseconds. Resolves when that one leads.
   *
   * Rejects `INVALID_ARGUMENT` (the target is no voter), `TRANSFER_FAILED` (it did not take over within an election
   * timeout, or nobody else has a vote) or as every request does.
   */
  transferLeadership(options?: TransferOptions): Promise<Succession>;
  /**
   * A backup of everything, as of a moment after the call, for `quorate snapshot restore`. The node that it is taken
   * from goes on meanwhile. The options are for each request that it takes.
   */
  snapshot(options?: RequestOptions): Promise<StoreSnapshot>;
  /** Ends the session and every connection. Requests under way reject with `CLOSED`. Idempotent; never rejects. */
  close(): Promise<void>;
}
