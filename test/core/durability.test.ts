/**
 * Promises leave after the write that backs them, and what does not need the disk does not wait for it.
 *
 * Writes finish only when a test says so (`finishWrite`); the harness checks every message against its
 * sender's disk.
 */
import { asIndex, asTerm } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  crash,
  createCluster,
  entriesOf,
  finishWrite,
  idOf,
  nodeOf,
  propose,
  receive,
  restart,
  settle,
  timeOut,
  turn,
} from "./cluster.ts";
import { append, entriesAfter, heartbeat, preVote, preVoteRequest, vote, voteRequest } from "./messages.ts";
import { commitOf, queued, sentOf, termsOf } from "./views.ts";

function slowFollower(terms: readonly number[] = [], term = terms.at(-1) ?? 0): Cluster {
  const cluster = createCluster({
    nodes: ["a", "b", "c"],
    disks: { a: { entries: entriesOf(terms), term: asTerm(term) } },
  });
  cluster.slowDisks.add("a");
  return cluster;
}

describe("votes", () => {
  it("a vote leaves once term and vote are durable in one write (sofa-jraft#1241, hashicorp/raft#661)", () => {
    const cluster = slowFollower();
    const effects = receive(cluster, "a", "b", voteRequest(3));
    expect(effects.send).toEqual([]);
    expect(effects.persist).toMatchObject({ term: 3, vote: idOf("b"), entries: [] });
    expect(finishWrite(cluster, "a").send).toEqual([{ to: idOf("b"), message: vote(3) }]);
  });

  it("a vote in a term that is durable already waits for its own write", () => {
    const cluster = slowFollower([], 3);
    expect(receive(cluster, "a", "b", voteRequest(3)).send).toEqual([]);
    expect(
      sentOf(receive(cluster, "a", "c", voteRequest(3)), "voteResponse"),
      "a refusal is none",
    ).toHaveLength(1);
    expect(finishWrite(cluster, "a").send).toEqual([{ to: idOf("b"), message: vote(3) }]);
  });

  it("RequestVote leaves at once, and nobody leads before the own vote is durable (sofa-jraft#1245)", () => {
    const cluster = slowFollower();
    timeOut(cluster, "a");
    expect(sentOf(receive(cluster, "a", "b", preVote(1)), "voteRequest")).toHaveLength(2);
    const { state, id } = nodeOf(cluster, "a");
    expect(state.election.votes.size).toBe(0);
    receive(cluster, "a", "b", vote(1));
    receive(cluster, "a", "c", vote(1));
    expect(state.role, "the others alone are a quorum").toBe("candidate");
    finishWrite(cluster, "a");
    expect(state).toMatchObject({ role: "leader", vote: id });
  });

  it("RequestVote waits for the log that it claims, which comes to the disk with the vote", () => {
    const cluster = slowFollower([1]);
    receive(cluster, "a", "b", append(1, [1, 1], entriesAfter(1, [1])));
    finishWrite(cluster, "a");
    receive(cluster, "a", "b", append(1, [2, 1], entriesAfter(2, [1])));
    timeOut(cluster, "a");
    expect(sentOf(receive(cluster, "a", "b", preVote(2)), "voteRequest")).toEqual([]);
    expect(sentOf(finishWrite(cluster, "a"), "voteRequest"), "the vote's write is the next one").toEqual([]);
    expect(sentOf(finishWrite(cluster, "a"), "voteRequest")[0]).toMatchObject({ lastIndex: 3, lastTerm: 1 });
  });

  it("RequestVote that waits for its log does not leave any more when the candidacy is over", () => {
    const cluster = slowFollower([1]);
    receive(cluster, "a", "b", append(1, [1, 1], entriesAfter(1, [1])));
    timeOut(cluster, "a");
    expect(sentOf(receive(cluster, "a", "b", preVote(2)), "voteRequest")).toEqual([]);
    expect(nodeOf(cluster, "a").state.role).toBe("candidate");
    receive(cluster, "a", "c", heartbeat(3));
    for (let write = 1; nodeOf(cluster, "a").state.disk.outstanding !== undefined; write += 1) {
      expect(sentOf(finishWrite(cluster, "a"), "voteRequest"), `write ${write}`).toEqual([]);
    }
    expect(nodeOf(cluster, "a").state.disk.durable.term).toBe(3);
  });

  it("a crash before the vote's write takes a vote back that was only asked with: it goes to another", () => {
    const cluster = slowFollower();
    timeOut(cluster, "a");
    receive(cluster, "a", "b", preVote(1));
    crash(cluster, "a");
    restart(cluster, "a");
    cluster.slowDisks.clear();
    expect(sentOf(receive(cluster, "a", "c", voteRequest(1)), "voteResponse")).toEqual([]);
    expect(queued(cluster, "voteResponse", "c")).toEqual([vote(1)]);
    receive(cluster, "a", "b", vote(1));
    expect(nodeOf(cluster, "a").state.role, "the late answer counts for nothing").toBe("follower");
  });

  it("a vote stands over a crash: the other candidate of the term is refused", () => {
    const cluster = slowFollower();
    receive(cluster, "a", "b", voteRequest(3));
    crash(cluster, "a", true);
    restart(cluster, "a");
    cluster.slowDisks.clear();
    receive(cluster, "a", "c", voteRequest(3));
    expect(queued(cluster, "voteResponse")).toEqual([vote(3, false)]);
  });

  it("a step down in the same term keeps the vote (CCF#5891, #8094)", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    timeOut(cluster, "a");
    receive(cluster, "a", "b", preVote(1));
    expect(nodeOf(cluster, "a").state.role).toBe("candidate");
    receive(cluster, "a", "b", append(1, [5, 1], [])); // does not match: nothing is taken from it
    receive(cluster, "a", "c", voteRequest(1));
    expect(queued(cluster, "voteResponse", "c")).toEqual([vote(1, false)]);
    for (let ms = 0; ms < 300; ms += 50) {
      cluster.nowMs += 50;
      turn(cluster, "a", { kind: "tick" });
    }
    expect(nodeOf(cluster, "a").state.role).toBe("preCandidate");
    receive(cluster, "a", "c", voteRequest(1));
    expect(queued(cluster, "voteResponse", "c").at(-1)).toEqual(vote(1, false));
  });

  it("the election timer starts when the vote is durable, so a slow disk brings no second election (RATIS-980)", () => {
    const cluster = slowFollower();
    cluster.nowMs += 140;
    receive(cluster, "a", "b", voteRequest(1));
    for (let ms = 0; ms < 1000; ms += 20) {
      cluster.nowMs += 20;
      expect(turn(cluster, "a", { kind: "tick" }).send).toEqual([]);
      expect(nodeOf(cluster, "a").state.role).toBe("follower");
    }
    finishWrite(cluster, "a");
    expect(nodeOf(cluster, "a").state.election.deadlineMs - cluster.nowMs).toBeGreaterThanOrEqual(150);
  });

  it("a candidate whose disk is slow asks once, and has a full timeout from then on", () => {
    const cluster = slowFollower();
    timeOut(cluster, "a");
    receive(cluster, "a", "b", preVote(1));
    for (let ms = 0; ms < 1000; ms += 20) {
      cluster.nowMs += 20;
      turn(cluster, "a", { kind: "tick" });
    }
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "candidate", currentTerm: 1 });
    expect(sentOf(finishWrite(cluster, "a"), "voteRequest"), "they left before").toEqual([]);
    expect(nodeOf(cluster, "a").state.election.deadlineMs - cluster.nowMs).toBeGreaterThanOrEqual(150);
  });

  it("no message speaks of a term that is not durable", () => {
    const cluster = slowFollower();
    receive(cluster, "a", "b", heartbeat(4));
    const asked = [
      heartbeat(4),
      heartbeat(3),
      append(3, [0, 0], []),
      append(4, [0, 0], []),
      append(4, [9, 4], []),
      voteRequest(2),
      preVoteRequest(3),
      preVoteRequest(5),
    ];
    for (const message of asked) expect(receive(cluster, "a", "b", message).send, message.kind).toEqual([]);
    const kinds = finishWrite(cluster, "a").send.map(({ message }) => message.kind);
    expect(new Set(kinds)).toEqual(
      new Set(["heartbeatResponse", "voteResponse", "preVoteResponse", "appendResponse"]),
    );
  });

  it("what waits for a hung disk is bounded", () => {
    const cluster = slowFollower();
    receive(cluster, "a", "b", heartbeat(4));
    for (let round = 0; round < 500; round += 1) {
      cluster.nowMs += 10;
      for (const from of ["b", "c"]) {
        for (const message of [heartbeat(3), append(2, [9, 2], []), voteRequest(3), preVoteRequest(2)]) {
          receive(cluster, "a", from, message);
        }
      }
    }
    expect(nodeOf(cluster, "a").state.outbox.sendAfterPersist.length).toBeLessThanOrEqual(10);
  });
});

describe("acks", () => {
  it("an ack claims only what is durable, and another one follows the write", () => {
    const cluster = slowFollower([1], 1);
    const first = receive(cluster, "a", "b", append(1, [1, 1], entriesAfter(1, [1, 1])));
    expect(sentOf(first, "appendResponse")).toMatchObject([{ result: { kind: "matched", matchIndex: 1 } }]);
    expect(sentOf(finishWrite(cluster, "a"), "appendResponse")).toMatchObject([
      { result: { kind: "matched", matchIndex: 3 } },
    ]);
  });

  it("an empty or repeated append and a heartbeat acknowledge nothing that is only in memory (yugabyte#32875)", () => {
    const cluster = slowFollower([1], 1);
    const entries = entriesAfter(1, [1, 1]);
    const messages = [append(1, [1, 1], entries), append(1, [1, 1], entries), append(1, [3, 1], [])];
    const claimed = messages.flatMap((message) =>
      sentOf(receive(cluster, "a", "b", message), "appendResponse"),
    );
    for (const { result } of claimed) expect(result).toEqual({ kind: "matched", matchIndex: 1 });
    const beat = receive(cluster, "a", "b", heartbeat(1, { token: 4 }));
    expect(beat.send.map(({ message }) => message)).toMatchObject([{ kind: "heartbeatResponse", token: 4 }]);
  });

  it("an ack claims no more than this session's appends have verified (CCF#6016)", () => {
    const cluster = createCluster({
      nodes: ["a", "b", "c"],
      disks: { a: { entries: entriesOf([1, 1, 1, 2, 2]), term: asTerm(2) } },
    });
    receive(cluster, "a", "b", append(3, [1, 1], entriesAfter(1, [1])));
    expect(queued(cluster, "appendResponse").at(-1)?.result).toEqual({ kind: "matched", matchIndex: 2 });
    receive(cluster, "a", "b", append(3, [1, 1], [], { session: 2 }));
    expect(queued(cluster, "appendResponse").at(-1)).toMatchObject({ session: 2, result: { matchIndex: 1 } });
  });

  it("answers to heartbeats do not wait for entries that are being written", () => {
    const cluster = slowFollower([1], 1);
    receive(cluster, "a", "b", append(1, [1, 1], entriesAfter(1, [1])));
    expect(sentOf(receive(cluster, "a", "b", heartbeat(1)), "heartbeatResponse")).toHaveLength(1);
  });
});

describe("the leader's own disk", () => {
  it("appends leave before the leader's own write, and its own match counts after it (D36, etcd#14370)", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    campaign(cluster, "a");
    cluster.slowDisks.add("a");
    expect(sentOf(propose(cluster, "a", "x"), "appendRequest")).toHaveLength(2);
    cluster.queue = cluster.queue.filter(({ to }) => to !== idOf("b"));
    settle(cluster);
    expect(commitOf(cluster, "a"), "one follower and no own disk are no quorum").toBe(1);
    finishWrite(cluster, "a");
    expect(commitOf(cluster, "a")).toBe(2);
  });

  it("a quorum of followers commits without it", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    campaign(cluster, "a");
    cluster.slowDisks.add("a");
    propose(cluster, "a", "x");
    settle(cluster);
    expect(commitOf(cluster, "a")).toBe(2);
  });

  it("a sole voter commits when its own write is durable, not before", () => {
    const cluster = createCluster({ nodes: ["a"] });
    turn(cluster, "a", { kind: "tick" });
    cluster.slowDisks.add("a");
    propose(cluster, "a", "x");
    expect(commitOf(cluster, "a")).toBe(1);
    finishWrite(cluster, "a");
    expect(commitOf(cluster, "a")).toBe(2);
  });
});

describe("writes", () => {
  it("one write at a time; what comes meanwhile forms the next", () => {
    const cluster = createCluster({ nodes: ["a"] });
    turn(cluster, "a", { kind: "tick" });
    cluster.slowDisks.add("a");
    expect(propose(cluster, "a", "1").persist).toMatchObject({ sequence: 3, entries: [{ index: 2 }] });
    expect(propose(cluster, "a", "2").persist).toBeUndefined();
    expect(propose(cluster, "a", "3").persist).toBeUndefined();
    expect(finishWrite(cluster, "a").persist).toMatchObject({
      sequence: 4,
      entries: [{ index: 3 }, { index: 4 }],
    });
  });

  it("a mere rise of the commit index writes nothing (etcd#10063)", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], disks: { a: { entries: entriesOf([1]) } } });
    receive(cluster, "a", "b", append(1, [1, 1], []));
    expect(receive(cluster, "a", "b", heartbeat(1, { commit: 1 })).persist).toBeUndefined();
    expect(commitOf(cluster, "a")).toBe(1);
  });

  it("a completion whose entries were overwritten since marks nothing durable (etcd/raft, the ABA race)", () => {
    const cluster = slowFollower([1], 1);
    const node = nodeOf(cluster, "a");
    receive(cluster, "a", "b", append(2, [1, 1], entriesAfter(1, [2, 2]))); // A: being written
    receive(cluster, "a", "c", append(3, [1, 1], entriesAfter(1, [3]))); // B
    receive(cluster, "a", "b", append(4, [1, 1], entriesAfter(1, [4, 4]))); // C, as long as A
    finishWrite(cluster, "a");
    expect(termsOf(node)).toEqual([1, 4, 4]);
    expect(node.state.disk.durableIndex).toBe(1);
    expect(node.writing).toMatchObject({ term: 4, truncateFrom: 2, entries: [{ term: 4 }, { term: 4 }] });
    expect(queued(cluster, "appendResponse")).toEqual([]);
    finishWrite(cluster, "a");
    expect(node.disk.entries.map(({ term }) => term)).toEqual([1, 4, 4]);
    expect(queued(cluster, "appendResponse")).toMatchObject([{ term: 4, result: { matchIndex: 3 } }]);
  });

  it("a truncation while nothing of it was written needs no cut on disk", () => {
    const cluster = slowFollower([1], 1);
    receive(cluster, "a", "b", heartbeat(2)); // the term is being written
    receive(cluster, "a", "b", append(2, [1, 1], entriesAfter(1, [2, 2])));
    receive(cluster, "a", "c", append(3, [1, 1], entriesAfter(1, [3])));
    const persist = finishWrite(cluster, "a").persist;
    expect(persist).toMatchObject({ term: 3, truncateFrom: undefined, entries: [{ index: 2, term: 3 }] });
  });

  it("a write reported twice, or a late report of an older one, changes nothing", () => {
    const cluster = slowFollower();
    receive(cluster, "a", "b", voteRequest(1));
    finishWrite(cluster, "a");
    receive(cluster, "a", "b", append(1, [0, 0], entriesAfter(0, [1])));
    turn(cluster, "a", { kind: "persisted", sequence: 1 });
    expect(nodeOf(cluster, "a").state.disk.durableIndex).toBe(0);
    finishWrite(cluster, "a");
    expect(nodeOf(cluster, "a").state.disk.durableIndex).toBe(1);
  });

  it("a restart begins with what the disk holds", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    campaign(cluster, "a");
    propose(cluster, "a", "x");
    settle(cluster);
    advance(cluster, 100);
    for (const name of ["a", "b", "c"]) crash(cluster, name);
    for (const name of ["a", "b", "c"]) restart(cluster, name);
    const { state } = nodeOf(cluster, "a");
    expect(state).toMatchObject({ currentTerm: 1, vote: idOf("a"), role: "follower", commitIndex: 0 });
    expect(state.log.lastIndex).toBe(asIndex(2));
    advance(cluster, 1000);
    for (const node of cluster.nodes.values()) expect(node.applied).toHaveLength(3);
  });
});
