/**
 * How the membership changes, by joint consensus (Dissertation §4): one change at a time, in force as soon as it is in
 * the log, and never before the leader has committed an entry of its own term (the bug of 2015 in the single-server
 * change).
 *
 * The leader goes on by itself: out of a joint configuration, and from learner to voter. What is to be done next stands
 * in the configuration alone, so that a new leader continues what an old one began.
 */
import { commitByCount } from "./commit.ts";
import { encodeConfiguration } from "./configuration.ts";
import type { MembershipRefusal } from "./contract.ts";
import { configurationOf, newestConfiguration } from "./log.ts";
import { changeMembers, leaveJoint, type MemberChange, promote, towards } from "./memberChange.ts";
import { createProgress, type Progress } from "./progress.ts";
import { hasQuorum, isJoint, isVoter, membersOf } from "./quorum.ts";
import { appendOwn, becomeFollower } from "./roles.ts";
import { abandonTransfer } from "./snapshotSending.ts";
import type { LeadingState, RaftState } from "./state.ts";
import type { Configuration, Index, Learner, Member, MemberId } from "./types.ts";

/** `ifIndex` is the index of the configuration that the change was thought out for; undefined: any. */
export function requestMembership(
  state: RaftState,
  id: number,
  changes: readonly MemberChange[],
  ifIndex: Index | undefined,
): void {
  const next = admitChange(state, changes, ifIndex);
  const { leading, outbox, currentTerm: term } = state;
  if (typeof next === "string") outbox.memberships.push({ kind: "refused", id, reason: next });
  else if (leading !== undefined) {
    const index = appendConfiguration(state, leading, next);
    outbox.memberships.push({ kind: "appended", id, index, term });
  }
}

function admitChange(
  state: RaftState,
  changes: readonly MemberChange[],
  ifIndex: Index | undefined,
): Configuration | MembershipRefusal {
  const { leading, log, commitIndex } = state;
  if (leading === undefined) return "notLeader";
  const { index, configuration } = newestConfiguration(log);
  if (ifIndex !== undefined && ifIndex !== index) return "superseded";
  if (commitIndex < leading.noopIndex) return "notReady";
  if (commitIndex < index || isJoint(configuration)) return "changing";
  const next = changeMembers(configuration, changes);
  if (typeof next === "string") return next;
  const keepsVoters = configuration.voters.every(({ id }) => isVoter(next, id));
  if (!keepsVoters && !hasQuorum(next, (id) => isHeard(state, leading, id))) return "quorumSilent";
  return towards(configuration, next);
}

/**
 * It answered lately, or is this leader itself. Whoever takes living voters away while others are gone would leave a
 * cluster that can commit nothing, not even the next change: so nobody is only taken for heard, as after a pause.
 */
function isHeard({ nowMs, options }: RaftState, { peers }: LeadingState, id: MemberId): boolean {
  if (id === options.self) return true;
  const peer = peers.get(id);
  return peer !== undefined && nowMs - peer.answeredMs < options.electionTimeoutMaxMs;
}

/** In force from now on: all that it names are sent the log, and the quorum is another one. */
function appendConfiguration(state: RaftState, leading: LeadingState, configuration: Configuration): Index {
  const data = encodeConfiguration(configuration);
  const before = membersOf(configurationOf(state.log));
  const index = appendOwn(state.log, state.currentTerm, "configuration", data);
  leading.uncommittedBytes += data.length;
  adjustPeers(state, leading, before, index);
  return index;
}

/** Whoever comes in gets a session of its own; whoever goes is kept until it was told. */
function adjustPeers(state: RaftState, leading: LeadingState, before: readonly Member[], index: Index): void {
  const members = new Set<MemberId>();
  for (const { id } of membersOf(configurationOf(state.log))) {
    members.add(id);
    if (id === state.options.self || (leading.peers.has(id) && !leading.leaving.has(id))) continue;
    leading.leaving.delete(id);
    const left = leading.peers.get(id);
    if (left !== undefined) abandonTransfer(state, left);
    leading.session += 1;
    leading.peers.set(id, createProgress(id, leading.session, index, state.nowMs));
  }
  for (const id of leading.peers.keys()) {
    const member = before.find((one) => one.id === id);
    if (members.has(id) || leading.leaving.has(id) || member === undefined) continue;
    leading.leaving.set(id, { member, index, untilMs: undefined });
  }
}

/** At the end of a leader's turn: takes the step that the configuration in force asks for, once it is committed. */
export function continueMembership(state: RaftState, leading: LeadingState): void {
  const { index, configuration } = newestConfiguration(state.log);
  if (leading.leaving.size > 0) letGo(state, leading);
  if (state.commitIndex < index || state.commitIndex < leading.noopIndex) return;
  if (isJoint(configuration)) appendConfiguration(state, leading, leaveJoint(configuration));
  else if (!isVoter(configuration, state.options.self)) {
    // Its own removal is committed, which was its last duty (Dissertation §4.2.2).
    becomeFollower(state, state.currentTerm, undefined);
    return;
  } else {
    const learner = nextToPromote(state, leading, configuration);
    if (learner === undefined) return;
    appendConfiguration(state, leading, towards(configuration, promote(configuration, learner)));
  }
  commitByCount(state, leading); // a sole voter is its own quorum, and of fewer voters fewer are needed
}

function nextToPromote(
  state: RaftState,
  leading: LeadingState,
  { learners }: Configuration,
): Learner | undefined {
  for (const learner of learners) {
    if (learner.promotes && hasCaughtUp(state, leading, learner)) return learner;
  }
  return undefined;
}

/**
 * In rounds: each is over when the learner has what the log held at its beginning. One that took no longer than an
 * election timeout leaves so little to catch up on that a promotion costs no availability (Dissertation §4.2.1).
 */
function hasCaughtUp(state: RaftState, leading: LeadingState, learner: Learner): boolean {
  const peer = leading.peers.get(learner.id);
  if (peer === undefined || peer.match < peer.roundEnd || peer.match === 0) return false;
  const isQuick = state.nowMs - peer.roundStartMs <= state.options.electionTimeoutMinMs;
  peer.roundEnd = state.log.lastIndex;
  peer.roundStartMs = state.nowMs;
  return isQuick;
}

/**
 * A member that left is sent the log until it knows that it left, so that it does not campaign in vain; or for some
 * election timeouts, since it may be gone for good.
 */
function letGo(state: RaftState, leading: LeadingState): void {
  for (const [id, leave] of leading.leaving) {
    if (state.commitIndex < leave.index) continue;
    const peer = leading.peers.get(id);
    leave.untilMs ??= state.nowMs + patience * state.options.electionTimeoutMaxMs;
    if (!knows(peer, leave.index) && state.nowMs < leave.untilMs) continue;
    if (peer !== undefined) abandonTransfer(state, peer);
    leading.leaving.delete(id);
    leading.peers.delete(id);
  }
}

/** In election timeouts. */
const patience = 10;

function knows(peer: Progress | undefined, index: Index): boolean {
  return peer === undefined || (peer.match >= index && peer.sentCommit >= index);
}
