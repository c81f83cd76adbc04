/** A member that lost acknowledged entries is mute until its durable log has regained them. */
import { asIndex, asTerm, type Floor } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  createCluster,
  entriesOf,
  finishWrite,
  nodeOf,
  receive,
  timeOut,
} from "./cluster.ts";
import { append, entriesAfter, matched, preVote, preVoteRequest, vote, voteRequest } from "./messages.ts";
import { queued } from "./views.ts";

const floor: Floor = { lastIndex: asIndex(3), lastTerm: asTerm(2) };

function mute(terms: readonly number[] = []): Cluster {
  return createCluster({
    nodes: ["a", "b", "c"],
    disks: { a: { floor, entries: entriesOf(terms), term: asTerm(2) } },
  });
}

describe("below its floor", () => {
  it("a member grants no vote and no pre-vote, and says so", () => {
    const cluster = mute();
    receive(cluster, "a", "b", preVoteRequest(3));
    receive(cluster, "a", "b", voteRequest(3));
    expect(cluster.queue.map(({ message }) => message)).toEqual([preVote(2, false), vote(3, false)]);
    expect(nodeOf(cluster, "a").disk).toMatchObject({ term: 3, vote: undefined, floor });
  });

  it("never campaigns, not even as the sole voter", () => {
    const cluster = mute();
    for (let round = 0; round < 10; round += 1) timeOut(cluster, "a");
    expect(nodeOf(cluster, "a").state.role).toBe("follower");
    expect(cluster.queue).toEqual([]);
    const alone = createCluster({ nodes: ["a"], disks: { a: { floor } } });
    advance(alone, 2000);
    expect(nodeOf(alone, "a").state.role).toBe("follower");
  });

  it("forgets a leader that is silent", () => {
    const cluster = mute();
    receive(cluster, "a", "b", append(2, [0, 0], []));
    timeOut(cluster, "a");
    expect(nodeOf(cluster, "a").state.leader).toBeUndefined();
  });

  it("takes entries and acknowledges them truthfully", () => {
    const cluster = mute();
    receive(cluster, "a", "b", append(2, [0, 0], entriesAfter(0, [1, 1])));
    expect(queued(cluster, "appendResponse")).toEqual([matched(2, 0), matched(2, 2)]);
  });

  it("two of three mute members leave the cluster without a leader", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], disks: { a: { floor }, b: { floor } } });
    advance(cluster, 3000);
    for (const { state } of cluster.nodes.values()) expect(state.role).not.toBe("leader");
  });
});

describe("the floor is reached", () => {
  it("by the index, once the entries are durable, and the next write says so at once", () => {
    const cluster = mute();
    cluster.slowDisks.add("a");
    const node = nodeOf(cluster, "a");
    receive(cluster, "a", "b", append(2, [0, 0], entriesAfter(0, [1, 1, 2])));
    expect(node.state.floor).toEqual(floor);
    receive(cluster, "a", "c", preVoteRequest(3, 9, 9));
    expect(queued(cluster, "preVoteResponse")).toEqual([preVote(2, false)]);
    const effects = finishWrite(cluster, "a");
    expect(effects.persist).toMatchObject({ floor: undefined, entries: [], truncateFrom: undefined });
    finishWrite(cluster, "a");
    expect(node.disk.floor).toBeUndefined();
    timeOut(cluster, "a");
    expect(node.state.role).toBe("preCandidate");
  });

  it("by the index, but not by entries that are only in memory when another write completes", () => {
    const cluster = mute();
    cluster.slowDisks.add("a");
    receive(cluster, "a", "b", append(2, [0, 0], entriesAfter(0, [1, 1])));
    receive(cluster, "a", "b", append(2, [2, 1], entriesAfter(2, [2])));
    finishWrite(cluster, "a");
    expect(nodeOf(cluster, "a").state.floor).toEqual(floor);
    finishWrite(cluster, "a");
    expect(nodeOf(cluster, "a").state.floor).toBeUndefined();
  });

  it("by a last term above the floor's", () => {
    const cluster = mute();
    receive(cluster, "a", "b", append(3, [0, 0], entriesAfter(0, [1])));
    expect(nodeOf(cluster, "a").disk.floor).toEqual(floor);
    receive(cluster, "a", "b", append(3, [1, 1], entriesAfter(1, [3])));
    expect(nodeOf(cluster, "a").disk.floor).toBeUndefined();
  });

  it("already when the directory is opened, if the log is long enough", () => {
    const cluster = mute([1, 1, 2]);
    expect(nodeOf(cluster, "a").state.floor).toBeUndefined();
    expect(nodeOf(cluster, "a").disk.floor).toBeUndefined();
  });

  it("in a cluster: the mute member catches up and then votes like any other", () => {
    const full = entriesOf([1, 1, 2]);
    const cluster = createCluster({
      nodes: ["a", "b", "c"],
      disks: { a: { floor }, b: { entries: full }, c: { entries: full } },
    });
    campaign(cluster, "b");
    advance(cluster, 200);
    expect(nodeOf(cluster, "a").disk).toMatchObject({ floor: undefined, term: 3 });
    expect(nodeOf(cluster, "a").disk.entries).toHaveLength(4);
    cluster.nowMs += 151;
    receive(cluster, "a", "c", voteRequest(4));
    expect(queued(cluster, "voteResponse", "c")).toEqual([vote(4)]);
  });
});
