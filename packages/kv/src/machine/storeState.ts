/**
 * The whole replicated state, as plain data. It changes in `applyEntry` alone, and is the same on every node that has
 * applied the same entries: it holds no time, no chance, and nothing of the node that it is on.
 */
import type { CommandResult } from "@quorate/client/protocol";
import { createNumberMap, createPairMap, type OrderedMap, type PairMap } from "./orderedMap.ts";

/**
 * What is added here is added to `viewOf` (viewState.ts), to `hashState`, and to the content of snapshots as a section
 * of its own (content/sections.ts).
 */
export interface StoreState {
  /** One more for each entry that changed a key. */
  revision: number;
  pairs: PairMap;
  /** By session id, which is the order in which they were opened. Changed through `sessionToChange` (sessions.ts). */
  sessions: OrderedMap<number, SessionState>;
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
  return { revision: 0, pairs: createPairMap(), sessions: createNumberMap(), generation: 0 };
}
