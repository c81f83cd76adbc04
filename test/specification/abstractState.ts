/**
 * A node as the published specification of Raft sees it: term, role, vote, log, commit index, votes, matches.
 *
 * What the core adds (pre-vote, heartbeats, sessions, reads, flow control) is not in it: such steps change nothing.
 * A pre-candidate is a follower, for it has neither a new term nor a vote.
 */
import { cachedEntries, type Entry, type MemberId, type RaftState, type Term } from "@quorate/raft";
import type { Node } from "../core/cluster.ts";

export interface AbstractNode {
  readonly term: Term;
  readonly role: "follower" | "candidate" | "leader";
  readonly votedFor: MemberId | undefined;
  readonly log: readonly string[];
  readonly commitIndex: number;
  /** Of a candidate: who gave it a vote that counts. */
  readonly votes: readonly MemberId[];
  /** Of a leader: by follower. */
  readonly matches: Readonly<Record<MemberId, number>>;
  /** What the own disk holds of the log: a node's own match. */
  readonly durable: number;
}

export function entryText(entry: Entry): string {
  return `${entry.term}:${entry.kind}:${String.fromCharCode(...entry.data)}`;
}

export function termOfText(text: string | undefined): number {
  return text === undefined ? 0 : Number.parseInt(text, 10);
}

export function abstractOf({ state, disk }: Node): AbstractNode {
  const log: string[] = [];
  for (let index = 1; index <= state.log.lastIndex; index += 1) {
    const at = index as Entry["index"];
    log.push(entryText(cachedEntries(state, at, at, 1)?.[0] ?? disk.entries[index - 1]!));
  }
  const { currentTerm: term, vote: votedFor, commitIndex, role } = state;
  return {
    term,
    role: role === "preCandidate" ? "follower" : role,
    votedFor,
    log,
    commitIndex,
    votes: role === "candidate" ? votesOf(state) : [],
    matches: matchesOf(state),
    durable: state.disk.durableIndex,
  };
}

function votesOf(state: RaftState): MemberId[] {
  return [...state.election.votes].filter(([, granted]) => granted).map(([id]) => id);
}

function matchesOf({ leading }: RaftState): Record<MemberId, number> {
  const matches: Record<MemberId, number> = {};
  for (const [id, peer] of leading?.peers ?? []) matches[id] = peer.match;
  return matches;
}

/** What the disk gives back after a crash. */
export function storedOf({ disk }: Node): AbstractNode {
  const log = disk.entries.map(entryText);
  return {
    term: disk.term,
    role: "follower",
    votedFor: disk.vote,
    log,
    commitIndex: 0,
    votes: [],
    matches: {},
    durable: log.length,
  };
}

export function same(one: AbstractNode, other: AbstractNode): boolean {
  return keyOf(one) === keyOf(other);
}

/** `durable` follows the disk and is no variable of the specification. */
function keyOf({ term, role, votedFor, log, commitIndex, votes, matches }: AbstractNode): string {
  const sorted = Object.entries(matches).sort();
  return JSON.stringify([term, role, votedFor, log, commitIndex, [...votes].sort(), sorted]);
}
