/**
 * Follows a cluster of cores step by step and holds each step against the specification: it must be no more than
 * three of its actions, and every message that leaves must be one that the specification sends.
 *
 * The network needs no action: messages may be lost, doubled or late at will, since what was sent is remembered and
 * never forgotten.
 */
import type { MemberId, Message } from "@quorate/raft";
import { type Cluster, type Flight, type Node, nameOf } from "../core/cluster.ts";
import { type AbstractNode, abstractOf, entryText, same, storedOf, termOfText } from "./abstractState.ts";
import { actions, type Context } from "./actions.ts";

const mostActions = 3;

export interface Shadow {
  readonly voters: readonly MemberId[];
  readonly nodes: Map<MemberId, AbstractNode>;
  /** By term: who led it and the log that it had, which only grew. */
  readonly leaders: Map<number, { readonly id: MemberId; log: readonly string[]; commitIndex: number }>;
  /** By node and term. */
  readonly candidacies: Map<string, { readonly lastIndex: number; readonly lastTerm: number }>;
  readonly votes: Map<string, MemberId>;
  /** The message that the next turn takes in. */
  receiving: Flight | undefined;
  /** How often each action, or none, was a part of a step. */
  readonly counts: Map<string, number>;
}

export function followCluster(cluster: Cluster): Shadow {
  const nodes = new Map([...cluster.nodes.values()].map((node) => [node.id, abstractOf(node)]));
  const shadow: Shadow = {
    voters: [...nodes.keys()],
    nodes,
    leaders: new Map(),
    candidacies: new Map(),
    votes: new Map(),
    receiving: undefined,
    counts: new Map(),
  };
  cluster.observe = (node) => observe(shadow, node);
  return shadow;
}

function observe(shadow: Shadow, node: Node): void {
  const { receiving } = shadow;
  shadow.receiving = undefined;
  const before = shadow.nodes.get(node.id)!;
  const after = abstractOf(node);
  const message = receiving?.message;
  const leaderLog = shadow.leaders.get(message?.term ?? 0)?.log ?? [];
  const context = { self: node.id, voters: shadow.voters, from: receiving?.from, message, leaderLog };
  // A new leader appends what was kept for it behind its no-op, each a request of its own.
  const most = mostActions + Math.max(0, after.log.length - before.log.length - 1);
  const path = explain(before, after, context, after.role === "leader" ? most : mostActions);
  if (path === undefined) {
    const step = JSON.stringify({ node: nameOf(node.id), before, message, after }, null, 1);
    throw new Error(`No ${mostActions} actions of the specification make this step: ${step}`);
  }
  count(shadow, path.length === 0 ? ["Stutter"] : path);
  shadow.nodes.set(node.id, after);
  remember(shadow, node.id, before, after);
  for (const envelope of node.effects.send) checkSent(shadow, node.id, after, envelope.to, envelope.message);
}

function count(shadow: Shadow, names: readonly string[]): void {
  for (const name of names) shadow.counts.set(name, (shadow.counts.get(name) ?? 0) + 1);
}

/** The fewest actions that lead from one state to the other; undefined when `most` do not suffice. */
export function explain(
  before: AbstractNode,
  after: AbstractNode,
  context: Context,
  most: number,
): readonly string[] | undefined {
  let front: { node: AbstractNode; path: readonly string[] }[] = [{ node: before, path: [] }];
  for (let length = 0; ; length += 1) {
    for (const { node, path } of front) if (same(node, after)) return path;
    if (length === most) return undefined;
    front = front.flatMap(({ node, path }) =>
      Object.entries(actions).flatMap(([name, action]) => {
        const next = action(node, after, context);
        return next === undefined ? [] : [{ node: next, path: [...path, name] }];
      }),
    );
  }
}

function remember(shadow: Shadow, id: MemberId, before: AbstractNode, after: AbstractNode): void {
  const { term, role, votedFor, log, commitIndex } = after;
  const key = `${id}/${term}`;
  if (role === "candidate" && (before.role !== "candidate" || before.term !== term)) {
    shadow.candidacies.set(key, { lastIndex: log.length, lastTerm: termOfText(log.at(-1)) });
  }
  if (votedFor !== undefined) shadow.votes.set(key, votedFor);
  if (role !== "leader") return;
  const known = shadow.leaders.get(term);
  if (known !== undefined && known.id !== id) throw new Error(`two leaders in term ${term}`);
  shadow.leaders.set(term, { id, log, commitIndex });
}

/** The process died and started: term, vote and log are what the disk had, all else is forgotten. */
export function noteRestart(shadow: Shadow, node: Node): void {
  const after = abstractOf(node);
  if (!same(after, storedOf(node))) throw new Error(`${nameOf(node.id)} did not restart from its disk`);
  shadow.nodes.set(node.id, after);
  count(shadow, ["Restart"]);
}

function must(holds: boolean, sentence: string, data: unknown): void {
  if (!holds) throw new Error(`${sentence}: ${JSON.stringify(data)}`);
}

/** A message may have waited for the disk: it is held against what the sender was when it made it. */
function checkSent(shadow: Shadow, from: MemberId, node: AbstractNode, to: MemberId, message: Message): void {
  const { term } = message;
  const leader = shadow.leaders.get(term);
  switch (message.kind) {
    case "voteRequest": {
      const asked = shadow.candidacies.get(`${from}/${term}`);
      const { lastIndex, lastTerm } = message;
      must(
        asked?.lastIndex === lastIndex && asked.lastTerm === lastTerm,
        "RequestVote of a candidate",
        message,
      );
      return;
    }
    case "voteResponse":
      must(!message.granted || shadow.votes.get(`${from}/${term}`) === to, "a vote that was given", message);
      return;
    case "appendRequest": {
      const { prevIndex, prevTerm, entries, commitIndex } = message;
      must(leader?.id === from, "AppendEntries of the leader", message);
      const log = leader?.log ?? [];
      must(prevIndex === 0 || termOfText(log[prevIndex - 1]) === prevTerm, "prevLogTerm", message);
      const isPart = entries.every((entry, at) => log[prevIndex + at] === entryText(entry));
      must(isPart && commitIndex <= (leader?.commitIndex ?? 0), "a part of the leader's log", message);
      return;
    }
    case "heartbeat":
      must(leader?.id === from && message.commitIndex <= leader.commitIndex, "a leader's heartbeat", message);
      return;
    case "appendResponse": {
      if (message.result.kind !== "matched" || term !== node.term) return;
      const { matchIndex } = message.result;
      const isEqual = node.log.slice(0, matchIndex).every((text, at) => leader?.log[at] === text);
      must(isEqual && matchIndex <= node.durable, "a match is a durable, equal log", { message, node });
      return;
    }
    default:
      return; // extensions: they carry neither votes nor entries
  }
}
