/**
 * Bugs that good libraries shipped, as scenarios with the right ending. Each title begins with where the bug was seen.
 *
 * What other tests of this repository already play is listed, with the rest, in coverage.ts.
 */
import { asIndex, asTerm, createState, type Effects, step, takeEffects } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  bytes,
  type Cluster,
  campaign,
  configurationFor,
  crash,
  createCluster,
  defaults,
  entriesOf,
  finishWrite,
  heal,
  idOf,
  nodeOf,
  partition,
  propose,
  receive,
  restart,
  settle,
  timeOut,
  turn,
} from "../core/cluster.ts";
import {
  append,
  heartbeatResponse,
  matched,
  preVote,
  preVoteRequest,
  vote,
  voteRequest,
} from "../core/messages.ts";
import { commitOf, hold, leaderOf, queued, sentOf, termsOf } from "../core/views.ts";
import { emptyRestored } from "../node/restored.ts";

const three = ["a", "b", "c"];

function stateOf(cluster: Cluster, name: string): ReturnType<typeof nodeOf>["state"] {
  return nodeOf(cluster, name).state;
}

function votesFor(effects: Effects): (readonly [string, boolean])[] {
  return effects.send.flatMap(({ to, message }) =>
    message.kind === "voteResponse" ? [[to.slice(0, 1), message.granted] as const] : [],
  );
}

/** `a` stands for election in term 3 and has its own vote on disk. */
function candidateOfTermThree(): Cluster {
  const cluster = createCluster({ nodes: three, disks: { a: { entries: entriesOf([1, 2]) } } });
  timeOut(cluster, "a");
  receive(cluster, "a", "b", preVote(3));
  expect(stateOf(cluster, "a")).toMatchObject({ role: "candidate", currentTerm: 3 });
  return cluster;
}

describe("votes", () => {
  it("CCF#5891: a former candidate that follows the leader of its term gives no second vote in it", () => {
    const cluster = candidateOfTermThree();
    // The log does not match, so nothing of the append is taken; the step down is.
    receive(cluster, "a", "b", append(3, [9, 2], []));
    expect(stateOf(cluster, "a")).toMatchObject({ role: "follower", vote: idOf("a") });
    receive(cluster, "a", "c", voteRequest(3));
    crash(cluster, "a");
    restart(cluster, "a");
    receive(cluster, "a", "c", voteRequest(3));
    const answers = queued(cluster, "voteResponse", "c");
    expect(answers.map(({ granted }) => granted)).toEqual([false, false]);
    expect(nodeOf(cluster, "a").disk.vote).toBe(idOf("a"));
  });

  it("CCF pre_vote_double_leader: a voter that was a pre-candidate in between keeps its vote", () => {
    const cluster = createCluster({ nodes: three });
    receive(cluster, "a", "b", voteRequest(3));
    expect(stateOf(cluster, "a").vote).toBe(idOf("b"));
    timeOut(cluster, "a");
    expect(stateOf(cluster, "a")).toMatchObject({ role: "preCandidate", currentTerm: 3, vote: idOf("b") });
    receive(cluster, "a", "b", append(3, [9, 2], []));
    expect(votesFor(receive(cluster, "a", "c", voteRequest(3)))).toEqual([["c", false]]);
    expect(stateOf(cluster, "a").vote).toBe(idOf("b"));
  });

  it("nebula#2419: a request for votes that is sent again is granted again, and counts once", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c", "d", "e"] });
    expect(votesFor(receive(cluster, "b", "a", voteRequest(1))).length).toBe(0); // waits for its write
    expect(queued(cluster, "voteResponse")).toEqual([vote(1)]);
    expect(votesFor(receive(cluster, "b", "a", voteRequest(1)))).toEqual([["a", true]]);
    timeOut(cluster, "a");
    for (const peer of ["b", "c"]) receive(cluster, "a", peer, preVote(1));
    receive(cluster, "a", "b", vote(1));
    receive(cluster, "a", "b", vote(1));
    expect(stateOf(cluster, "a").role).toBe("candidate");
    receive(cluster, "a", "c", vote(1));
    expect(stateOf(cluster, "a").role).toBe("leader");
  });

  it("raft-rs#83: votes of one round do not count in the next", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c", "d", "e"] });
    timeOut(cluster, "a");
    receive(cluster, "a", "b", preVote(1));
    timeOut(cluster, "a");
    receive(cluster, "a", "c", preVote(1));
    expect(stateOf(cluster, "a").role).toBe("preCandidate");
    receive(cluster, "a", "b", preVote(1));
    receive(cluster, "a", "b", vote(1));
    timeOut(cluster, "a");
    for (const peer of ["b", "c"]) receive(cluster, "a", peer, preVote(2));
    receive(cluster, "a", "c", vote(2));
    receive(cluster, "a", "d", vote(1));
    expect(stateOf(cluster, "a")).toMatchObject({ role: "candidate", currentTerm: 2 });
  });

  it("NuRaft#668: with an empty log, the last term is that of the boundary before it", () => {
    const options = { ...defaults, self: idOf("a") };
    const boundary = { index: asIndex(5), term: asTerm(1) };
    const state = createState(
      options,
      emptyRestored(configurationFor(three), { term: asTerm(1), boundary, lastIndex: boundary.index }),
      1000,
    );
    const ask = (lastTerm: number, lastIndex: number): boolean[] => {
      step(
        state,
        { kind: "received", from: idOf("b"), message: preVoteRequest(2, lastTerm, lastIndex) },
        1000,
      );
      return sentOf(takeEffects(state), "preVoteResponse").map(({ granted }) => granted);
    };
    expect(ask(1, 3)).toEqual([false]);
    expect(ask(0, 9)).toEqual([false]);
    expect(ask(1, 5)).toEqual([true]);
  });
});

describe("elections come to an end", () => {
  it("canonical/raft#279: a revived node of an older term and log does not keep the others from electing", () => {
    const cluster = createCluster({ nodes: three });
    campaign(cluster, "a");
    partition(cluster, ["a", "b"]);
    propose(cluster, "a", "x");
    settle(cluster);
    for (let round = 0; round < 4; round += 1) {
      crash(cluster, leaderOf(cluster)!.id.slice(0, 1));
      for (const name of ["a", "b"]) if (!nodeOf(cluster, name).up) restart(cluster, name);
      advance(cluster, 2000);
    }
    const { currentTerm } = leaderOf(cluster)!.state;
    expect(currentTerm).toBeGreaterThan(3);
    crash(cluster, leaderOf(cluster)!.id.slice(0, 1));
    heal(cluster); // c comes back the moment the leader dies
    advance(cluster, 2000);
    expect(leaderOf(cluster)?.state.currentTerm).toBeGreaterThan(currentTerm);
    expect(leaderOf(cluster)?.id).not.toBe(idOf("c"));
    expect(termsOf(nodeOf(cluster, "c"))).toEqual(termsOf(leaderOf(cluster)!));
  });

  it("rabbitmq/ra#439: a pre-candidate and a candidate of a newer term do not block one another", () => {
    const cluster = candidateOfTermThree();
    crash(cluster, "b");
    cluster.queue.length = 0;
    timeOut(cluster, "c"); // a pre-candidate of term 0 beside a candidate of term 3
    expect(stateOf(cluster, "c").role).toBe("preCandidate");
    settle(cluster);
    advance(cluster, 2000);
    expect(leaderOf(cluster)?.id).toBe(idOf("a"));
    expect(stateOf(cluster, "c").leader).toBe(idOf("a"));
  });

  it("decentralizedthoughts: three in a mesh, two of them with a leaf, keep one leader", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c", "d", "e"] });
    const links = ["ab", "ac", "bc", "bd", "ce"];
    cluster.drop = ({ from, to }) => {
      const [one, other] = [from.slice(0, 1), to.slice(0, 1)];
      return !links.some((link) => link === `${one}${other}` || link === `${other}${one}`);
    };
    advance(cluster, 3000);
    const leader = leaderOf(cluster)!;
    const { currentTerm } = leader.state;
    advance(cluster, 6000);
    expect(leaderOf(cluster)).toBe(leader);
    expect(leader.state.currentTerm).toBe(currentTerm);
    propose(cluster, leader.id.slice(0, 1), "x");
    advance(cluster, 200);
    expect(leader.applied.at(-1)?.data).toEqual(bytes("x"));
  });
});

describe("replication", () => {
  it("etcd-io/raft#54: the window's bytes come back to nothing, whatever is acknowledged, rejected or lost", () => {
    const cluster = createCluster({ nodes: three, core: { maxInflightBytes: 40, maxAppendBytes: 10 } });
    campaign(cluster, "a");
    let lost = 0;
    cluster.drop = () => {
      lost += 1;
      return lost % 3 === 0;
    };
    for (let at = 0; at < 60; at += 1) {
      propose(cluster, "a", `text ${at}`);
      advance(cluster, 20);
    }
    heal(cluster);
    advance(cluster, 1000);
    for (const peer of stateOf(cluster, "a").leading?.peers.values() ?? []) {
      expect(peer).toMatchObject({ mode: "replicate", inflight: [], inflightBytes: 0 });
    }
    expect(commitOf(cluster, "a")).toBe(stateOf(cluster, "a").log.lastIndex);
  });

  it("NATS 2.12.1 (Jepsen): unsynced copies are no majority, so no power cut takes back what was committed", () => {
    const cluster = createCluster({ nodes: three });
    campaign(cluster, "a");
    cluster.slowDisks.add("b");
    cluster.slowDisks.add("c");
    propose(cluster, "a", "x");
    settle(cluster);
    expect(commitOf(cluster, "a")).toBe(1);
    finishWrite(cluster, "b");
    settle(cluster);
    expect(commitOf(cluster, "a")).toBe(2);
    cluster.slowDisks.clear();
    for (const name of three) crash(cluster, name);
    for (const name of ["b", "c"]) restart(cluster, name);
    advance(cluster, 3000);
    expect(leaderOf(cluster)?.id).toBe(idOf("b"));
    expect(nodeOf(cluster, "c").applied.map(({ data }) => data)).toContainEqual(bytes("x"));
  });
});

describe("reads", () => {
  it("d-engine#381: an index that is applied already is not served before a quorum has answered", () => {
    const cluster = createCluster({ nodes: three });
    campaign(cluster, "a");
    expect(stateOf(cluster, "a").appliedIndex).toBe(1);
    const effects = turn(cluster, "a", { kind: "readRequested", id: 7 });
    expect(effects.reads).toEqual([]);
    const { token, peers } = stateOf(cluster, "a").leading!;
    const { session } = peers.get(idOf("b"))!;
    receive(cluster, "a", "b", matched(1, 1, session)); // an ack is no answer to the token
    expect(nodeOf(cluster, "a").reads).toEqual([]);
    receive(cluster, "a", "b", heartbeatResponse(1, { session, token }));
    expect(nodeOf(cluster, "a").reads).toMatchObject([{ kind: "confirmed", id: 7, index: 1 }]);
  });

  it("redisraft#18: after a restart of all nodes no read is served before the new term commits", () => {
    const cluster = createCluster({ nodes: three });
    campaign(cluster, "a");
    propose(cluster, "a", "x");
    settle(cluster);
    expect(commitOf(cluster, "a")).toBe(2);
    for (const name of three) crash(cluster, name);
    cluster.queue.length = 0;
    for (const name of three) restart(cluster, name);
    timeOut(cluster, "b");
    while (stateOf(cluster, "b").role !== "leader") {
      const flight = cluster.queue.shift()!;
      receive(cluster, flight.to.slice(0, 1), flight.from.slice(0, 1), flight.message);
    }
    const appends = hold(cluster, ({ message }) => message.kind === "appendRequest");
    turn(cluster, "b", { kind: "readRequested", id: 1 });
    settle(cluster);
    expect(nodeOf(cluster, "b").reads).toEqual([]);
    expect(commitOf(cluster, "b")).toBe(0);
    cluster.queue.push(...appends);
    settle(cluster);
    expect(nodeOf(cluster, "b").reads).toMatchObject([{ kind: "confirmed", id: 1, index: 3 }]);
  });
});
