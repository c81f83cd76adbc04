/**
 * What one entry changes. Its writes and grants share one revision, and the queues of all leases that it touched are
 * settled once, when all else is done: at most one grant a name and revision.
 */
import type { ByteString, GrantEnd } from "@quorate/client/protocol";
import type { NewChange } from "./history.ts";
import type { AppliedEntry, StoreState } from "./storeState.ts";

/** The end of a grant of that name. */
export interface EndedGrant {
  readonly name: ByteString;
  readonly end: GrantEnd;
}

export interface Change {
  readonly state: StoreState;
  readonly index: number;
  /** The Raft term of the entry. */
  readonly term: number;
  /** The session and sequence that sent it, if any. */
  readonly sender: { readonly session: number; readonly sequence: number } | undefined;
  /** Undefined as long as nothing of the entry has raised the store's. */
  revision: number | undefined;
  /** The keys that it has written, each once: a record of the history when the entry is done. */
  readonly writes: NewChange[];
  /** Grants that are over, each once a name. */
  readonly ended: EndedGrant[];
  /** How many sessions it ended since they were silent. */
  expired: number;
  /** Leases whose grant, queue or delay it changed. */
  readonly touched: Set<ByteString>;
  /** Sessions that it ended, or whose acquisitions it changed. */
  readonly sessions: Set<number>;
}

export function changeOf(state: StoreState, { index, term }: AppliedEntry, sender: Change["sender"]): Change {
  return {
    state,
    index,
    term,
    sender,
    revision: undefined,
    writes: [],
    ended: [],
    expired: 0,
    touched: new Set(),
    sessions: new Set(),
  };
}

/** The revision of this entry's writes and grants. */
export function raisedRevision(change: Change): number {
  if (change.revision === undefined) {
    change.state.revision += 1;
    change.revision = change.state.revision;
  }
  return change.revision;
}
