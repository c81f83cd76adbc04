/**
 * A leader whose own disk hangs: its heartbeats are healthy and the others serve it, but it keeps nothing itself
 * (hashicorp/raft#503, #612, #666). It hands over to a voter that keeps more, and does not come back at once.
 *
 * Where no voter keeps more it stays: a slow disk that all share must not make every leader resign for ever. Where one
 * does and cannot be brought to lead, it just goes: a follower that needs what only the hung disk has may be what keeps
 * the rest of the log from being committed, for which a handover waits.
 */
import { stalledMs } from "./disk.ts";
import { configurationOf } from "./log.ts";
import { becomeFollower } from "./roles.ts";
import type { LeadingState, RaftState } from "./state.ts";
import { beginTransfer } from "./transfer.ts";
import type { MemberId } from "./types.ts";

/** In stalls: how long the doubled pauses grow, and after how long without one they begin anew. */
const longestPause = 4;
const forgottenAfter = 8;

/** Looked at with each of the leader's ticks. */
export function checkOwnDisk(state: RaftState, leading: LeadingState): void {
  const { backoff, disk, nowMs, options } = state;
  const { diskStallMs } = options;
  if (nowMs < backoff.untilMs || leading.transfer !== undefined) return;
  const stallMs = stalledMs(disk, nowMs);
  if (stallMs < diskStallMs) {
    if (nowMs - backoff.untilMs >= forgottenAfter * diskStallMs) backoff.lengthMs = 0;
    return;
  }
  const target = keepsMore(state, leading);
  if (target === undefined) return;
  // The last attempt was for this stall already, and came to nothing.
  const hasTried = nowMs - stallMs + diskStallMs <= backoff.untilMs - backoff.lengthMs;
  backoff.lengthMs = Math.min(Math.max(diskStallMs, 2 * backoff.lengthMs), longestPause * diskStallMs);
  backoff.untilMs = nowMs + backoff.lengthMs;
  if (hasTried) becomeFollower(state, state.currentTerm, undefined);
  else beginTransfer(state, leading, target, []);
}

/**
 * The voter with the highest match, if that is beyond what our own disk has; where it is a read that hangs, one that
 * has as much will do: it has a disk that answers, as its acknowledgements say.
 */
function keepsMore(state: RaftState, leading: LeadingState): MemberId | undefined {
  const { disk } = state;
  let best: MemberId | undefined;
  let bestMatch = disk.outstanding === undefined ? disk.durableIndex - 1 : disk.durableIndex;
  for (const { id } of configurationOf(state.log).voters) {
    const match = leading.peers.get(id)?.match ?? 0;
    if (match > bestMatch) [best, bestMatch] = [id, match];
  }
  return best;
}
