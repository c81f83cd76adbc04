/** The replicated state machine of the store: keys, revisions, sessions, exactly once. Pure. */
export { type Applied, applyAndTell, applyEntry } from "./applyEntry.ts";
export type { EndedGrant } from "./change.ts";
export { type ContentRestoration, restoreContent } from "./content/restoreContent.ts";
export { writeContent } from "./content/writeContent.ts";
export { beginGrace, graceNeeded, graceNotice } from "./grace.ts";
export { hashState } from "./hashState.ts";
export { type History, type PairChange, type RevisionRecord, recordsAfter } from "./history.ts";
export { jumpRevision } from "./jumpRevision.ts";
export { isItsTurn } from "./leaseQueues.ts";
export {
  getLease,
  holdsLease,
  leaseSetOf,
  listCandidates,
  listLeases,
  pastGrantsOf,
  termInForce,
} from "./leaseReads.ts";
export type { Acquisition, LeaseState } from "./leaseState.ts";
export { NewerVersionError } from "./machineVersion.ts";
export { comparableDigest } from "./pairsDigest.ts";
export {
  beginCount,
  type Counting,
  countOn,
  getPairAt,
  listPairsAt,
  type Standing,
  standingOf,
} from "./pastReads.ts";
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
export { listSessions } from "./sessionReads.ts";
export { silenceOf } from "./sessions.ts";
export { quotaAlarm } from "./storeLimits.ts";
export {
  type AppliedEntry,
  createSession,
  createStore,
  type SessionState,
  type StoreState,
} from "./storeState.ts";
export { viewOf } from "./viewState.ts";
