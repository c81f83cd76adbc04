/**
 * The actions of the published specification, each as a question: what may a node be after it?
 *
 * An action answers with the next state, or undefined when it is not enabled. Where the specification leaves a choice,
 * `goal` (the state that the core reached) picks it, within the bounds that the action states.
 */
import type { AppendRequest, MemberId, Message } from "@quorate/raft";
import { type AbstractNode, entryText, termOfText } from "./abstractState.ts";

export interface Context {
  readonly self: MemberId;
  readonly voters: readonly MemberId[];
  /** Undefined for a step that no message caused. */
  readonly from: MemberId | undefined;
  readonly message: Message | undefined;
  /** The log that the leader of the message's term is known to have had. */
  readonly leaderLog: readonly string[];
}

export type Action = (node: AbstractNode, goal: AbstractNode, context: Context) => AbstractNode | undefined;

function isQuorum(count: number, { voters }: Context): boolean {
  return count * 2 > voters.length;
}

const timeout: Action = (node, _, { self }) =>
  node.role === "leader"
    ? undefined
    : {
        ...node,
        role: "candidate",
        term: (node.term + 1) as AbstractNode["term"],
        votedFor: self,
        votes: [],
        matches: {},
      };

/** The vote for oneself is an answer to oneself; it counts once the disk has it, so no message brings it. */
const countOwnVote: Action = (node, _, { self, message }) =>
  node.role === "candidate" && message === undefined && !node.votes.includes(self)
    ? { ...node, votes: [...node.votes, self] }
    : undefined;

const becomeLeader: Action = (node, _, context) => {
  if (node.role !== "candidate" || !isQuorum(node.votes.length, context)) return undefined;
  const matches: Record<MemberId, number> = {};
  for (const id of context.voters) if (id !== context.self) matches[id] = 0;
  return { ...node, role: "leader", votes: [], matches };
};

/** The no-op that opens a term is a request like any other. */
const clientRequest: Action = (node, goal) => {
  const entry = goal.log[node.log.length];
  if (node.role !== "leader" || entry === undefined || termOfText(entry) !== node.term) return undefined;
  return { ...node, log: [...node.log, entry] };
};

/** The highest index of a quorum, if its entry is of the leader's own term. Its own copy counts when durable. */
const advanceCommitIndex: Action = (node, goal, context) => {
  if (node.role !== "leader") return undefined;
  const held = (index: number): number =>
    [goal.durable, ...Object.values(node.matches)].filter((match) => match >= index).length;
  let index = node.log.length;
  while (index > node.commitIndex && !isQuorum(held(index), context)) index -= 1;
  if (index <= node.commitIndex || termOfText(node.log[index - 1]) !== node.term) return undefined;
  return { ...node, commitIndex: index };
};

/** A term that is only proposed teaches nothing. */
const updateTerm: Action = (node, _, { message }) => {
  if (message === undefined || message.term <= node.term || message.kind === "preVoteRequest")
    return undefined;
  if (message.kind === "preVoteResponse" && message.granted) return undefined;
  return { ...node, term: message.term, role: "follower", votedFor: undefined, votes: [], matches: {} };
};

const handleRequestVoteRequest: Action = (node, _, { message, from }) => {
  if (message?.kind !== "voteRequest" || message.term !== node.term) return undefined;
  const ownTerm = termOfText(node.log.at(-1));
  const isUpToDate =
    message.lastTerm > ownTerm || (message.lastTerm === ownTerm && message.lastIndex >= node.log.length);
  const isFree = node.votedFor === undefined || node.votedFor === from;
  return isUpToDate && isFree ? { ...node, votedFor: from } : undefined;
};

const handleRequestVoteResponse: Action = (node, _, { message, from }) => {
  if (message?.kind !== "voteResponse" || message.term !== node.term || from === undefined) return undefined;
  if (node.role !== "candidate" || !message.granted || node.votes.includes(from)) return undefined;
  return { ...node, votes: [...node.votes, from] };
};

/** A candidate that hears the leader of its own term. A heartbeat is an append without entries. */
const returnToFollower: Action = (node, _, { message }) => {
  const isAppend = message?.kind === "appendRequest" || message?.kind === "heartbeat";
  if (!isAppend || message.term !== node.term || node.role !== "candidate") return undefined;
  return { ...node, role: "follower", votes: [] };
};

function isLogOk(node: AbstractNode, { prevIndex, prevTerm }: AppendRequest): boolean {
  if (prevIndex === 0 || prevIndex < node.commitIndex) return true;
  return prevIndex <= node.log.length && termOfText(node.log[prevIndex - 1]) === prevTerm;
}

/** Removes from the first entry that conflicts on, and appends what is missing. */
const handleAppendEntriesRequest: Action = (node, _, { message }) => {
  if (message?.kind !== "appendRequest" || message.term !== node.term || node.role !== "follower")
    return undefined;
  if (!isLogOk(node, message)) return undefined;
  const { prevIndex, entries } = message;
  const conflict = entries.findIndex(
    (entry, at) => termOfText(node.log[prevIndex + at]) !== (entry.term as number),
  );
  if (conflict < 0 || prevIndex + conflict < node.commitIndex) return undefined;
  const kept = node.log.slice(0, prevIndex + conflict);
  return { ...node, log: [...kept, ...entries.slice(conflict).map(entryText)] };
};

/** Up to what the message says and shows to be equal; of a heartbeat, to what equals the leader's log. */
const learnCommitIndex: Action = (node, goal, { message, leaderLog }) => {
  const { commitIndex } = goal;
  if (node.role !== "follower" || message?.term !== node.term || commitIndex <= node.commitIndex)
    return undefined;
  if (message.kind === "appendRequest") {
    const verified = message.prevIndex + message.entries.length;
    if (!isLogOk(node, message) || commitIndex > Math.min(message.commitIndex, verified)) return undefined;
  } else if (message.kind === "heartbeat") {
    if (commitIndex > message.commitIndex) return undefined;
  } else return undefined;
  for (let at = 0; at < commitIndex; at += 1) if (node.log[at] !== leaderLog[at]) return undefined;
  return { ...node, commitIndex };
};

/** A rejection may begin a new session, in which nothing is known to match yet. */
const handleAppendEntriesResponse: Action = (node, goal, { message, from }) => {
  if (message?.kind !== "appendResponse" || message.term !== node.term || node.role !== "leader")
    return undefined;
  const before = from === undefined ? undefined : node.matches[from];
  const after = from === undefined ? undefined : goal.matches[from];
  if (from === undefined || before === undefined || after === undefined || before === after) return undefined;
  const { result } = message;
  const isLegal =
    result.kind === "matched" ? after > before && after === (result.matchIndex as number) : after === 0;
  return isLegal ? { ...node, matches: { ...node.matches, [from]: after } } : undefined;
};

/**
 * Not in the published specification: a leader that a quorum does not answer, or a candidate that cannot win, gives
 * up. It then does less than the specification lets it, so nothing new becomes possible.
 */
const giveUp: Action = (node) =>
  node.role === "follower" ? undefined : { ...node, role: "follower", votes: [], matches: {} };

export const actions: Readonly<Record<string, Action>> = {
  Timeout: timeout,
  CountOwnVote: countOwnVote,
  BecomeLeader: becomeLeader,
  ClientRequest: clientRequest,
  AdvanceCommitIndex: advanceCommitIndex,
  UpdateTerm: updateTerm,
  HandleRequestVoteRequest: handleRequestVoteRequest,
  HandleRequestVoteResponse: handleRequestVoteResponse,
  ReturnToFollower: returnToFollower,
  HandleAppendEntriesRequest: handleAppendEntriesRequest,
  LearnCommitIndex: learnCommitIndex,
  HandleAppendEntriesResponse: handleAppendEntriesResponse,
  GiveUp: giveUp,
};
