/**
 * The nouns of Raft, as plain data. Words are the paper's: term, index, entry, voter, configuration.
 *
 * Numbers are branded, so that a term is never passed where an index is meant; a brand costs nothing at run time.
 */

declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** A Raft term: an integer ≥ 0 that only rises. 0 is the term before the first election. */
export type Term = Branded<number, "Term">;

/** A position in the log: an integer ≥ 0. The first entry has index 1; 0 is the boundary before it. */
export type Index = Branded<number, "Index">;

/** The name an operator gives to a node: `[A-Za-z0-9][A-Za-z0-9_-]{0,62}`. */
export type NodeId = Branded<string, "NodeId">;

/**
 * A node's name and its incarnation, `a.9f86d081884c7d65`: the identity that Raft counts.
 *
 * A wiped directory comes back with another incarnation, so it is simply another member, and one that no
 * configuration names. Votes, acks and tokens are therefore counted from the exact incarnations of a configuration
 * without a further check.
 */
export type MemberId = Branded<string, "MemberId">;

/** What an entry carries. `noop` opens a leader's term; `configuration` holds an encoded `Configuration`. */
export type EntryKind = "noop" | "command" | "configuration";

/** One entry of the log. `data` is opaque to the core and is never written to after the entry was made. */
export interface Entry {
  readonly term: Term;
  readonly index: Index;
  readonly kind: EntryKind;
  readonly data: Uint8Array;
}

/** A member: its identity and the `ws://host:port` address that it is reached at. */
export interface Member {
  readonly id: MemberId;
  readonly address: string;
}

/** A member that is sent the log and does not vote. */
export interface Learner extends Member {
  /** It becomes a voter as soon as it has caught up: the intent outlives the leader that was asked for it. */
  readonly promotes: boolean;
  /** The voter that leaves in the change that promotes this one. */
  readonly replaces: MemberId | undefined;
}

/**
 * Who belongs to the cluster, and who votes. Quorums are always taken over a `Configuration` (quorum.ts), never over
 * a count.
 */
export interface Configuration {
  readonly voters: readonly Member[];
  /**
   * The voters before the change, while it is joint: then every decision needs a majority of both lists
   * (Dissertation §4.3). Empty otherwise. One that will be a learner is in `learners` already.
   */
  readonly outgoing: readonly Member[];
  readonly learners: readonly Learner[];
}

/** A configuration and the index of the entry that set it; index 0 is the configuration of birth. */
export interface ConfigurationAt {
  readonly index: Index;
  readonly configuration: Configuration;
}

/** The entries from `firstIndex` up to the next run's `firstIndex` have this term. */
export interface TermRun {
  readonly firstIndex: Index;
  readonly term: Term;
}

/** The last entry before the log's first one: index and term 0 at birth, a snapshot's last entry later. */
export interface Boundary {
  readonly index: Index;
  readonly term: Term;
}

/**
 * What a snapshot stands for, and what its content is: the state of the machine after the entry at `boundary`. The same
 * on every member that holds the same snapshot.
 */
export interface SnapshotHeader {
  readonly boundary: Boundary;
  /** The log's chain value at the boundary: equal on all members. */
  readonly chain: number;
  /** In force at the boundary. */
  readonly configuration: ConfigurationAt;
  /** Of the content. */
  readonly bytes: number;
  /** CRC-32 of the content. */
  readonly checksum: number;
}

/**
 * What a member had when it was found that its log lost acknowledged entries. While it is set the member is mute: it
 * neither votes nor campaigns, until its durable log reaches `lastIndex` or ends in a term above `lastTerm`.
 */
export interface Floor {
  readonly lastIndex: Index;
  readonly lastTerm: Term;
}

/** True once a log that ends at (`lastIndex`, `lastTerm`) has regained what the floor names. */
export function reachesFloor(floor: Floor, lastIndex: Index, lastTerm: Term): boolean {
  return lastIndex >= floor.lastIndex || lastTerm > floor.lastTerm;
}

export function asTerm(value: number): Term {
  return value as Term;
}

export function asIndex(value: number): Index {
  return value as Index;
}

const nodeIdPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const incarnationPattern = /^[0-9a-f]{16}$/;

export function isNodeId(value: string): value is NodeId {
  return nodeIdPattern.test(value);
}

export function isIncarnation(value: string): boolean {
  return incarnationPattern.test(value);
}

/** Joins a node's name and its incarnation (16 hexadecimal digits). */
export function memberId(node: NodeId, incarnation: string): MemberId {
  return `${node}.${incarnation}` as MemberId;
}

export function isMemberId(value: string): value is MemberId {
  const dot = value.indexOf(".");
  return dot > 0 && isNodeId(value.slice(0, dot)) && isIncarnation(value.slice(dot + 1));
}

/** The operator's name of a member: `a` of `a.9f86d081884c7d65`. */
export function nodeIdOf(member: MemberId): NodeId {
  return member.slice(0, member.indexOf(".")) as NodeId;
}

export function incarnationOf(member: MemberId): string {
  return member.slice(member.indexOf(".") + 1);
}
