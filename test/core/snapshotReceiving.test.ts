/** A follower that is sent a snapshot: what it takes, what it says meanwhile, and how it comes to stand on it. */
import { asIndex, asTerm, configurationOf, isPending, type SnapshotHeader, termAt } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  type ClusterOptions,
  configurationFor,
  createCluster,
  entriesOf,
  finishWrite,
  idOf,
  nodeOf,
  receive,
  timeOut,
  turn,
} from "./cluster.ts";
import {
  append,
  entriesAfter,
  heartbeat,
  matched,
  preVote,
  preVoteRequest,
  voteRequest,
} from "./messages.ts";
import { chunk } from "./snapshotSteps.ts";
import { commitOf, queued, sentOf, termsOf } from "./views.ts";

const names = ["a", "b", "c"];

/** `a` has these entries and knows `commit` of them to be committed. */
function follower(terms: readonly number[], commit = 0, more: Partial<ClusterOptions> = {}): Cluster {
  const cluster = createCluster({ nodes: names, disks: { a: { entries: entriesOf(terms) } }, ...more });
  receive(cluster, "a", "b", append(9, [terms.length, terms.at(-1) ?? 0], [], { commit }));
  expect(commitOf(cluster, "a")).toBe(commit);
  cluster.queue = [];
  return cluster;
}

function headerAt(index: number, term: number, voters: readonly string[] = names): SnapshotHeader {
  return {
    boundary: { index: asIndex(index), term: asTerm(term) },
    chain: 7,
    configuration: { index: asIndex(Math.min(index, 3)), configuration: configurationFor(voters) },
    bytes: 2_500,
    checksum: 5,
  };
}

function receiveAll(cluster: Cluster, header: SnapshotHeader, from = "b", term = 9): void {
  const effects = receive(cluster, "a", from, chunk(term, header));
  expect(effects.chunks).toHaveLength(1);
  turn(cluster, "a", { kind: "snapshotReceived", header });
}

/** Store and machine of `a` begin at the snapshot. */
function install(cluster: Cluster, header: SnapshotHeader): void {
  const node = nodeOf(cluster, "a");
  const { index, term } = header.boundary;
  const rest = node.disk.entries[index - 1]?.term === term ? node.disk.entries.slice(index) : [];
  const filled = entriesOf(Array.from({ length: index }, () => term));
  node.disk.entries = [...filled, ...rest];
  node.applied = [...filled];
  turn(cluster, "a", { kind: "snapshotInstalled", header });
}

const stateOf = (cluster: Cluster) => nodeOf(cluster, "a").state;
const answers = (cluster: Cluster) => queued(cluster, "appendResponse");

describe("a snapshot of no more than what is committed here", () => {
  it("camunda#6092, etcd#1763, #1837: is ignored, and what is committed is acknowledged", () => {
    const cluster = follower([1, 1, 2, 2], 3);
    const effects = receive(cluster, "a", "b", chunk(9, headerAt(2, 1)));
    expect(effects.chunks).toEqual([]);
    expect(answers(cluster)).toEqual([matched(9, 4)]);
    expect(termsOf(nodeOf(cluster, "a"))).toEqual([1, 1, 2, 2]);
    expect(commitOf(cluster, "a")).toBe(3);
  });

  it("is acknowledged at the commit index in a session that has verified nothing else", () => {
    const cluster = follower([1, 1, 2, 2], 3);
    receive(cluster, "a", "b", chunk(9, headerAt(2, 1), { session: 2 }));
    expect(answers(cluster)).toEqual([matched(9, 3, 2)]);
  });
});

describe("a snapshot that the log already reaches to (Figure 13, 6)", () => {
  it("raises the commit index, and the entries that follow stay", () => {
    const cluster = follower([1, 1, 2, 2, 2], 1);
    const effects = receive(cluster, "a", "b", chunk(9, headerAt(4, 2)));
    expect(effects.chunks).toEqual([]);
    expect(commitOf(cluster, "a")).toBe(4);
    expect(termsOf(nodeOf(cluster, "a"))).toEqual([1, 1, 2, 2, 2]);
    expect(answers(cluster).at(-1)).toMatchObject({ result: { kind: "matched" } });
  });

  it("is not acknowledged beyond what is durable here", () => {
    const cluster = follower([1, 1], 1);
    cluster.slowDisks.add("a");
    receive(cluster, "a", "b", append(9, [2, 1], entriesAfter(2, [2, 2])));
    cluster.queue = [];
    receive(cluster, "a", "b", chunk(9, headerAt(4, 2)));
    expect(answers(cluster)).toEqual([matched(9, 2)]);
    finishWrite(cluster, "a");
    expect(answers(cluster).at(-1)).toEqual(matched(9, 4));
  });

  it("is installed where the entry at the boundary is of another term, and nothing of the log stays (Figure 13, 7)", () => {
    const cluster = follower([1, 1, 1, 1, 1, 1], 1);
    receiveAll(cluster, headerAt(4, 2));
    install(cluster, headerAt(4, 2));
    const { log, disk, commitIndex } = stateOf(cluster);
    expect(log).toMatchObject({ boundary: { index: 4, term: 2 }, lastIndex: 4, runs: [] });
    expect(disk).toMatchObject({ durableIndex: 4, handedIndex: 4 });
    expect(commitIndex).toBe(4);
    expect(answers(cluster).at(-1)).toEqual(matched(9, 4));
  });
});

describe("while a snapshot is received", () => {
  it("each chunk is answered with what is there, once it is there", () => {
    const cluster = follower([1], 1);
    const question = chunk(9, headerAt(8, 3));
    const { chunks } = receive(cluster, "a", "b", question);
    expect(queued(cluster, "snapshotResponse")).toEqual([]);
    turn(cluster, "a", { kind: "chunkStored", chunk: chunks[0]!, offset: 700 });
    const told = { kind: "snapshotResponse", term: 9, session: 1, index: 8, answers: 0, offset: 700 };
    expect(queued(cluster, "snapshotResponse")).toEqual([told]);
  });

  it("an answer to a leader that is one no longer is not given", () => {
    const cluster = follower([1], 1);
    const { chunks } = receive(cluster, "a", "b", chunk(9, headerAt(8, 3)));
    receive(cluster, "a", "c", heartbeat(10));
    cluster.queue = [];
    turn(cluster, "a", { kind: "chunkStored", chunk: chunks[0]!, offset: 700 });
    expect(cluster.queue).toEqual([]);
    expect(stateOf(cluster).snapshots.incoming).toBeUndefined();
    turn(cluster, "a", { kind: "snapshotReceived", header: headerAt(8, 3) });
    expect(stateOf(cluster).snapshots.incoming, "what came of it is left alone").toBeUndefined();
  });

  it("nebula#1769: a candidate steps down for the snapshot of its term's leader", () => {
    const cluster = createCluster({ nodes: names });
    timeOut(cluster, "a");
    receive(cluster, "a", "b", preVote(1));
    expect(stateOf(cluster)).toMatchObject({ role: "candidate", currentTerm: 1 });
    const { chunks } = receive(cluster, "a", "c", chunk(1, headerAt(8, 1)));
    expect(stateOf(cluster)).toMatchObject({ role: "follower", leader: idOf("c") });
    expect(chunks).toHaveLength(1);
  });

  it("a leader of an older term is answered with ours, and nothing is taken of it (Figure 13, 1)", () => {
    const cluster = follower([1], 1);
    const effects = receive(cluster, "a", "c", chunk(8, headerAt(8, 3)));
    expect(effects.chunks).toEqual([]);
    expect(sentOf(effects, "heartbeatResponse")).toMatchObject([{ term: 9 }]);
  });

  it("RATIS-2511: reads are told to go elsewhere, those that wait too", () => {
    const cluster = follower([1], 1);
    turn(cluster, "a", { kind: "readRequested", id: 1 });
    receive(cluster, "a", "b", chunk(9, headerAt(8, 3)));
    turn(cluster, "a", { kind: "readRequested", id: 2 });
    expect(nodeOf(cluster, "a").reads).toEqual([
      { kind: "refused", id: 1, reason: "elsewhere" },
      { kind: "refused", id: 2, reason: "elsewhere" },
    ]);
  });

  it("reads are served again once the transfer has gone silent for long, or an append helps", () => {
    const cluster = follower([1], 1);
    receive(cluster, "a", "b", chunk(9, headerAt(8, 3)));
    for (let at = 0; at < 70; at += 1) {
      cluster.nowMs += 45;
      receive(cluster, "a", "b", heartbeat(9));
    }
    turn(cluster, "a", { kind: "readRequested", id: 1 });
    expect(nodeOf(cluster, "a").reads).toEqual([]);
    receive(cluster, "a", "b", chunk(9, headerAt(8, 3)));
    receive(cluster, "a", "b", append(9, [1, 1], entriesAfter(1, [3])));
    expect(stateOf(cluster).snapshots.incoming).toBeUndefined();
  });

  it("a node may still campaign, for its log may be needed", () => {
    const cluster = follower([1], 1);
    receive(cluster, "a", "b", chunk(9, headerAt(8, 3)));
    timeOut(cluster, "a");
    expect(stateOf(cluster)).toMatchObject({ role: "preCandidate", snapshots: { incoming: undefined } });
  });
});

describe("while a snapshot is installed", () => {
  it("openraft#561: nothing is acknowledged before log and machine begin at it", () => {
    const cluster = follower([1], 1);
    receiveAll(cluster, headerAt(8, 3));
    expect(nodeOf(cluster, "a").effects.install?.boundary.index).toBe(8);
    receive(cluster, "a", "b", chunk(9, headerAt(8, 3), { offset: 2_500 }));
    receive(cluster, "a", "b", append(9, [8, 3], entriesAfter(8, [9]), { commit: 9 }));
    expect(answers(cluster)).toEqual([]);
    expect(queued(cluster, "snapshotResponse")).toMatchObject([{ answers: 2_500, offset: 2_500 }]);
    expect(stateOf(cluster)).toMatchObject({ commitIndex: 1, log: { lastIndex: 1 } });
    install(cluster, headerAt(8, 3));
    expect(answers(cluster)).toEqual([matched(9, 8)]);
  });

  it("it waits for the write that is under way, and no other one begins before it is done", () => {
    const cluster = follower([1], 1);
    cluster.slowDisks.add("a");
    receive(cluster, "a", "b", append(9, [1, 1], entriesAfter(1, [2])));
    receiveAll(cluster, headerAt(8, 3));
    expect(nodeOf(cluster, "a").effects.install).toBeUndefined();
    finishWrite(cluster, "a");
    expect(nodeOf(cluster, "a").effects.install).toBeDefined();
    const effects = receive(cluster, "a", "c", heartbeat(12));
    expect(effects.persist, "term 12 waits").toBeUndefined();
    install(cluster, headerAt(8, 3));
    expect(nodeOf(cluster, "a").writing).toMatchObject({ term: 12, entries: [], truncateFrom: undefined });
    expect(stateOf(cluster)).toMatchObject({ currentTerm: 12, log: { boundary: { index: 8 } } });
  });

  it("the node does not campaign, neither by itself nor when it is told to (rule 12)", () => {
    const cluster = follower([1], 1);
    receiveAll(cluster, headerAt(8, 3));
    expect(isPending(stateOf(cluster).snapshots.incoming)).toBe(true);
    timeOut(cluster, "a");
    expect(stateOf(cluster).role).toBe("follower");
    receive(cluster, "a", "b", {
      kind: "timeoutNow",
      term: asTerm(9),
      lastIndex: asIndex(1),
      lastTerm: asTerm(1),
    });
    expect(stateOf(cluster).role).toBe("follower");
    install(cluster, headerAt(8, 3));
    timeOut(cluster, "a");
    expect(stateOf(cluster).role).toBe("preCandidate");
  });

  it("a snapshot that came to be needed no longer is not installed", () => {
    const cluster = follower([1], 1);
    receive(cluster, "a", "b", chunk(9, headerAt(3, 2)));
    receive(cluster, "a", "b", append(9, [1, 1], entriesAfter(1, [2, 2, 2]), { commit: 4 }));
    turn(cluster, "a", { kind: "snapshotReceived", header: headerAt(3, 2) });
    expect(nodeOf(cluster, "a").effects.install).toBeUndefined();
    expect(termsOf(nodeOf(cluster, "a"))).toEqual([1, 2, 2, 2]);
  });
});

describe("a log that begins at a snapshot", () => {
  function onSnapshot(): Cluster {
    const cluster = follower([1], 1);
    receiveAll(cluster, headerAt(5, 3));
    install(cluster, headerAt(5, 3));
    cluster.queue = [];
    return cluster;
  }

  it("NuRaft#668: has the boundary's term as its last, and refuses its vote to a shorter log", () => {
    const cluster = onSnapshot();
    cluster.nowMs += 1_000;
    const table: [lastTerm: number, lastIndex: number, granted: boolean][] = [
      [2, 90, false],
      [3, 4, false],
      [3, 5, true],
      [4, 1, true],
    ];
    for (const [lastTerm, lastIndex, granted] of table) {
      const effects = receive(cluster, "a", "c", preVoteRequest(10, lastTerm, lastIndex));
      expect(sentOf(effects, "preVoteResponse")).toMatchObject([{ granted }]);
    }
    expect(sentOf(receive(cluster, "a", "c", voteRequest(10, 2, 90)), "voteResponse")).toEqual([]);
    expect(queued(cluster, "voteResponse").every(({ granted }) => !granted)).toBe(true);
  });

  it("openraft#511, databend#7112: takes an append from before its boundary for an ack, not for a conflict", () => {
    const cluster = onSnapshot();
    receive(cluster, "a", "b", append(9, [2, 7], entriesAfter(2, [7, 7])));
    expect(answers(cluster)).toEqual([matched(9, 5)]);
    expect(stateOf(cluster).log).toMatchObject({ boundary: { index: 5, term: 3 }, lastIndex: 5 });
  });

  it("MicroRaft d300e13: knows the term at its boundary, so that an append there fits", () => {
    const cluster = onSnapshot();
    receive(cluster, "a", "b", append(9, [5, 3], entriesAfter(5, [9])));
    expect(answers(cluster).at(-1)).toEqual(matched(9, 6));
    expect(termAt(stateOf(cluster).log, asIndex(5))).toBe(3);
    receive(cluster, "a", "b", append(9, [9, 9], []));
    const { result } = answers(cluster).at(-1)!;
    expect(result).toMatchObject({ kind: "rejected", hintIndex: 6 });
  });

  it("canonical/raft#250: has the configuration that was in force at the boundary, and no other (Figure 13, 8)", () => {
    const cluster = follower([1], 1);
    receiveAll(cluster, headerAt(5, 3, ["a", "b", "d"]));
    install(cluster, headerAt(5, 3, ["a", "b", "d"]));
    expect(configurationOf(stateOf(cluster).log)).toEqual(configurationFor(["a", "b", "d"]));
    expect(nodeOf(cluster, "a").effects.membership?.inForce.index).toBe(3);
  });

  it("ends the muteness of a node that had lost what the snapshot has", () => {
    const floor = { lastIndex: asIndex(4), lastTerm: asTerm(2) };
    const cluster = createCluster({ nodes: names, disks: { a: { entries: entriesOf([1]), floor } } });
    receiveAll(cluster, headerAt(5, 3));
    install(cluster, headerAt(5, 3));
    expect(stateOf(cluster).floor).toBeUndefined();
    expect(nodeOf(cluster, "a").disk.floor).toBeUndefined();
  });
});
