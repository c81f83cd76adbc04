/** Messages as a peer would send them, with what a test does not care about filled in. */
import { asIndex, asTerm, type Entry, type Message } from "@quorate/raft";
import { bytes } from "./cluster.ts";

type Of<K extends Message["kind"]> = Extract<Message, { kind: K }>;

export function heartbeat(
  term: number,
  more: Partial<{ session: number; token: number; commit: number }> = {},
): Message {
  const { session = 1, token = 0, commit = 0 } = more;
  return { kind: "heartbeat", term: asTerm(term), session, commitIndex: asIndex(commit), token };
}

export function append(
  term: number,
  prev: readonly [index: number, term: number],
  entries: readonly Entry[],
  more: Partial<{ session: number; commit: number }> = {},
): Message {
  const { session = 1, commit = 0 } = more;
  return {
    kind: "appendRequest",
    term: asTerm(term),
    session,
    prevIndex: asIndex(prev[0]),
    prevTerm: asTerm(prev[1]),
    commitIndex: asIndex(commit),
    entries,
  };
}

/** Entries of these terms that follow index `after`. */
export function entriesAfter(after: number, terms: readonly number[]): Entry[] {
  return terms.map((term, offset) => {
    const index = asIndex(after + 1 + offset);
    return { term: asTerm(term), index, kind: "command" as const, data: bytes(`${term}:${index}`) };
  });
}

export function voteRequest(term: number, lastTerm = 99, lastIndex = 0): Of<"voteRequest"> {
  return {
    kind: "voteRequest",
    term: asTerm(term),
    lastTerm: asTerm(lastTerm),
    lastIndex: asIndex(lastIndex),
    transfer: false,
  };
}

export function preVoteRequest(term: number, lastTerm = 99, lastIndex = 0): Of<"preVoteRequest"> {
  return { ...voteRequest(term, lastTerm, lastIndex), kind: "preVoteRequest" };
}

export function preVote(term: number, granted = true): Of<"preVoteResponse"> {
  return { kind: "preVoteResponse", term: asTerm(term), granted };
}

export function vote(term: number, granted = true): Of<"voteResponse"> {
  return { kind: "voteResponse", term: asTerm(term), granted };
}

export function matched(term: number, matchIndex: number, session = 1): Of<"appendResponse"> {
  const result = { kind: "matched", matchIndex: asIndex(matchIndex) } as const;
  return { kind: "appendResponse", term: asTerm(term), session, result };
}

export function rejected(
  term: number,
  rejectedIndex: number,
  hint: readonly [index: number, term: number],
  session = 1,
): Of<"appendResponse"> {
  const result = {
    kind: "rejected",
    rejectedIndex: asIndex(rejectedIndex),
    hintIndex: asIndex(hint[0]),
    hintTerm: asTerm(hint[1]),
  } as const;
  return { kind: "appendResponse", term: asTerm(term), session, result };
}

export function heartbeatResponse(
  term: number,
  more: Partial<{ session: number; token: number }> = {},
): Message {
  const { session = 1, token = 0 } = more;
  return { kind: "heartbeatResponse", term: asTerm(term), session, token };
}
