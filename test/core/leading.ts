/** A leader whose follower b is played by the test: what it sends to it, and what it knows of it. */
import type { Effects, Progress } from "@quorate/raft";
import { expect } from "vitest";
import { type Cluster, type ClusterOptions, createCluster, idOf, nodeOf, receive, turn } from "./cluster.ts";
import { heartbeatResponse, matched, preVote, rejected, vote } from "./messages.ts";
import { sentOf } from "./views.ts";

/** `a` leads term 1, or one more than its log's last; the test plays b. */
export function leading(more: Partial<ClusterOptions> = {}): Cluster {
  const cluster = createCluster({ nodes: ["a", "b", "c"], ...more });
  const term = nodeOf(cluster, "a").state.currentTerm + 1;
  for (let guard = 0; nodeOf(cluster, "a").state.role === "follower" && guard < 20; guard += 1) {
    cluster.nowMs += 50;
    turn(cluster, "a", { kind: "tick" });
  }
  receive(cluster, "a", "c", preVote(term));
  receive(cluster, "a", "c", vote(term));
  expect(nodeOf(cluster, "a").state.role).toBe("leader");
  return cluster;
}

export function peer(cluster: Cluster, name = "b"): Progress {
  return nodeOf(cluster, "a").state.leading!.peers.get(idOf(name))!;
}

/** What the last turn of `a` sent to b in appends: [prevIndex, number of entries]. */
export function appends(effects: Effects): [number, number][] {
  const toB = effects.send.filter(({ to }) => to === idOf("b"));
  return sentOf({ ...effects, send: toB }, "appendRequest").map(({ prevIndex, entries }) => [
    prevIndex,
    entries.length,
  ]);
}

export function replicating(more: Partial<ClusterOptions> = {}): Cluster {
  const cluster = leading(more);
  receive(cluster, "a", "b", matched(1, 1, peer(cluster).session));
  expect(peer(cluster)).toMatchObject({ mode: "replicate", match: 1, next: 2, inflight: [] });
  return cluster;
}

/** b answers a heartbeat in the session that `a` is in. */
export function beat(cluster: Cluster, term = 1): Effects {
  return receive(cluster, "a", "b", heartbeatResponse(term, { session: peer(cluster).session }));
}

export function reject(cluster: Cluster, index: number, hint: readonly [number, number], term = 1): Effects {
  return receive(cluster, "a", "b", rejected(term, index, hint, peer(cluster).session));
}
