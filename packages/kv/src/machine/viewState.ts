/**
 * The state as it is now, for whoever reads it while the machine goes on: what a snapshot is written from.
 *
 * Taken in O(1), but for one reference a block of the history. Its maps are copy-on-write, and what hangs on a session
 * is copied before it is next written to (sessionToChange.ts). A view is only read, and used up as its content is
 * written.
 */
import { historyView } from "./history.ts";
import type { StoreState } from "./storeState.ts";

/** Every field is named, so that one that was forgotten is found by the compiler. */
export function viewOf(state: StoreState): StoreState {
  const { revision, bytes, digest, limits, pastGrants, graceMs, version, generation } = state;
  const view: StoreState = {
    revision,
    pairs: state.pairs.clone(),
    bytes,
    digest: { ...digest },
    history: historyView(state.history),
    limits,
    sessions: state.sessions.clone(),
    leases: state.leases.clone(),
    idleLeases: state.idleLeases.clone(),
    pastGrants,
    graceMs,
    version,
    generation,
  };
  state.generation += 1;
  return view;
}
