/**
 * The whole state of a core, as plain data: a simulator may print, compare and hash it.
 *
 * Everything may be read from outside; only the files of this folder write to it.
 */
import type {
  ChunkLoad,
  CoreOptions,
  Envelope,
  Load,
  MembershipOutcome,
  MembershipView,
  ProposalOutcome,
  ReadOutcome,
  ReceivedChunk,
  RestoredState,
  Role,
  RoleChange,
  SnapshotProgress,
  TransferOutcome,
} from "./contract.ts";
import { createDisk, type DiskState, type HardState } from "./disk.ts";
import { type HeldProposals, noneHeld } from "./heldProposals.ts";
import { invariant } from "./invariant.ts";
import { configurationOf, createLog, type LogState, lastTerm, termAt } from "./log.ts";
import { membershipView } from "./membershipView.ts";
import type { ReadRequestId } from "./messages.ts";
import type { Progress } from "./progress.ts";
import { isJoint, isVoter } from "./quorum.ts";
import { createRandom, nextBetween, type RandomState } from "./random.ts";
import { createSnapshots, type SnapshotsState } from "./snapshots.ts";
import type { TransferState } from "./transferState.ts";
import {
  asIndex,
  type Floor,
  type Index,
  type Member,
  type MemberId,
  reachesFloor,
  type Term,
} from "./types.ts";

export interface RaftState {
  readonly options: CoreOptions;
  readonly boot: number;
  random: RandomState;
  /** The time of the last event; never falls. */
  nowMs: number;
  /** When the last effects asked to be stepped again. */
  toldDeadlineMs: number;
  currentTerm: Term;
  vote: MemberId | undefined;
  floor: Floor | undefined;
  role: Role;
  leader: MemberId | undefined;
  commitIndex: Index;
  appliedIndex: Index;
  log: LogState;
  disk: DiskState;
  snapshots: SnapshotsState;
  election: ElectionState;
  /** Set by a leader that handed over since its disk hung: until then it does not campaign. */
  backoff: { untilMs: number; lengthMs: number };
  following: FollowingState;
  forwarding: ForwardingState;
  /** Set exactly while `role` is leader. */
  leading: LeadingState | undefined;
  outbox: Outbox;
}

export interface ElectionState {
  deadlineMs: number;
  /** The next round, or the one under way, was brought forward when the leader's connection was lost. */
  isBroughtForward: boolean;
  /** A successor of the leader that went is expected until then; 0: none is. See awaitedLeader.ts. */
  awaitedUntilMs: number;
  /** What waits for the successor. */
  readonly held: HeldProposals;
  /** Answers to our own (pre-)candidacy, the first of each voter. */
  votes: Map<MemberId, boolean>;
  /** When the leader of this term was last heard. Means something only while `leader` is known. */
  leaderHeardMs: number;
}

/** What the leader of this term has shown us. */
export interface FollowingState {
  /** Of its newest append or heartbeat; 0 before the first. */
  session: number;
  /** Our log equals the leader's up to here, in memory, as appends of this session showed. */
  verified: Index;
  /** The highest ack of this session; -1 before the first. */
  acked: number;
  ackOwed: boolean;
}

/**
 * Reads that this follower asks its leader about. They end with the leader's answer, its term, or by time.
 */
export interface ForwardingState {
  /** Of the last request of this boot. */
  counter: number;
  waiting: number[];
  /** Oldest first. */
  rounds: ForwardedRound[];
}

export interface ForwardedRound {
  readonly counter: number;
  readonly ids: readonly number[];
  readonly deadlineMs: number;
}

/** A member that the configuration of `index` lacks; let go of at `untilMs` at the latest. */
export interface Leaving {
  readonly member: Member;
  readonly index: Index;
  untilMs: number | undefined;
}

export interface LeadingState {
  /** Everybody else who is sent the log: members, and those that left and are yet to be told. */
  peers: Map<MemberId, Progress>;
  leaving: Map<MemberId, Leaving>;
  /** Of the newest replication session; one counter for all peers, so that no session of a term repeats. */
  session: number;
  /** The entry that opened this term. Once it is committed, everything acknowledged before is. */
  noopIndex: Index;
  /** Bytes of own entries after the no-op that are not committed. */
  uncommittedBytes: number;
  heartbeatDueMs: number;
  heartbeatOwed: boolean;
  /** When it is to be checked whether a quorum was heard. */
  quorumCheckMs: number;
  /** The newest read token of this term. */
  token: number;
  readsWaiting: LeaderRead[];
  readRound: ReadRound | undefined;
  transfer: TransferState | undefined;
}

export type LeaderRead =
  | { readonly kind: "local"; readonly id: number }
  | { readonly kind: "remote"; readonly from: MemberId; readonly requestId: ReadRequestId };

/** Reads that a quorum's answers to `token` confirm, at the commit index of the round's start. */
export interface ReadRound {
  readonly token: number;
  readonly index: Index;
  readonly reads: readonly LeaderRead[];
}

export interface WaitingEnvelope {
  /** The write that backs it. */
  readonly sequence: number;
  readonly envelope: Envelope;
}

export interface Outbox {
  /** True whatever the disk says. */
  sendNow: Envelope[];
  /** Promises, until their write is durable. */
  sendAfterPersist: WaitingEnvelope[];
  loads: Load[];
  chunkLoads: ChunkLoad[];
  chunks: ReceivedChunk[];
  snapshots: SnapshotProgress[];
  snapshotWanted: boolean;
  proposals: ProposalOutcome[];
  reads: ReadOutcome[];
  memberships: MembershipOutcome[];
  transfers: TransferOutcome[];
  /** What was last told; a difference is told with the next effects. */
  toldRole: RoleChange;
  toldMembership: MembershipView;
}

export function createState(options: CoreOptions, restored: RestoredState, nowMs: number): RaftState {
  const log = createLog(restored);
  invariant(log.lastIndex >= log.boundary.index, "a log does not end before its boundary", {
    lastIndex: log.lastIndex,
    boundary: log.boundary,
  });
  // What a snapshot stands for is committed, and the machine is restored from it.
  const settled = restored.snapshot?.boundary.index ?? log.boundary.index;
  invariant(settled >= log.boundary.index && settled <= log.lastIndex, "the log reaches to its snapshot", {
    settled,
    lastIndex: log.lastIndex,
    boundary: log.boundary,
  });
  invariant(lastTerm(log) <= restored.term, "no entry is of a term that was never reached", {
    term: restored.term,
    lastTerm: lastTerm(log),
  });
  const durable: HardState = { term: restored.term, vote: restored.vote, floor: restored.floor };
  const random = createRandom(options.seed, options.self);
  const { electionTimeoutMinMs, electionTimeoutMaxMs } = options;
  const state: RaftState = {
    options,
    boot: restored.boot,
    random,
    nowMs,
    toldDeadlineMs: nowMs,
    currentTerm: restored.term,
    vote: restored.vote,
    floor: restored.floor,
    role: "follower",
    leader: undefined,
    commitIndex: settled,
    appliedIndex: settled,
    log,
    disk: createDisk(durable, log.lastIndex),
    snapshots: createSnapshots(restored.snapshot, log.boundary.index),
    election: {
      deadlineMs: nowMs + nextBetween(random, electionTimeoutMinMs, electionTimeoutMaxMs),
      isBroughtForward: false,
      awaitedUntilMs: 0,
      held: noneHeld(),
      votes: new Map(),
      leaderHeardMs: nowMs,
    },
    backoff: { untilMs: nowMs, lengthMs: 0 },
    following: createFollowing(),
    forwarding: { counter: 0, waiting: [], rounds: [] },
    leading: undefined,
    outbox: {
      sendNow: [],
      sendAfterPersist: [],
      loads: [],
      chunkLoads: [],
      chunks: [],
      snapshots: [],
      snapshotWanted: false,
      proposals: [],
      reads: [],
      memberships: [],
      transfers: [],
      toldRole: { role: "follower", term: restored.term, leader: undefined },
      toldMembership: membershipView(log, settled, undefined),
    },
  };
  clearReachedFloor(state);
  // Nobody else can lead: nothing is to be waited for.
  if (isOnlyVoter(state)) state.election.deadlineMs = nowMs;
  return state;
}

export function createFollowing(): FollowingState {
  return { session: 0, verified: asIndex(0), acked: -1, ackOwed: false };
}

function isOnlyVoter(state: RaftState): boolean {
  const configuration = configurationOf(state.log);
  const isAlone = configuration.voters.length === 1 && !isJoint(configuration);
  return isAlone && isVoter(configuration, state.options.self);
}

/** Ends the muteness of a member whose **durable** log has regained what it lost. The next write says so. */
export function clearReachedFloor(state: RaftState): void {
  if (state.floor === undefined) return;
  const { durableIndex } = state.disk;
  const durableTerm = termAt(state.log, durableIndex);
  invariant(durableTerm !== undefined, "the durable end lies in the log", { durableIndex });
  if (reachesFloor(state.floor, durableIndex, durableTerm)) state.floor = undefined;
}
