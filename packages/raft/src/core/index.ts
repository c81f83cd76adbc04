/**
 * The pure Raft core.
 *
 *   tick, received, proposed,            ┌────────────┐       persist      one atomic write, one at a time
 *   readRequested, persisted,    ──────▶ │ RaftState  │ ────▶ send         what may leave now
 *   loaded, applied,              step   │            │       loads        entries to read for slow followers
 *   snapshotTaken, chunkLoaded, …        │ plain data │       commitIndex, proposals, reads, roleChange
 *                                        │            │       chunkLoads, chunks, install, compactTo
 *   each with nowMs                      └────────────┘       nextDeadlineMs
 *                                                       takeEffects, once a turn
 *
 * It has no clock, no chance, no socket and no disk of its own, and it must never get one.
 */
import { cachedFrom } from "./log.ts";
import type { RaftState } from "./state.ts";
import type { Entry, Index } from "./types.ts";

export { decodeConfiguration, encodeConfiguration } from "./configuration.ts";
export * from "./contract.ts";
export type { DiskState, HardState, OutstandingWrite } from "./disk.ts";
export { InvariantError, invariant, unreachable } from "./invariant.ts";
export {
  configurationAt,
  configurationOf,
  entryOverheadBytes,
  firstCachedIndex,
  type LogState,
  lastTerm,
  newestConfiguration,
  termAt,
} from "./log.ts";
export {
  admission,
  type MemberChange,
  type MemberChangeRefusal,
  maxLearners,
  maxVoters,
} from "./memberChange.ts";
export type * from "./messages.ts";
export type { InflightAppend, Progress, SnapshotTransfer } from "./progress.ts";
export {
  hasQuorum,
  isJoint,
  isMember,
  isVoter,
  majorityOf,
  membersOf,
  reachedByQuorum,
  votersOf,
  votersOnly,
} from "./quorum.ts";
export { createRandom, nextBetween, nextUint32, type RandomState } from "./random.ts";
export { type IncomingSnapshot, isBehind, isPending, type SnapshotsState } from "./snapshots.ts";
export {
  createState,
  type ElectionState,
  type FollowingState,
  type ForwardedRound,
  type ForwardingState,
  type LeaderRead,
  type LeadingState,
  type Outbox,
  type RaftState,
  type ReadRound,
  type WaitingEnvelope,
} from "./state.ts";
export { step, takeEffects } from "./step.ts";
export type { TransferState } from "./transferState.ts";
export * from "./types.ts";

/**
 * Entries `from`..`to` (inclusive), at most `maxBytes` of data but at least one. Undefined when `from` is not
 * in memory any more: then it is durable, and the log store has it.
 */
export function cachedEntries(
  state: RaftState,
  from: Index,
  to: Index,
  maxBytes: number,
): readonly Entry[] | undefined {
  return cachedFrom(state.log, from, to, maxBytes);
}
