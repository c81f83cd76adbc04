/** The replicated state machine of the store: keys, revisions, sessions, exactly once. Pure. */
export { type Applied, applyAndTell, applyEntry } from "./applyEntry.ts";
export { type ContentRestoration, restoreContent } from "./content/restoreContent.ts";
export { writeContent } from "./content/writeContent.ts";
export { hashState } from "./hashState.ts";
export { getLease, holdsLease, leaseSetOf, listLeases, termInForce } from "./leaseReads.ts";
export type { Acquisition, LeaseState } from "./leaseState.ts";
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
export { silenceOf } from "./sessions.ts";
export {
  type AppliedEntry,
  createSession,
  createStore,
  type SessionState,
  type StoreState,
} from "./storeState.ts";
export { viewOf } from "./viewState.ts";
