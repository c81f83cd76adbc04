/**
 * Leadership transfer (Dissertation §3.10): proposals wait, the target catches up, and is told to campaign at once.
 *
 *     transferRequested ──▶ waits until target and quorum hold the whole log ──▶ timeoutNow ──▶ a newer term
 *                              │ an election timeout passed, or the target is no voter any more
 *                              └──▶ aborted: the proposals that waited go on
 *
 * The target is told only when everything is committed too: the leader then leaves nothing behind whose outcome its
 * clients could not be told.
 */
import type { TransferAbort } from "./contract.ts";
import { standForElection } from "./election.ts";
import { noneHeld, release } from "./heldProposals.ts";
import { configurationOf, lastTerm, termAt } from "./log.ts";
import type { TimeoutNow } from "./messages.ts";
import { post } from "./outbox.ts";
import type { Progress } from "./progress.ts";
import { propose } from "./replication.ts";
import { mayCampaign } from "./roles.ts";
import type { LeadingState, RaftState } from "./state.ts";
import { answerAborted, answerRefused } from "./transferState.ts";
import type { MemberId } from "./types.ts";

/** Callers that wait for one transfer. */
const maxAskers = 64;

/** `asked` undefined: the voter that is best caught up. */
export function requestTransfer(state: RaftState, id: number, asked: MemberId | undefined): void {
  const { leading } = state;
  if (leading === undefined) {
    answerRefused(state, id, "notLeader");
    return;
  }
  const { transfer } = leading;
  if (asked === state.options.self) {
    abortTransfer(state, leading, "superseded");
    state.outbox.transfers.push({ kind: "handedOver", id });
  } else if (transfer !== undefined && (asked === undefined || asked === transfer.target)) {
    if (transfer.ids.length < maxAskers) transfer.ids.push(id);
    else answerRefused(state, id, "overloaded");
  } else {
    const target = asked ?? bestTarget(state, leading);
    if (target === undefined) answerRefused(state, id, "nobodyElse");
    else if (!leading.peers.has(target) || !staysVoter(state, target)) {
      answerRefused(state, id, "notVoter");
    } else {
      abortTransfer(state, leading, "superseded");
      beginTransfer(state, leading, target, [id]);
    }
  }
}

export function beginTransfer(
  state: RaftState,
  leading: LeadingState,
  target: MemberId,
  ids: number[],
): void {
  const deadlineMs = state.nowMs + state.options.electionTimeoutMaxMs;
  leading.transfer = { target, deadlineMs, ids, toldMs: undefined, held: noneHeld() };
}

/** A voter that a joint configuration is about to let go of is no successor. */
function staysVoter({ log }: RaftState, id: MemberId): boolean {
  return configurationOf(log).voters.some((voter) => voter.id === id);
}

/** Of the voters that were heard lately the one with the highest match; of equal ones the first. */
function bestTarget(state: RaftState, leading: LeadingState): MemberId | undefined {
  let best: Progress | undefined;
  for (const { id } of configurationOf(state.log).voters) {
    const peer = leading.peers.get(id);
    if (peer !== undefined && (best === undefined || isBetter(state, peer, best))) best = peer;
  }
  return best?.id;
}

function isBetter(state: RaftState, peer: Progress, best: Progress): boolean {
  const sinceMs = state.nowMs - state.options.electionTimeoutMinMs;
  const [isHeard, isBestHeard] = [peer.heardMs >= sinceMs, best.heardMs >= sinceMs];
  return isHeard === isBestHeard ? peer.match > best.match : isHeard;
}

/** The end of a leader's turn: the target is told as soon as it may be, and again where that seems lost. */
export function flushTransfer(state: RaftState, leading: LeadingState): void {
  const { transfer } = leading;
  if (transfer === undefined) return;
  const { log, nowMs, options, currentTerm: term } = state;
  const peer = leading.peers.get(transfer.target);
  if (peer === undefined || !staysVoter(state, transfer.target)) {
    abortTransfer(state, leading, "targetRemoved");
    return;
  }
  if (peer.match !== log.lastIndex || state.commitIndex !== log.lastIndex) return;
  if (transfer.toldMs !== undefined && nowMs - transfer.toldMs < options.heartbeatMs) return;
  transfer.toldMs = nowMs;
  post(state, peer.id, { kind: "timeoutNow", term, lastIndex: log.lastIndex, lastTerm: lastTerm(log) });
}

/** The target's process ended: nobody need wait for it. */
export function onTargetLost(state: RaftState, leading: LeadingState, peer: MemberId): void {
  if (leading.transfer?.target === peer) abortTransfer(state, leading, "targetLost");
}

/** One election timeout is enough for a target that is there. */
export function expireTransfer(state: RaftState, leading: LeadingState): void {
  const { transfer } = leading;
  if (transfer !== undefined && state.nowMs >= transfer.deadlineMs) abortTransfer(state, leading, "timedOut");
}

/** The leader stays, and takes up what waited, in its order. */
function abortTransfer(state: RaftState, leading: LeadingState, reason: TransferAbort): void {
  const { transfer } = leading;
  if (transfer === undefined) return;
  leading.transfer = undefined;
  for (const id of transfer.ids) answerAborted(state, id, reason);
  for (const { id, kind, data } of release(transfer.held)) propose(state, id, kind, data);
}

/**
 * Our leader wants us to take over, now and without a pre-vote, which the others would refuse while they hear it. The
 * term is our own. Without its last entry we would only depose it, so that is waited for: it tells us again.
 */
export function onTimeoutNow(
  state: RaftState,
  from: MemberId,
  { lastIndex, lastTerm: term }: TimeoutNow,
): void {
  const isFollowing = state.role === "follower" && (state.leader === from || state.leader === undefined);
  if (!isFollowing || !mayCampaign(state) || termAt(state.log, lastIndex) !== term) return;
  standForElection(state, true);
}
