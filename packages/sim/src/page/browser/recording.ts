/**
 * A run as plain data: what happened to whom, by virtual time. Written by recording/, read by the page in a browser.
 *
 * Tables are columns of numbers of equal length, so that 20,000 events are a few hundred kilobytes of JSON. Names stand
 * in a table of strings. Must hold nothing but data: it is what a page is made of, and travels as JSON.
 */
export const roles = ["follower", "preCandidate", "candidate", "leader"] as const;

export const messageKinds = [
  "heartbeat",
  "heartbeatResponse",
  "appendRequest",
  "appendResponse",
  "preVoteRequest",
  "preVoteResponse",
  "voteRequest",
  "voteResponse",
  "readIndexRequest",
  "readIndexResponse",
] as const;

/** Of a node, but for `cut` and `clogged`, which are of a path. */
export const intervalKinds = [
  "down",
  "paused",
  "cut",
  "clogged",
  "noClients",
  "starved",
  "fullDisk",
] as const;
export const operationKinds = ["write", "read"] as const;

/** `open`: the run ended, or the client vanished, before it was told. */
export const outcomes = ["ok", "failed", "unknown", "open"] as const;

export type IntervalKind = (typeof intervalKinds)[number];
export type OperationKind = (typeof operationKinds)[number];
export type Outcome = (typeof outcomes)[number];

/** Columns by name; the values of one row are at the same place in each. */
export type Table<Column extends string> = Readonly<Record<Column, readonly number[]>>;

export const stateColumns = [
  "atMs",
  "node",
  "role",
  "term",
  "vote",
  "commit",
  "applied",
  "last",
  "durable",
] as const;
export const messageColumns = ["sentMs", "arrivedMs", "from", "to", "kind", "term", "detail"] as const;
export const intervalColumns = ["startMs", "endMs", "kind", "node", "other"] as const;
export const operationColumns = ["startMs", "endMs", "client", "kind", "outcome", "detail"] as const;

export type StateColumn = (typeof stateColumns)[number];
export type MessageColumn = (typeof messageColumns)[number];
export type IntervalColumn = (typeof intervalColumns)[number];
export type OperationColumn = (typeof operationColumns)[number];

export interface RecordedViolation {
  readonly atMs: number;
  readonly invariant: string;
  readonly sentence: string;
}

export interface RecordedFault {
  readonly atMs: number;
  readonly sentence: string;
}

export interface RunRecording {
  readonly version: 1;
  readonly seed: number;
  readonly endMs: number;
  /** The columns `node`, `from`, `to`, `vote` and `other` point into this; -1 is nobody. */
  readonly nodes: readonly string[];
  /** The columns `client` and `detail` point into this. */
  readonly strings: readonly string[];
  /** One row a change of a node, ordered by time. A node that is down has no state until its next row. */
  readonly states: Table<StateColumn>;
  /** Ordered by `sentMs`; `arrivedMs` is -1 for what never did. A repeated one has a row for each arrival. */
  readonly messages: Table<MessageColumn>;
  /** Ordered by `startMs`. A cut path leads from `node` to `other`. */
  readonly intervals: Table<IntervalColumn>;
  /** Ordered by `startMs`. */
  readonly operations: Table<OperationColumn>;
  readonly faults: readonly RecordedFault[];
  readonly violations: readonly RecordedViolation[];
  /** Set when the run was longer than the limit: what was before this time is left out. */
  readonly cutBeforeMs?: number;
}

/** Rows of all tables together: what a recording counts as its events. */
export function eventCount(recording: RunRecording): number {
  const { states, messages, intervals, operations } = recording;
  return (
    states.atMs.length +
    messages.sentMs.length +
    intervals.startMs.length +
    operations.startMs.length +
    recording.faults.length +
    recording.violations.length
  );
}
