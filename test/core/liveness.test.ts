/** Pre-vote, stickiness and check-quorum: that there is always one leader soon, and nobody deposes a good one. */
import { asIndex, asTerm, type Role } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  crash,
  createCluster,
  deliver,
  entriesOf,
  heal,
  idOf,
  nameOf,
  nodeOf,
  partition,
  propose,
  receive,
  restart,
  settle,
  timeOut,
  turn,
} from "./cluster.ts";
import { heartbeat, heartbeatResponse, preVote, preVoteRequest, vote, voteRequest } from "./messages.ts";
import { hold, leaderOf } from "./views.ts";

const five = ["a", "b", "c", "d", "e"];

/** Only these pairs can talk. */
function links(cluster: Cluster, pairs: readonly string[]): void {
  cluster.drop = ({ from, to }) => {
    const [x, y] = [nameOf(from), nameOf(to)];
    return !pairs.includes(`${x}-${y}`) && !pairs.includes(`${y}-${x}`);
  };
}

function led(nodes: readonly string[], by: string): Cluster {
  const cluster = createCluster({ nodes });
  campaign(cluster, by);
  advance(cluster, 100);
  expect(leaderOf(cluster)?.id).toBe(idOf(by));
  return cluster;
}

function role(cluster: Cluster, name: string): Role {
  return nodeOf(cluster, name).state.role;
}

describe("pre-vote", () => {
  it("changes neither term nor vote of anybody", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    timeOut(cluster, "a");
    const asked = hold(cluster, () => true);
    for (const flight of asked) deliver(cluster, flight);
    for (const { state } of cluster.nodes.values()) {
      expect(state).toMatchObject({ currentTerm: 0, vote: undefined });
    }
  });

  it("a node that comes back from a partition deposes nobody", () => {
    const cluster = led(["a", "b", "c"], "a");
    partition(cluster, ["a", "b"]);
    advance(cluster, 5000);
    expect(nodeOf(cluster, "c").state.currentTerm).toBe(1);
    heal(cluster);
    advance(cluster, 2000);
    expect(leaderOf(cluster)).toBe(nodeOf(cluster, "a"));
    expect(nodeOf(cluster, "a").state.currentTerm).toBe(1);
  });

  it("one whose log lags cannot depose a leader, nor win in a gap between leaders (NuRaft#134)", () => {
    const cluster = led(["a", "b", "c"], "a");
    partition(cluster, ["a", "b"]);
    propose(cluster, "a", "x");
    advance(cluster, 500);
    crash(cluster, "a");
    heal(cluster);
    for (let round = 0; round < 5; round += 1) campaign(cluster, "c");
    expect(role(cluster, "c")).not.toBe("leader");
    expect(nodeOf(cluster, "b").state.currentTerm).toBe(1);
    advance(cluster, 2000);
    expect(leaderOf(cluster)?.id).toBe(idOf("b"));
  });

  it("a refusal is said and its higher term is adopted, so that a lower term stops nobody (etcd#8243)", () => {
    const cluster = createCluster({
      nodes: ["a", "b", "c"],
      disks: {
        a: { entries: entriesOf([1, 5]), term: asTerm(5) },
        c: { entries: entriesOf([1]), term: asTerm(1) },
      },
    });
    crash(cluster, "b");
    campaign(cluster, "c");
    expect(nodeOf(cluster, "c").state).toMatchObject({ role: "follower", currentTerm: 5 });
    advance(cluster, 2000);
    expect(leaderOf(cluster)?.id).toBe(idOf("a"));
  });

  it("a node of a higher term and a shorter log does not block the others (etcd#8501)", () => {
    const cluster = createCluster({
      nodes: ["a", "b", "c"],
      disks: { a: { entries: entriesOf([1, 2]) }, b: { entries: entriesOf([1, 2]) }, c: { term: asTerm(9) } },
    });
    advance(cluster, 3000);
    expect(leaderOf(cluster)).toBeDefined();
    expect(["a", "b"]).toContain(nameOf(leaderOf(cluster)!.id));
    expect(nodeOf(cluster, "c").state.leader).toBe(leaderOf(cluster)!.id);
  });

  it("a pre-candidate forgets its leader, so that two of them can elect one another (etcd#9586)", () => {
    const cluster = led(["a", "b", "c"], "a");
    crash(cluster, "a");
    timeOut(cluster, "b");
    expect(nodeOf(cluster, "b").state).toMatchObject({ role: "preCandidate", leader: undefined });
    timeOut(cluster, "c");
    settle(cluster);
    advance(cluster, 1000);
    expect(leaderOf(cluster)?.state.currentTerm).toBeGreaterThan(1);
  });

  it("a pre-vote granted for another term counts for nothing", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], disks: { a: { term: asTerm(4) } } });
    timeOut(cluster, "a");
    receive(cluster, "a", "b", preVote(4));
    receive(cluster, "a", "b", preVote(9));
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "preCandidate", currentTerm: 4 });
    receive(cluster, "a", "b", preVote(5));
    expect(role(cluster, "a")).toBe("candidate");
  });

  it("one swallowed answer stops nobody for long (NuRaft#609)", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    let swallowed = 0;
    cluster.drop = ({ message }) => {
      if (message.kind !== "preVoteResponse" || swallowed >= 4) return false;
      swallowed += 1;
      return true;
    };
    advance(cluster, 2000);
    expect(swallowed).toBe(4);
    expect(leaderOf(cluster)).toBeDefined();
  });

  it("whoever lost an election waits as long as it would have without the refusals", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    timeOut(cluster, "a");
    const { deadlineMs } = nodeOf(cluster, "a").state.election;
    receive(cluster, "a", "b", preVote(0, false));
    expect(role(cluster, "a")).toBe("preCandidate");
    receive(cluster, "a", "c", preVote(0, false));
    expect(role(cluster, "a")).toBe("follower");
    expect(nodeOf(cluster, "a").state.election.deadlineMs).toBe(deadlineMs);
  });
});

describe("stickiness", () => {
  it("a node that hears its leader refuses votes and pre-votes without touching its term (Dissertation §4.2.3)", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    receive(cluster, "a", "b", heartbeat(1));
    cluster.queue = [];
    cluster.nowMs += 149;
    receive(cluster, "a", "c", voteRequest(7));
    receive(cluster, "a", "c", preVoteRequest(7));
    expect(cluster.queue.map(({ message }) => message)).toEqual([vote(1, false), preVote(1, false)]);
    expect(nodeOf(cluster, "a").state).toMatchObject({ currentTerm: 1, leader: idOf("b") });
    cluster.nowMs += 1;
    receive(cluster, "a", "c", voteRequest(7));
    expect(cluster.queue.at(-1)?.message).toEqual(vote(7));
  });

  it("a leader that asks for votes itself is no reason to refuse it (hashicorp/raft#606)", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    receive(cluster, "a", "b", heartbeat(1));
    receive(cluster, "a", "b", preVoteRequest(2));
    receive(cluster, "a", "b", voteRequest(2));
    expect(cluster.queue.slice(1).map(({ message }) => message)).toEqual([preVote(2), vote(2)]);
  });

  it("whoever follows a leader votes for nobody else in its term, however long the leader is silent", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    receive(cluster, "a", "b", heartbeat(1));
    cluster.nowMs += 149;
    turn(cluster, "a", { kind: "applied", upTo: asIndex(0) });
    cluster.nowMs += 100;
    receive(cluster, "a", "c", voteRequest(1));
    expect(cluster.queue.at(-1)?.message).toEqual(vote(1, false));
    expect(nodeOf(cluster, "a").state.vote).toBeUndefined();
  });

  it("a leader refuses too, and answers with its term", () => {
    const cluster = led(["a", "b", "c"], "a");
    receive(cluster, "a", "c", voteRequest(9));
    expect(cluster.queue.at(-1)?.message).toEqual(vote(1, false));
    expect(role(cluster, "a")).toBe("leader");
  });

  it("a vote depends on no configuration: a candidate that ours does not name is heard", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    receive(cluster, "a", "stranger", voteRequest(3));
    expect(cluster.queue.at(-1)).toMatchObject({ to: idOf("stranger"), message: vote(3) });
  });

  it("but an answer of a stranger is never counted", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    timeOut(cluster, "a");
    receive(cluster, "a", "stranger", preVote(1));
    expect(role(cluster, "a")).toBe("preCandidate");
    receive(cluster, "a", "b", preVote(1));
    receive(cluster, "a", "stranger", vote(1));
    expect(role(cluster, "a")).toBe("candidate");
  });

  it("a node whose term ran ahead comes back: the leader learns its term and a new one follows", () => {
    const cluster = led(["a", "b", "c"], "a");
    crash(cluster, "c");
    nodeOf(cluster, "c").disk.term = asTerm(20);
    restart(cluster, "c");
    advance(cluster, 3000);
    expect(leaderOf(cluster)!.state.currentTerm).toBeGreaterThan(20);
    for (const { state } of cluster.nodes.values()) expect(state.leader).toBe(leaderOf(cluster)!.id);
  });
});

describe("check-quorum", () => {
  it("a leader that a quorum does not answer steps down within an election timeout, and is silent then", () => {
    const cluster = led(five, "a");
    partition(cluster, ["a", "b"], ["c", "d", "e"]);
    const start = cluster.nowMs;
    while (role(cluster, "a") === "leader") advance(cluster, 5);
    expect(cluster.nowMs - start).toBeLessThanOrEqual(300 + 5);
    expect(nodeOf(cluster, "a").state).toMatchObject({ currentTerm: 1, vote: idOf("a"), leader: undefined });
    const beats: unknown[] = [];
    const cut = cluster.drop;
    cluster.drop = (flight) => {
      if (flight.message.kind === "heartbeat" && flight.from === idOf("a")) beats.push(flight);
      return cut!(flight);
    };
    advance(cluster, 1000);
    expect(beats).toEqual([]);
  });

  it("answers of a quorum keep it, whichever voters they come from", () => {
    const cluster = createCluster({ nodes: five });
    campaign(cluster, "a");
    cluster.drop = () => true;
    for (let ms = 0; ms < 2000; ms += 50) {
      cluster.nowMs += 50;
      turn(cluster, "a", { kind: "tick" });
      const answering = (ms / 200) % 2 < 1 ? ["b", "c"] : ["d", "e"];
      for (const name of answering) receive(cluster, "a", name, heartbeatResponse(1));
      receive(cluster, "a", "stranger", heartbeatResponse(1));
    }
    expect(role(cluster, "a")).toBe("leader");
    for (let ms = 0; ms < 350; ms += 50) {
      cluster.nowMs += 50;
      turn(cluster, "a", { kind: "tick" });
      for (const name of ["b", "stranger", "other"]) receive(cluster, "a", name, heartbeatResponse(1));
    }
    expect(role(cluster, "a"), "one follower and strangers are no quorum").toBe("follower");
  });

  it("answers of an older term are not heard", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], disks: { a: { term: asTerm(4) } } });
    timeOut(cluster, "a");
    receive(cluster, "a", "b", preVote(5));
    receive(cluster, "a", "b", vote(5));
    for (let ms = 0; ms < 350; ms += 50) {
      cluster.nowMs += 50;
      turn(cluster, "a", { kind: "tick" });
      for (const name of ["b", "c"]) receive(cluster, "a", name, heartbeatResponse(4));
    }
    expect(role(cluster, "a")).toBe("follower");
  });

  it("a bridge: a leader that only the bridge hears gives way to the connected majority (openraft#2080)", () => {
    const cluster = led(["a", "b", "bridge", "lead", "gone"], "lead");
    crash(cluster, "gone");
    links(cluster, ["a-b", "a-bridge", "b-bridge", "bridge-lead"]);
    advance(cluster, 3000);
    const leader = leaderOf(cluster);
    expect(["a", "b", "bridge"]).toContain(nameOf(leader!.id));
    propose(cluster, nameOf(leader!.id), "x");
    advance(cluster, 100);
    expect(leader!.applied.at(-1)?.kind).toBe("command");
  });

  it("two leaves: whoever lost the leader alone does not disturb those who hear it (openraft#2111)", () => {
    const cluster = led(["n1", "n2", "n3", "n4", "n5"], "n3");
    links(cluster, ["n5-n1", "n1-n3", "n1-n2", "n2-n3", "n2-n4"]);
    advance(cluster, 5000);
    expect(leaderOf(cluster)?.id).toBe(idOf("n3"));
    expect(Math.max(...[...cluster.nodes.values()].map(({ state }) => state.currentTerm))).toBe(1);
  });

  it("a chain of three keeps one leader (Cloudflare 2020)", () => {
    const cluster = led(["a", "b", "c"], "a");
    links(cluster, ["a-b", "b-c"]);
    advance(cluster, 5000);
    expect(leaderOf(cluster)?.id).toBe(idOf("a"));
    expect(nodeOf(cluster, "c").state.currentTerm).toBe(1);
  });

  it("a node that hears nobody, and that all hear, starts no storm of elections", () => {
    const cluster = led(["a", "b", "c"], "a");
    cluster.drop = ({ to }) => to === idOf("c");
    advance(cluster, 10_000);
    expect(leaderOf(cluster)?.id).toBe(idOf("a"));
    expect(leaderOf(cluster)?.state.currentTerm).toBe(1);
  });

  it("a node that nobody hears, and that hears the leader, does nothing either", () => {
    const cluster = led(["a", "b", "c"], "a");
    cluster.drop = ({ from }) => from === idOf("c");
    advance(cluster, 10_000);
    expect(leaderOf(cluster)?.state.currentTerm).toBe(1);
  });
});
