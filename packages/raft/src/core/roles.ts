/**
 * The four roles and every change between them (paper, Figure 4, with the pre-candidate of Dissertation
 * §9.6).
 *
 * The vote goes only when the term rises, whatever the role (CCF#5891). What belongs to a role ends with it,
 * reads first.
 */
import { endAwaiting } from "./awaitedLeader.ts";
import { noteReadDone } from "./disk.ts";
import { invariant } from "./invariant.ts";
import { appendEntry, configurationOf, type LogState, openConfigurations } from "./log.ts";
import { createProgress } from "./progress.ts";
import { isVoter, membersOf } from "./quorum.ts";
import { refuseForwardedReads, refuseLeaderReads } from "./reads.ts";
import { abandonTransfer } from "./snapshotSending.ts";
import { isPending } from "./snapshots.ts";
import { createFollowing, type LeadingState, type RaftState } from "./state.ts";
import { armElectionTimer } from "./timers.ts";
import { endWithOffice } from "./transferState.ts";
import { asIndex, asTerm, type EntryKind, type Index, type MemberId, type Term } from "./types.ts";

const noData = new Uint8Array(0);

/**
 * Follows `leader` in `term`, or nobody yet. The election timer runs on for one that was a follower already.
 */
export function becomeFollower(state: RaftState, term: Term, leader: MemberId | undefined): void {
  const wasFollower = state.role === "follower";
  const changes = term !== state.currentTerm || leader !== state.leader;
  const hasNewTerm = term !== state.currentTerm;
  const { leading } = state;
  adoptTerm(state, term);
  state.role = "follower";
  state.leader = leader;
  state.leading = undefined;
  state.election.votes.clear();
  if (leading !== undefined) {
    refuseLeaderReads(state, leading);
    if (leading.transfer !== undefined) endWithOffice(state, leading.transfer, hasNewTerm);
    for (const peer of leading.peers.values()) abandonTransfer(state, peer);
  }
  if (changes) {
    refuseForwardedReads(state, "notLeader");
    state.following = createFollowing();
    if (!isPending(state.snapshots.incoming)) state.snapshots.incoming = undefined;
  }
  if (leader !== undefined) endAwaiting(state);
  if (!wasFollower) armElectionTimer(state);
}

function adoptTerm(state: RaftState, term: Term): void {
  invariant(term >= state.currentTerm, "terms never fall", { term, currentTerm: state.currentTerm });
  if (term === state.currentTerm) return;
  state.currentTerm = term;
  state.vote = undefined;
}

/**
 * Neither term nor vote change. The leader that was not heard is forgotten: it must not make us refuse
 * others.
 */
export function becomePreCandidate(state: RaftState): void {
  becomeFollower(state, state.currentTerm, undefined);
  state.role = "preCandidate";
  armElectionTimer(state);
}

export function becomeCandidate(state: RaftState): void {
  becomeFollower(state, asTerm(state.currentTerm + 1), undefined);
  state.role = "candidate";
  state.vote = state.options.self;
  armElectionTimer(state);
}

/** Opens the term with a no-op, for only an entry of its own term commits what came before (§5.4.2, §8). */
export function becomeLeader(state: RaftState): void {
  const { nowMs, options, log } = state;
  invariant(state.role === "candidate", "only a candidate becomes leader", { role: state.role });
  invariant(
    state.disk.durable.term === state.currentTerm && state.disk.durable.vote === options.self,
    "a leader's own vote is durable",
    { term: state.currentTerm },
  );
  state.election.votes.clear();
  state.role = "leader";
  state.leader = options.self;
  const leading: LeadingState = {
    peers: new Map(),
    leaving: new Map(),
    session: 0,
    noopIndex: asIndex(log.lastIndex + 1),
    uncommittedBytes: 0,
    heartbeatDueMs: nowMs + options.heartbeatMs,
    heartbeatOwed: false,
    quorumCheckMs: nowMs + options.electionTimeoutMaxMs,
    token: 0,
    readsWaiting: [],
    readRound: undefined,
    transfer: undefined,
  };
  state.leading = leading;
  noteReadDone(state.disk); // of an earlier office, if any
  for (const { id } of membersOf(configurationOf(log))) {
    if (id === options.self) continue;
    leading.session += 1;
    leading.peers.set(id, createProgress(id, leading.session, leading.noopIndex, nowMs));
  }
  appendOwn(log, state.currentTerm, "noop", noData);
}

/** Appends an entry of the leader's own term. Nothing is sent or written before the end of the turn. */
export function appendOwn(log: LogState, term: Term, kind: EntryKind, data: Uint8Array): Index {
  const index = asIndex(log.lastIndex + 1);
  appendEntry(log, { term, index, kind, data });
  return index;
}

/**
 * A mute member, one that is about to begin at a snapshot, a learner, or one whose removal is known to be committed may
 * not lead. One whose removal is still open may be needed to commit it (openraft#2091, Dissertation §4.2.2); it does
 * not count itself.
 */
export function mayCampaign({ floor, log, snapshots, commitIndex, options }: RaftState): boolean {
  if (floor !== undefined || isPending(snapshots.incoming)) return false;
  return openConfigurations(log, commitIndex).some(({ configuration }) =>
    isVoter(configuration, options.self),
  );
}
