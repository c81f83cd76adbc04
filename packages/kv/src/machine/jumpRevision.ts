/**
 * For a new cluster that is made of an old one's store: what the old one wrote and granted after it was saved is not
 * known, and must not outrank what the new one does.
 *
 * The history begins anew with the jump, so that whoever followed the old store is told that it cannot go on.
 */
import { createHistory } from "./history.ts";
import type { StoreState } from "./storeState.ts";

export function jumpRevision(state: StoreState, by: number): void {
  state.revision += by;
  state.history = createHistory(state.revision);
}
