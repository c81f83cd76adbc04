/** The replicated state machine of the store: keys, revisions, sessions, exactly once. Pure. */
export { applyEntry } from "./applyEntry.ts";
export { type ContentRestoration, restoreContent } from "./content/restoreContent.ts";
export { writeContent } from "./content/writeContent.ts";
export { hashState } from "./hashState.ts";
export {
  getPair,
  isAlive,
  type ListedPairs,
  type ListSpan,
  listPairs,
  pairCount,
  revision,
  sessions,
  sessionTtlMs,
} from "./reads.ts";
export { type AppliedEntry, createStore, type SessionState, type StoreState } from "./storeState.ts";
export { viewOf } from "./viewState.ts";
