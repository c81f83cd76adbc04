/**
 * Leadership transfer, rule 33: to whom it may go, what waits meanwhile, and that nothing of it stays behind.
 *
 * The cases are those of etcd's raft_test (TransferLeadership*), in our own words, and what other projects learnt.
 */
import { asTerm, memberId, type NodeId } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  crash,
  createCluster,
  deliver,
  finishWrite,
  heal,
  idOf,
  nodeOf,
  partition,
  propose,
  receive,
  settle,
  transfer,
  turn,
} from "./cluster.ts";
import { voteRequest } from "./messages.ts";
import { queued } from "./views.ts";

const names = ["a", "b", "c"];

/** Led by a in term 1, everything committed and applied everywhere. */
function ledByA(nodes: readonly string[] = names): Cluster {
  const cluster = createCluster({ nodes });
  campaign(cluster, "a");
  advance(cluster, 100);
  expect(nodeOf(cluster, "a").state).toMatchObject({ role: "leader", currentTerm: 1 });
  return cluster;
}

function leaders(cluster: Cluster): readonly string[] {
  return [...cluster.nodes].filter(([, { state }]) => state.role === "leader").map(([name]) => name);
}

function transfersOf(cluster: Cluster, name: string): readonly unknown[] {
  return nodeOf(cluster, name).transfers;
}

describe("a transfer", () => {
  it("to a voter that has everything takes no more than an election, and no time", () => {
    const cluster = ledByA();
    transfer(cluster, "a", "b");
    settle(cluster);
    expect(leaders(cluster)).toEqual(["b"]);
    expect(nodeOf(cluster, "b").state.currentTerm).toBe(2);
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "follower", leader: idOf("b") });
    expect(transfersOf(cluster, "a")).toEqual([{ kind: "handedOver", id: 1 }]);
  });

  it("goes back in the same way", () => {
    const cluster = ledByA();
    transfer(cluster, "a", "b");
    settle(cluster);
    transfer(cluster, "b", "a");
    settle(cluster);
    expect(leaders(cluster)).toEqual(["a"]);
    expect(nodeOf(cluster, "a").state.currentTerm).toBe(3);
  });

  it("without a target goes to the voter with the highest match among those that were heard lately", () => {
    const cluster = ledByA([..."abcde"]);
    cluster.drop = ({ from, to }) => [from, to].some((id) => id === idOf("b") || id === idOf("e"));
    propose(cluster, "a", "not at b and e");
    advance(cluster, 200);
    transfer(cluster, "a");
    settle(cluster);
    expect(leaders(cluster)).toEqual(["c"]);
  });

  it("is not undone by heartbeats of the old leader, for it asks for no pre-vote (canonical/raft#203)", () => {
    const cluster = ledByA();
    transfer(cluster, "a", "b");
    const kinds: string[] = [];
    cluster.observe = (node) => kinds.push(...node.effects.send.map(({ message }) => message.kind));
    advance(cluster, 100);
    expect(leaders(cluster)).toEqual(["b"]);
    expect(kinds).not.toContain("preVoteRequest");
  });

  it("brings a target up to date that lags, before it is told", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "b"]);
    for (let at = 0; at < 5; at += 1) propose(cluster, "a", `entry ${at}`, at);
    advance(cluster, 60);
    heal(cluster);
    transfer(cluster, "a", "c");
    expect(cluster.queue.map(({ message }) => message.kind)).not.toContain("timeoutNow");
    advance(cluster, 200);
    expect(leaders(cluster)).toEqual(["c"]);
    expect(nodeOf(cluster, "c").applied.length).toBeGreaterThanOrEqual(6);
  });

  it("waits until everything is committed, so that no write is left without an outcome", () => {
    const cluster = ledByA([..."abcde"]);
    cluster.drop = ({ from, to }) =>
      [from, to].some((id) => ["c", "d", "e"].some((name) => id === idOf(name)));
    propose(cluster, "a", "only at a and b");
    settle(cluster);
    transfer(cluster, "a", "b");
    expect(cluster.queue.map(({ message }) => message.kind)).not.toContain("timeoutNow");
    heal(cluster);
    advance(cluster, 200);
    expect(leaders(cluster)).toEqual(["b"]);
    expect(nodeOf(cluster, "a").proposals).toEqual([{ kind: "appended", id: 0, index: 2, term: 1 }]);
    expect(nodeOf(cluster, "a").applied.map(({ index }) => index)).toContain(2);
  });

  it("tells the target again at the next heartbeat when that was lost", () => {
    const cluster = ledByA();
    cluster.drop = ({ message }) => message.kind === "timeoutNow";
    transfer(cluster, "a", "b");
    settle(cluster);
    expect(leaders(cluster)).toEqual(["a"]);
    heal(cluster);
    advance(cluster, 60);
    expect(leaders(cluster)).toEqual(["b"]);
  });

  it("makes a target campaign that hears its leader, and voters vote that hear theirs", () => {
    const cluster = ledByA();
    transfer(cluster, "a", "b");
    settle(cluster);
    expect(nodeOf(cluster, "c").state).toMatchObject({ vote: idOf("b"), leader: idOf("b"), currentTerm: 2 });
  });
});

describe("proposals during a transfer", () => {
  it("wait, and are refused with nothing done once the successor is asking for votes (hashicorp/raft#581)", () => {
    const cluster = ledByA();
    cluster.slowDisks.add("b");
    transfer(cluster, "a", "b");
    propose(cluster, "a", "too late", 7);
    expect(nodeOf(cluster, "a").proposals).toEqual([]);
    settle(cluster);
    finishWrite(cluster, "b");
    settle(cluster);
    expect(nodeOf(cluster, "a").proposals).toEqual([{ kind: "refused", id: 7, reason: "handedOver" }]);
    expect(nodeOf(cluster, "a").disk.entries.map(({ kind }) => kind)).toEqual(["noop", "noop"]);
  });

  it("go on in their order when it comes to nothing", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "c"]);
    transfer(cluster, "a", "b");
    propose(cluster, "a", "first", 1);
    propose(cluster, "a", "second", 2);
    advance(cluster, 299);
    expect(nodeOf(cluster, "a").proposals).toEqual([]);
    advance(cluster, 1);
    expect(nodeOf(cluster, "a").proposals).toEqual([
      { kind: "appended", id: 1, index: 2, term: 1 },
      { kind: "appended", id: 2, index: 3, term: 1 },
    ]);
    expect(nodeOf(cluster, "a").state.commitIndex).toBe(3);
    expect(transfersOf(cluster, "a")).toEqual([{ kind: "aborted", id: 1, reason: "timedOut" }]);
  });

  it("are as many as may be uncommitted, and more are refused", () => {
    const cluster = createCluster({
      nodes: names,
      core: { maxUncommittedEntries: 2, maxUncommittedBytes: 8 },
    });
    campaign(cluster, "a");
    partition(cluster, ["a", "c"]);
    transfer(cluster, "a", "b");
    propose(cluster, "a", "123456", 1);
    propose(cluster, "a", "789", 2);
    propose(cluster, "a", "78", 3);
    propose(cluster, "a", "", 4);
    const refused = (id: number): unknown => ({ kind: "refused", id, reason: "overloaded" });
    expect(nodeOf(cluster, "a").proposals).toEqual([refused(2), refused(4)]);
  });
});

describe("a transfer ends", () => {
  it("after one election timeout, and writes go on within two: the target is dead", () => {
    const cluster = ledByA();
    crash(cluster, "b");
    transfer(cluster, "a", "b");
    propose(cluster, "a", "held", 9);
    advance(cluster, 600);
    expect(transfersOf(cluster, "a")).toEqual([{ kind: "aborted", id: 1, reason: "timedOut" }]);
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "leader", currentTerm: 1, commitIndex: 2 });
  });

  it("at once when the connection of the target is lost", () => {
    const cluster = ledByA();
    crash(cluster, "b");
    transfer(cluster, "a", "b");
    propose(cluster, "a", "held", 9);
    turn(cluster, "a", { kind: "peerLost", peer: idOf("b") });
    settle(cluster);
    expect(transfersOf(cluster, "a")).toEqual([{ kind: "aborted", id: 1, reason: "targetLost" }]);
    expect(nodeOf(cluster, "a").state.commitIndex).toBe(2);
  });

  it("with the office, when another node asks for votes in a higher term", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "c"]);
    propose(cluster, "a", "b lacks it", 8);
    settle(cluster);
    transfer(cluster, "a", "b");
    propose(cluster, "a", "held", 9);
    receive(cluster, "a", "c", { ...voteRequest(5, 1, 2), transfer: true });
    expect(nodeOf(cluster, "a").state.role).toBe("follower");
    expect(transfersOf(cluster, "a")).toEqual([{ kind: "aborted", id: 1, reason: "leadershipLost" }]);
    expect(nodeOf(cluster, "a").proposals.at(-1)).toEqual({ kind: "refused", id: 9, reason: "notLeader" });
  });

  it("and nothing of it is left when the node leads again (hashicorp/raft#696)", () => {
    const cluster = ledByA();
    cluster.drop = ({ to, from }) => [to, from].includes(idOf("b"));
    transfer(cluster, "a", "b");
    receive(cluster, "a", "c", { ...voteRequest(5, 1, 1), transfer: true });
    heal(cluster);
    cluster.queue = [];
    campaign(cluster, "a");
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
    expect(nodeOf(cluster, "a").state.leading?.transfer).toBeUndefined();
    propose(cluster, "a", "is taken", 3);
    settle(cluster);
    expect(nodeOf(cluster, "a").proposals.at(-1)).toMatchObject({ kind: "appended", id: 3 });
    expect(nodeOf(cluster, "a").applied.at(-1)?.kind).toBe("command");
  });
});

describe("a request for a transfer", () => {
  it("is refused by a node that does not lead", () => {
    const cluster = ledByA();
    transfer(cluster, "b", "c");
    expect(transfersOf(cluster, "b")).toEqual([{ kind: "refused", id: 1, reason: "notLeader" }]);
  });

  it("to the leader itself is fulfilled at once, and ends the one under way", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "c"]);
    transfer(cluster, "a", "b", 1);
    propose(cluster, "a", "held", 9);
    transfer(cluster, "a", "a", 2);
    settle(cluster);
    expect(transfersOf(cluster, "a")).toEqual([
      { kind: "aborted", id: 1, reason: "superseded" },
      { kind: "handedOver", id: 2 },
    ]);
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "leader", commitIndex: 2 });
  });

  it("to a node that is no voter is refused, another directory of a voter included, and the one under way goes on", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "c"]);
    transfer(cluster, "a", "b", 1);
    transfer(cluster, "a", "x", 2);
    const wiped = memberId("c" as NodeId, "fedcba9876543210");
    turn(cluster, "a", { kind: "transferRequested", id: 3, target: wiped });
    expect(transfersOf(cluster, "a")).toEqual([
      { kind: "refused", id: 2, reason: "notVoter" },
      { kind: "refused", id: 3, reason: "notVoter" },
    ]);
    expect(nodeOf(cluster, "a").state.leading?.transfer?.target).toBe(idOf("b"));
  });

  it("is refused where nobody else has a vote", () => {
    const cluster = createCluster({ nodes: ["a"] });
    advance(cluster, 10);
    transfer(cluster, "a");
    expect(transfersOf(cluster, "a")).toEqual([{ kind: "refused", id: 1, reason: "nobodyElse" }]);
  });

  it("to the same target joins the one under way, without more time for it", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "c"]);
    transfer(cluster, "a", "b", 1);
    advance(cluster, 200);
    transfer(cluster, "a", "b", 2);
    transfer(cluster, "a", undefined, 3);
    advance(cluster, 100);
    const aborted = (id: number): unknown => ({ kind: "aborted", id, reason: "timedOut" });
    expect(transfersOf(cluster, "a")).toEqual([aborted(1), aborted(2), aborted(3)]);
  });

  it("is joined by 64 at most", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "c"]);
    for (let id = 1; id <= 65; id += 1) transfer(cluster, "a", "b", id);
    expect(transfersOf(cluster, "a")).toEqual([{ kind: "refused", id: 65, reason: "overloaded" }]);
  });

  it("to another target takes the place of the one under way", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "c"]);
    transfer(cluster, "a", "b", 1);
    propose(cluster, "a", "goes on first", 9);
    transfer(cluster, "a", "c", 2);
    settle(cluster);
    expect(transfersOf(cluster, "a")).toEqual([
      { kind: "aborted", id: 1, reason: "superseded" },
      { kind: "handedOver", id: 2 },
    ]);
    expect(leaders(cluster)).toEqual(["c"]);
    expect(nodeOf(cluster, "c").applied.filter(({ kind }) => kind === "command")).toHaveLength(1);
  });
});

describe("a read that is asked right after a transfer", () => {
  it("waits for the no-op of the new leader, and sees what the old one acknowledged (tikv#9351, raft-rs#169)", () => {
    const cluster = ledByA();
    propose(cluster, "a", "x", 7);
    transfer(cluster, "a", "b");
    const b = nodeOf(cluster, "b");
    while (b.state.role !== "leader" && cluster.queue.length > 0) deliver(cluster, cluster.queue.shift()!);
    const acknowledged = nodeOf(cluster, "a").state.commitIndex;
    expect([b.state.role, acknowledged]).toEqual(["leader", 2]);
    turn(cluster, "b", { kind: "readRequested", id: 5 });
    expect([b.state.commitIndex < acknowledged + 1, b.reads]).toEqual([true, []]);
    settle(cluster);
    expect(b.reads).toMatchObject([{ kind: "confirmed", id: 5, index: acknowledged + 1 }]);
  });

  it("of the old leader, which does not know yet that it was succeeded, is not confirmed (tikv#1593)", () => {
    const cluster = ledByA();
    transfer(cluster, "a", "b");
    const b = nodeOf(cluster, "b");
    while (b.state.role === "follower") deliver(cluster, cluster.queue.shift()!);
    partition(cluster, ["a"], ["b", "c"]);
    const underWay = cluster.queue.splice(0).filter(({ to }) => to !== idOf("a"));
    cluster.queue.push(...underWay);
    settle(cluster);
    expect(leaders(cluster)).toEqual(["a", "b"]);
    turn(cluster, "a", { kind: "readRequested", id: 5 });
    advance(cluster, 100);
    expect(nodeOf(cluster, "a").reads).toEqual([]);
  });
});

describe("who is told to campaign", () => {
  const now = (lastIndex: number, lastTerm: number, term = 1): never =>
    ({ kind: "timeoutNow", term: asTerm(term), lastIndex, lastTerm }) as never;

  it("does not while its log lacks the leader's last entry", () => {
    const cluster = ledByA();
    receive(cluster, "b", "a", now(2, 1));
    receive(cluster, "b", "a", now(1, 7));
    expect(nodeOf(cluster, "b").state).toMatchObject({ role: "follower", currentTerm: 1 });
  });

  it("asks for no vote before its log is flushed (openraft#1805)", () => {
    const cluster = ledByA();
    cluster.slowDisks.add("b");
    propose(cluster, "a", "x", 7);
    settle(cluster);
    const b = nodeOf(cluster, "b");
    expect([b.state.log.lastIndex, b.disk.entries.length]).toEqual([2, 1]);
    transfer(cluster, "a", "b");
    settle(cluster);
    expect(b.state.role, "the leader tells nobody who has not acknowledged all").toBe("follower");
    receive(cluster, "b", "a", now(2, 1));
    expect(b.state.role).toBe("candidate");
    expect(queued(cluster, "voteRequest")).toEqual([]);
    finishWrite(cluster, "b");
    expect([b.disk.entries.length, queued(cluster, "voteRequest")]).toEqual([2, []]);
    finishWrite(cluster, "b");
    expect(queued(cluster, "voteRequest")).toMatchObject([{ lastIndex: 2 }, { lastIndex: 2 }]);
  });

  it("does not for an older term, nor for another node than its leader", () => {
    const cluster = ledByA();
    receive(cluster, "b", "a", now(1, 1, 0));
    receive(cluster, "b", "c", now(1, 1));
    expect(nodeOf(cluster, "b").state).toMatchObject({ role: "follower", currentTerm: 1 });
  });

  it("does not while it is mute, and does nothing twice", () => {
    const cluster = createCluster({
      nodes: names,
      disks: { b: { floor: { lastIndex: 9, lastTerm: 9 } as never } },
    });
    campaign(cluster, "a");
    receive(cluster, "b", "a", now(1, 1));
    expect(nodeOf(cluster, "b").state.role).toBe("follower");
    receive(cluster, "c", "a", now(1, 1));
    receive(cluster, "c", "a", now(1, 1));
    expect(nodeOf(cluster, "c").state).toMatchObject({ role: "candidate", currentTerm: 2 });
  });
});
