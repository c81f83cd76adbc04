/**
 * Interesting states, marked when a member's core comes to one: a simulation that never saw them has shown nothing
 * about them. Nothing here can fail.
 *
 * Called before the checks of a step, while the history still knows how the member was before it. What happens at each
 * step costs a comparison or two; the rest is done at the rare events alone.
 */
import {
  asIndex,
  configurationOf,
  type Event,
  isPending,
  isVoter,
  lastTerm,
  type Message,
  newestConfiguration,
  type RaftState,
  reachedByQuorum,
  type SnapshotProgress,
  termAt,
} from "@quorate/raft";
import type { History, MemberHistory } from "./history.ts";

export function markStep(history: History, member: MemberHistory, state: RaftState, event: Event): void {
  if (state.role !== member.seenRole) {
    markRole(history, member, state, event);
    member.seenRole = state.role;
  }
  if (event.kind === "snapshotInstalled") history.mark("snapshot installed");
  if (event.kind !== "received") return;
  const { message } = event;
  if (message.kind === "snapshotChunk") markChunk(history, state, message);
  else if (message.kind === "voteRequest") markVoteRequest(history, state, event.from, message);
  else if (message.kind === "appendResponse" && state.leading !== undefined) {
    if (message.result.kind === "rejected") history.mark("rejection taken by a leader");
    else if (state.commitIndex < state.leading.noopIndex) markFigure8(history, state);
  }
}

export function markTransfer(history: History, member: MemberHistory, kind: SnapshotProgress["kind"]): void {
  if (kind === "begun") member.transfers += 1;
  history.mark(transferMarks[kind]);
}

const transferMarks: Readonly<Record<SnapshotProgress["kind"], string>> = {
  begun: "snapshot transfer begun",
  sent: "snapshot sent",
  overtaken: "snapshot not needed after all",
  aborted: "snapshot transfer aborted",
};

/** Called before the step's own checks, but after the step. */
function markChunk(
  history: History,
  state: RaftState,
  { header, term }: Extract<Message, { kind: "snapshotChunk" }>,
): void {
  const { boundary } = header;
  if (term < state.currentTerm) history.mark("snapshot of an older leader refused");
  else if (state.snapshots.incoming === undefined && state.log.lastIndex >= boundary.index) {
    history.mark("snapshot ignored: the log has it");
    if (state.log.lastIndex > boundary.index) history.mark("suffix kept over a snapshot");
  } else if (isPending(state.snapshots.incoming)) history.mark("snapshot asked for while it is installed");
}

/** `seenRole` and `seenTerm` are those of before the step. */
function markRole(history: History, member: MemberHistory, state: RaftState, event: Event): void {
  const isSameTerm = state.currentTerm === member.seenTerm;
  const from = event.kind === "received" ? event.message.kind : event.kind;
  switch (member.seenRole) {
    case "leader":
      if (isSameTerm && isRemoved(state)) history.mark("leader removed itself");
      else if (isSameTerm && from === "tick") history.mark("leader deposed by check-quorum");
      if (!isSameTerm) history.mark("leader deposed by a higher term");
      if (!isSameTerm && (from === "appendResponse" || from === "heartbeatResponse")) {
        history.mark("stale leader answered with a higher term");
      }
      if (!history.committedIn.has(member.seenTerm)) history.mark("leader deposed before it committed");
      return;
    case "candidate":
      if (from === "tick") markNoWinner(history, member);
      if (isSameTerm && from === "voteResponse" && state.role === "follower") history.mark("election lost");
      if (isSameTerm && (from === "appendRequest" || from === "heartbeat"))
        history.mark("candidate fell back");
      return;
    case "preCandidate":
      if (isSameTerm && from === "preVoteResponse" && state.role === "follower")
        history.mark("pre-vote lost");
      return;
    default:
      return;
  }
}

function isRemoved({ log, commitIndex, options }: RaftState): boolean {
  const { index, configuration } = newestConfiguration(log);
  return index <= commitIndex && !isVoter(configuration, options.self);
}

/** A candidate's time is over: a split vote, if others stood in its term too and nobody won. */
function markNoWinner(history: History, member: MemberHistory): void {
  history.mark("candidacy came to nothing");
  const term = member.seenTerm;
  if (history.leaders.has(term)) return;
  let candidates = 0;
  for (const one of history.members.values()) if (one.votes.get(term) === one.member) candidates += 1;
  if (candidates > 1) history.mark("split vote");
}

function markVoteRequest(
  history: History,
  state: RaftState,
  from: string,
  request: Extract<Message, { kind: "voteRequest" }>,
): void {
  if (request.term > state.currentTerm) history.mark("vote refused to keep a leader");
  else if (request.term === state.currentTerm && state.vote !== from) {
    const ownTerm = lastTerm(state.log);
    const isBehind =
      request.lastTerm < ownTerm || (request.lastTerm === ownTerm && request.lastIndex < state.log.lastIndex);
    if (isBehind) history.mark("vote refused to a shorter log");
    else if (state.vote !== undefined) history.mark("vote refused: given to another");
  }
}

/** An entry of an older term is on a quorum, and the leader must not count it yet (paper, Figure 8). */
function markFigure8(history: History, state: RaftState): void {
  const { leading, disk, log, commitIndex, options } = state;
  if (leading === undefined) return;
  const onQuorum = reachedByQuorum(configurationOf(log), (id) =>
    id === options.self ? disk.durableIndex : (leading.peers.get(id)?.match ?? 0),
  );
  if (onQuorum <= commitIndex) return;
  const term = termAt(log, asIndex(onQuorum));
  if (term !== undefined && term < state.currentTerm) history.mark("Figure 8: an older entry on a quorum");
}
