/**
 * The whole replicated state, as plain data. It changes in `applyEntry` alone, and is the same on every node that has
 * applied the same entries: it holds no time, no chance, and nothing of the node that it is on.
 */
import type { CommandResult } from "@quorate/client/protocol";
import { createPairMap, type PairMap } from "./orderedMap.ts";

export interface StoreState {
  /** One more for each entry that changed a key. */
  revision: number;
  readonly pairs: PairMap;
  /** By session id, in the order in which they were opened. */
  readonly sessions: Map<number, SessionState>;
}

export interface SessionState {
  readonly ttlMs: number;
  /** The client has the answers of all sequences below; they are forgotten here. Only rises. */
  ackedBelow: number;
  /** By sequence, from `ackedBelow` to before `ackedBelow + sessionWindow`. */
  readonly answers: Map<number, CommandResult>;
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
  return { revision: 0, pairs: createPairMap(), sessions: new Map() };
}
