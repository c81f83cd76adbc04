/** What tests look at: logs as rows of terms, messages under way by kind, who leads. Nothing here changes a cluster. */
import type { Effects, Entry, Index, Message } from "@quorate/raft";
import { type Cluster, type Flight, type Node, nameOf, nodeOf } from "./cluster.ts";

export function termsOf(node: Node): number[] {
  const terms: number[] = [];
  for (const [at, run] of node.state.log.runs.entries()) {
    const end = node.state.log.runs[at + 1]?.firstIndex ?? node.state.log.lastIndex + 1;
    for (let index: number = run.firstIndex; index < end; index += 1) terms.push(run.term);
  }
  return terms;
}

export function textOf(entry: Entry): string {
  return entry.kind === "command" ? new TextDecoder().decode(entry.data) : entry.kind;
}

export function isKind<K extends Message["kind"]>(
  kind: K,
): (message: Message) => message is Extract<Message, { kind: K }> {
  return (message): message is Extract<Message, { kind: K }> => message.kind === kind;
}

/** The messages of one kind among what a turn sent. */
export function sentOf<K extends Message["kind"]>(
  effects: Effects,
  kind: K,
): Extract<Message, { kind: K }>[] {
  return effects.send.map(({ message }) => message).filter(isKind(kind));
}

/** The messages of one kind that are under way, optionally to one node only. */
export function queued<K extends Message["kind"]>(
  cluster: Cluster,
  kind: K,
  to?: string,
): Extract<Message, { kind: K }>[] {
  return cluster.queue
    .filter((flight) => to === undefined || nameOf(flight.to) === to)
    .map(({ message }) => message)
    .filter(isKind(kind));
}

/** Takes the messages that `which` names out of the queue, for later. */
export function hold(cluster: Cluster, which: (flight: Flight) => boolean): Flight[] {
  const held = cluster.queue.filter(which);
  cluster.queue = cluster.queue.filter((flight) => !which(flight));
  return held;
}

export function leaderOf(cluster: Cluster): Node | undefined {
  let found: Node | undefined;
  for (const node of cluster.nodes.values()) {
    if (!node.up || node.state.role !== "leader") continue;
    if (found === undefined || node.state.currentTerm > found.state.currentTerm) found = node;
  }
  return found;
}

export function commitOf(cluster: Cluster, name: string): Index {
  return nodeOf(cluster, name).state.commitIndex;
}
