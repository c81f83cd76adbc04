/**
 * The timers of a core: deadlines in its state, acted on by a `tick` alone, and told outside as one next deadline.
 *
 * A core that is stepped much later than it had asked to be was paused with its process: what it did not hear
 * meanwhile says nothing about the others.
 */

import { nextBetween } from "./random.ts";
import { nextTransferMs } from "./snapshotSending.ts";
import type { RaftState } from "./state.ts";
import type { MemberId } from "./types.ts";

/** Draws a new election timeout and starts it now. */
export function armElectionTimer(state: RaftState): void {
  const { electionTimeoutMinMs, electionTimeoutMaxMs } = state.options;
  state.election.isBroughtForward = false;
  state.election.deadlineMs =
    state.nowMs + nextBetween(state.random, electionTimeoutMinMs, electionTimeoutMaxMs);
}

/**
 * True while a leader is known that was heard within the shortest election timeout: then nobody else is
 * needed. A leader that asks for votes itself has lost its office and is no reason to refuse it
 * (hashicorp/raft#606).
 */
export function hasLiveLeader(state: RaftState, asker: MemberId): boolean {
  if (state.role === "leader") return true;
  if (state.leader === undefined || state.leader === asker) return false;
  return state.nowMs - state.election.leaderHeardMs < state.options.electionTimeoutMinMs;
}

/** Moves the clock of the core. True when the process seems to have been paused. */
export function advanceClock(state: RaftState, nowMs: number): boolean {
  if (nowMs <= state.nowMs) return false;
  const expectedMs = Math.max(state.nowMs, state.toldDeadlineMs);
  state.nowMs = nowMs;
  return nowMs - expectedMs > state.options.electionTimeoutMinMs;
}

/** After a pause nothing is decided by what was not heard: everybody gets a full new timeout. */
export function restartTimers(state: RaftState): void {
  armElectionTimer(state);
  if (state.leading === undefined) return;
  for (const peer of state.leading.peers.values()) peer.heardMs = state.nowMs;
  state.leading.quorumCheckMs = state.nowMs + state.options.electionTimeoutMaxMs;
}

export function nextDeadlineMs(state: RaftState): number {
  const { leading } = state;
  if (leading !== undefined) {
    const transferMs = leading.transfer?.deadlineMs ?? Number.POSITIVE_INFINITY;
    const due = Math.min(leading.heartbeatDueMs, leading.quorumCheckMs, transferMs);
    return Math.min(due, nextTransferMs(leading));
  }
  const forwarded = state.forwarding.rounds[0]?.deadlineMs ?? Number.POSITIVE_INFINITY;
  const { deadlineMs, awaitedUntilMs, held } = state.election;
  return Math.min(deadlineMs, forwarded, held.items.length > 0 ? awaitedUntilMs : Number.POSITIVE_INFINITY);
}
