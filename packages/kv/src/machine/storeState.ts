/**
 * The whole replicated state, as plain data. It changes in `applyEntry` alone, and is the same on every node that has
 * applied the same entries: it holds no time, no chance, and nothing of the node that it is on.
 */
import {
  type ByteString,
  type CommandResult,
  defaultStoreLimits,
  type StoreLimits,
} from "@quorate/client/protocol";
import { createHistory, type History } from "./history.ts";
import type { Acquisition, LeaseState } from "./leaseState.ts";
import { createKeyMap, createNumberMap, type OrderedMap } from "./orderedMap.ts";
import { PairMap } from "./pairMap.ts";
import { createDigest, type PairsDigest } from "./pairsDigest.ts";

/**
 * What is added here is added to `viewOf` (viewState.ts), to `hashState`, and to the content of snapshots as a section
 * of its own (content/sections.ts).
 */
export interface StoreState {
  /** One more for each entry that changed a key or granted a lease. */
  revision: number;
  pairs: PairMap;
  /** Of all pairs, see `bytesOfPair`: what the quota is about. Worked out again from the pairs at a restore. */
  bytes: number;
  /** As `bytes`. */
  digest: PairsDigest;
  history: History;
  limits: StoreLimits;
  /** By session id, which is the order in which they were opened. Changed through `sessionToChange`. */
  sessions: OrderedMap<number, SessionState>;
  leases: OrderedMap<ByteString, LeaseState>;
  /** Names that nobody holds or waits for, by `idleKey`: those first that have been so for the longest. */
  idleLeases: OrderedMap<ByteString, ByteString>;
  /** How many `past` grants all leases remember together. Counted again at a restore. */
  pastGrants: number;
  /** Nothing is granted until the leader says that this is over: see grace.ts. 0: it is. */
  graceMs: number;
  /** Of the machine: commands of a later one are not run. See machineVersion.ts. */
  version: number;
  /** How many views were taken of it. Of this node alone: no result depends on it, and no digest has it. */
  generation: number;
}

export interface SessionState {
  /** The state's `generation` when it was made or last copied: a view that is younger shares it. */
  generation: number;
  readonly ttlMs: number;
  /** The client has the answers of all sequences below; they are forgotten here. Only rises. */
  ackedBelow: number;
  /** By sequence, from `ackedBelow` to before `ackedBelow + sessionWindow`. */
  readonly answers: Map<number, CommandResult>;
  /** Of all of them, see `answerBytes`. Worked out again at a restore. */
  answerBytes: number;
  /** Those of its renewals that were logged. */
  renewals: number;
  /** For how long it was silent, as leaders have logged since its last logged renewal. Milliseconds. */
  silentMs: number;
  /** The index of the entry that changed its acquisitions last; 0: it never had any. */
  version: number;
  /** What it holds and waits for, by sequence: also in `leases`. */
  readonly acquisitions: Map<number, Acquisition>;
  /** The keys that are attached to it: also in `pairs`. */
  readonly keys: Set<ByteString>;
}

/** A committed entry, of which the machine needs no more than this. */
export interface AppliedEntry {
  readonly index: number;
  readonly term: number;
  /** Only `command` entries are for the machine. */
  readonly kind: string;
  readonly data: Uint8Array;
}

export function createStore(): StoreState {
  return {
    revision: 0,
    pairs: new PairMap(),
    bytes: 0,
    digest: createDigest(),
    history: createHistory(),
    limits: defaultStoreLimits,
    sessions: createNumberMap(),
    leases: createKeyMap(),
    idleLeases: createKeyMap(),
    pastGrants: 0,
    graceMs: 0,
    version: 1,
    generation: 0,
  };
}

export function createSession(ttlMs: number, generation: number): SessionState {
  return {
    generation,
    ttlMs,
    ackedBelow: 1,
    answers: new Map(),
    answerBytes: 0,
    renewals: 0,
    silentMs: 0,
    version: 0,
    acquisitions: new Map(),
    keys: new Set(),
  };
}
