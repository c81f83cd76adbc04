/**
 * One node of the explored cluster as a value: the core's state, its disk, its write under way, and what must never
 * be forgotten of it (votes, terms led, entries committed).
 *
 * A value is never changed: a transition works on a copy. Equal values get equal keys, so time and chance are
 * brought to one form: every node stands at the same moment, a timer's length is fixed, a leader was always heard an
 * election timeout ago (the hardest case for safety).
 */
import type * as raft from "@quorate/raft";
import type { CoreOptions, Entry, Floor, MemberId, Persist, RaftState, Term } from "@quorate/raft";

export type Core = Pick<typeof raft, "createState" | "step" | "takeEffects" | "cachedEntries">;

export interface StoredState {
  readonly term: Term;
  readonly vote: MemberId | undefined;
  readonly floor: Floor | undefined;
  readonly entries: readonly Entry[];
}

export interface CommittedEntry {
  /** Term, kind and content. */
  readonly text: string;
  /** The lowest term in which this node called it committed. */
  readonly commitTerm: number;
}

/** What a node did in all its lives. */
export interface Memory {
  readonly votes: Readonly<Record<number, MemberId>>;
  readonly ledTerms: readonly number[];
  readonly committed: readonly CommittedEntry[];
}

export interface LocalState {
  readonly core: RaftState;
  readonly stored: StoredState;
  readonly writing: Persist | undefined;
  readonly memory: Memory;
}

export const startMs = 1000;
export const electionMs = 100;
export const heartbeatMs = 50;

export const coreOptions: Omit<CoreOptions, "self"> = {
  heartbeatMs,
  electionTimeoutMinMs: electionMs,
  electionTimeoutMaxMs: electionMs,
  maxInflightAppends: 4,
  maxInflightBytes: 1 << 20,
  maxAppendBytes: 1 << 20,
  maxUncommittedEntries: 100,
  maxUncommittedBytes: 1 << 20,
  maxPendingReads: 10,
  maxCachedBytes: 1 << 20,
  snapshotChunkBytes: 1_024,
  maxSnapshotBytesPerSecond: 1_048_576,
  compactionTailEntries: 0,
  compactionTailBytes: 0,
  diskStallMs: 2_000,
  seed: 1,
};

/** Their objects are replaced, never written to: a copy may share them. */
const sharedKeys = new Set(["options", "configurations", "durable", "hardState", "floor", "toldRole"]);
/** Lists of objects that are never written to. */
const listKeys = new Set(["tail", "runs", "inflight", "sendAfterPersist", "readsWaiting"]);

export function copyCore(core: RaftState): RaftState {
  return copyObject(core as unknown as Record<string, unknown>) as unknown as RaftState;
}

function copyObject(source: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const key in source) copy[key] = copyField(key, source[key]);
  return copy;
}

function copyField(key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || sharedKeys.has(key)) return value;
  if (Array.isArray(value)) {
    return listKeys.has(key) ? value.slice() : value.map((item) => copyField("", item));
  }
  if (value instanceof Map) return new Map([...value].map(([name, item]) => [name, copyField("", item)]));
  return value instanceof Uint8Array ? value : copyObject(value as Record<string, unknown>);
}

/** Brings time and chance to the form in which equal states are equal. */
export function normalise(core: RaftState): void {
  const shiftMs = core.nowMs - startMs;
  core.nowMs = startMs;
  core.random = { a: 1, b: 2, c: 3, counter: 4 };
  core.election.deadlineMs = startMs + electionMs;
  core.election.leaderHeardMs = startMs - electionMs;
  const { leading } = core;
  if (leading === undefined) return;
  leading.heartbeatDueMs = startMs + heartbeatMs;
  leading.quorumCheckMs = startMs + electionMs;
  for (const peer of leading.peers.values()) {
    peer.heardMs = startMs;
    if (peer.answeredMs > Number.NEGATIVE_INFINITY) peer.answeredMs = startMs;
    peer.loadSentMs = startMs;
    peer.inflight = peer.inflight.map((append) => ({
      ...append,
      sentMs: Math.max(startMs - heartbeatMs, append.sentMs - shiftMs),
    }));
  }
}

export function entryText(entry: Entry): string {
  return `${entry.term}${entry.kind[0]}${String.fromCharCode(...entry.data)}`;
}

function keyOfValue(name: string, value: unknown): unknown {
  if (name === "options" || name === "random" || name === "configurations" || name === "toldRole") {
    return undefined;
  }
  if (value instanceof Map) return [...value];
  if (value instanceof Uint8Array) return String.fromCharCode(...value);
  return value;
}

/** A text that two states share exactly when nothing can tell them apart. */
export function keyOf({ core, stored, writing, memory }: LocalState): string {
  const { tail, head, ...log } = core.log;
  const cached = (tail.slice(head) as Entry[]).map(entryText);
  const kept = stored.entries.map(entryText);
  const { self } = core.options;
  const value = {
    self,
    core: { ...core, log },
    cached,
    stored: { ...stored, entries: kept },
    writing,
    memory,
  };
  return JSON.stringify(value, keyOfValue);
}
