/**
 * Fast failover, rule 13: what a follower makes of the end of its leader's connection, and what it leaves alone.
 */
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  crash,
  createCluster,
  deliver,
  finishWrite,
  idOf,
  nodeOf,
  partition,
  propose,
  receive,
  settle,
  turn,
} from "./cluster.ts";
import { voteRequest } from "./messages.ts";

const names = ["a", "b", "c"];

/** Led by a, and quiet. */
function ledByA(nodes: readonly string[] = names, seed = 1): Cluster {
  const cluster = createCluster({ nodes, core: { seed } });
  campaign(cluster, "a");
  advance(cluster, 100);
  expect(nodeOf(cluster, "a").state.role).toBe("leader");
  return cluster;
}

function lose(cluster: Cluster, name: string, peer: string): void {
  turn(cluster, name, { kind: "peerLost", peer: idOf(peer) });
}

/** Virtual milliseconds until a node of `of` leads. */
function timeToLeader(cluster: Cluster, of: readonly string[], withinMs: number): number {
  const startMs = cluster.nowMs;
  while (!of.some((name) => nodeOf(cluster, name).state.role === "leader")) {
    if (cluster.nowMs - startMs >= withinMs) return Number.POSITIVE_INFINITY;
    advance(cluster, 1, 1);
  }
  return cluster.nowMs - startMs;
}

describe("a leader whose process died", () => {
  it.each([3, 5, 7])("of %i nodes is replaced within the spread, by one election", (size) => {
    const nodes = [..."abcdefg"].slice(0, size);
    for (let seed = 1; seed <= 50; seed += 1) {
      const cluster = ledByA(nodes, seed);
      crash(cluster, "a");
      for (const name of nodes.slice(1)) lose(cluster, name, "a");
      expect(timeToLeader(cluster, nodes.slice(1), 400), `seed ${seed}`).toBeLessThanOrEqual(
        4 * (size - 3) + 1,
      );
      const leaders = nodes.slice(1).filter((name) => nodeOf(cluster, name).state.role === "leader");
      expect(leaders).toHaveLength(1);
      expect(nodeOf(cluster, leaders[0] as string).state.currentTerm).toBe(2);
    }
  });

  it("is forgotten at once, so that nobody refuses its successor, and forwarded reads end", () => {
    const cluster = ledByA();
    turn(cluster, "b", { kind: "readRequested", id: 5 });
    crash(cluster, "a");
    lose(cluster, "b", "a");
    expect(nodeOf(cluster, "b").state.leader).toBeUndefined();
    expect(nodeOf(cluster, "b").reads).toEqual([{ kind: "refused", id: 5, reason: "notLeader" }]);
  });

  it("is waited for no longer than a timeout by one that does not hear of its death", () => {
    const cluster = ledByA();
    crash(cluster, "a");
    lose(cluster, "b", "a");
    expect(timeToLeader(cluster, ["b", "c"], 1_000)).toBeLessThanOrEqual(600);
  });
});

describe("two that start at the same moment", () => {
  it("ask each other, and the one with the lower name goes on", () => {
    const cluster = ledByA();
    crash(cluster, "a");
    for (const name of ["b", "c"]) lose(cluster, name, "a");
    expect(["b", "c"].map((name) => nodeOf(cluster, name).state.role)).toEqual([
      "preCandidate",
      "preCandidate",
    ]);
    settle(cluster);
    expect(["b", "c"].map((name) => nodeOf(cluster, name).state.role)).toEqual(["leader", "follower"]);
  });

  it("let the one with the newer log go on, whatever its name", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "c"]);
    propose(cluster, "a", "only c has it");
    settle(cluster);
    cluster.drop = undefined;
    crash(cluster, "a");
    for (const name of ["b", "c"]) lose(cluster, name, "a");
    settle(cluster);
    expect(["b", "c"].map((name) => nodeOf(cluster, name).state.role)).toEqual(["follower", "leader"]);
  });

  it("are one once a pre-vote was granted: who granted waits a full timeout for the other", () => {
    const cluster = ledByA([..."abcde"]);
    crash(cluster, "a");
    lose(cluster, "b", "a");
    lose(cluster, "c", "a");
    nodeOf(cluster, "b").state.election.deadlineMs = cluster.nowMs;
    nodeOf(cluster, "c").state.election.deadlineMs = cluster.nowMs + 7;
    turn(cluster, "b", { kind: "tick" });
    deliver(cluster, cluster.queue.find(({ to }) => to === idOf("c"))!);
    cluster.queue = [];
    const { deadlineMs } = nodeOf(cluster, "c").state.election;
    expect(deadlineMs - cluster.nowMs).toBeGreaterThanOrEqual(150);
  });
});

describe("followers that notice one after the other", () => {
  it("do not wait for a timeout: the last one is granted what the first one was refused", () => {
    const cluster = ledByA();
    crash(cluster, "a");
    lose(cluster, "b", "a");
    settle(cluster);
    expect(nodeOf(cluster, "b").state.role, "c hears the leader still").not.toBe("candidate");
    lose(cluster, "c", "a");
    expect(timeToLeader(cluster, ["b", "c"], 400)).toBeLessThanOrEqual(1);
    expect(nodeOf(cluster, "c").state.role).toBe("leader");
  });

  it("do not wait either where the last one's log is older: who has to refuse it goes instead", () => {
    const cluster = ledByA();
    partition(cluster, ["a", "b"]);
    propose(cluster, "a", "only b has it");
    settle(cluster);
    cluster.drop = undefined;
    crash(cluster, "a");
    lose(cluster, "b", "a");
    settle(cluster);
    lose(cluster, "c", "a");
    expect(timeToLeader(cluster, ["b", "c"], 400)).toBeLessThanOrEqual(1);
    expect(nodeOf(cluster, "b").state.role).toBe("leader");
  });
});

describe("proposals that come while a successor is awaited", () => {
  /** What became of proposals at `name`, by their number. */
  function answered(cluster: Cluster, name: string): unknown[] {
    return nodeOf(cluster, name).proposals.map((outcome) =>
      outcome.kind === "appended" ? outcome.index : outcome.reason,
    );
  }

  it("are appended behind the no-op where it is this one, in the write of the no-op", () => {
    const cluster = ledByA();
    crash(cluster, "a");
    lose(cluster, "b", "a");
    const before = nodeOf(cluster, "b").state.log.lastIndex;
    propose(cluster, "b", "one");
    propose(cluster, "b", "two");
    expect(answered(cluster, "b")).toEqual([]);
    cluster.slowDisks.add("b");
    lose(cluster, "c", "a");
    settle(cluster);
    finishWrite(cluster, "b");
    settle(cluster);
    expect(nodeOf(cluster, "b").state.role).toBe("leader");
    expect(answered(cluster, "b")).toEqual([before + 2, before + 3]);
    expect(nodeOf(cluster, "b").state.disk.outstanding?.upTo).toBe(before + 3);
  });

  it("are refused as soon as there is another leader to be named", () => {
    const cluster = ledByA();
    crash(cluster, "a");
    lose(cluster, "c", "a");
    propose(cluster, "c", "one");
    expect(answered(cluster, "c")).toEqual([]);
    lose(cluster, "b", "a");
    settle(cluster);
    const leader = ["b", "c"].find((name) => nodeOf(cluster, name).state.role === "leader");
    const other = leader === "b" ? "c" : "b";
    expect(answered(cluster, other)).toEqual(other === "c" ? ["notLeader"] : []);
    propose(cluster, other, "two");
    expect(answered(cluster, other).at(-1)).toBe("notLeader");
  });

  it("are refused as soon as another candidate has this one's vote, which can be named", () => {
    const cluster = ledByA();
    crash(cluster, "a");
    lose(cluster, "c", "a");
    propose(cluster, "c", "one");
    receive(cluster, "c", "b", { ...voteRequest(2), lastIndex: 1 as never, lastTerm: 1 as never });
    expect(nodeOf(cluster, "c").state).toMatchObject({ vote: idOf("b"), leader: undefined });
    expect(answered(cluster, "c")).toEqual(["notLeader"]);
  });

  it("are refused after an election timeout where none comes, and at once after that", () => {
    const cluster = ledByA();
    crash(cluster, "a");
    crash(cluster, "c");
    lose(cluster, "b", "a");
    propose(cluster, "b", "one");
    advance(cluster, 290);
    expect(answered(cluster, "b")).toEqual([]);
    advance(cluster, 20);
    expect(answered(cluster, "b")).toEqual(["notLeader"]);
    propose(cluster, "b", "two");
    expect(answered(cluster, "b")).toEqual(["notLeader", "notLeader"]);
  });

  it("are bounded like what is not committed", () => {
    const cluster = createCluster({ nodes: names, core: { maxUncommittedEntries: 2 } });
    campaign(cluster, "a");
    advance(cluster, 100);
    crash(cluster, "a");
    lose(cluster, "b", "a");
    for (const text of ["one", "two", "three"]) propose(cluster, "b", text);
    expect(answered(cluster, "b")).toEqual(["overloaded"]);
  });
});

describe("a link that broke while its leader lives", () => {
  it("changes nothing: the others refuse, and the next heartbeat brings the follower back", () => {
    const cluster = ledByA();
    lose(cluster, "b", "a");
    advance(cluster, 300);
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "leader", currentTerm: 1 });
    expect(nodeOf(cluster, "b").state).toMatchObject({ role: "follower", currentTerm: 1, leader: idOf("a") });
  });

  it("changes nothing either when its follower hears nothing for a while: a failed round is not repeated soon", () => {
    const cluster = ledByA();
    cluster.drop = ({ from, to }) => from === idOf("a") && to === idOf("b");
    const asked: number[] = [];
    cluster.observe = (node) => {
      const sent = node.effects.send.some(({ message }) => message.kind === "preVoteRequest");
      if (sent) asked.push(cluster.nowMs);
    };
    const startMs = cluster.nowMs;
    lose(cluster, "b", "a");
    advance(cluster, 450, 1);
    expect(asked[0]! - startMs).toBeLessThanOrEqual(20);
    expect(asked[1]! - asked[0]!).toBeGreaterThanOrEqual(150);
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "leader", currentTerm: 1 });
  });
});

describe("the end of a connection", () => {
  it("with another peer than the leader is no reason to start", () => {
    const cluster = ledByA();
    const before = nodeOf(cluster, "b").state.election.deadlineMs;
    lose(cluster, "b", "c");
    lose(cluster, "a", "b");
    expect(nodeOf(cluster, "b").state).toMatchObject({ leader: idOf("a"), election: { deadlineMs: before } });
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
  });

  it("makes no mute member campaign, and leaves a candidacy under way alone", () => {
    const cluster = createCluster({
      nodes: names,
      disks: { b: { floor: { lastIndex: 9, lastTerm: 9 } as never } },
    });
    campaign(cluster, "a");
    advance(cluster, 100);
    const before = nodeOf(cluster, "b").state.election.deadlineMs;
    lose(cluster, "b", "a");
    expect(nodeOf(cluster, "b").state.leader).toBeUndefined();
    expect(nodeOf(cluster, "b").state.election.deadlineMs).toBe(before);
    lose(cluster, "c", "a");
    const { deadlineMs } = nodeOf(cluster, "c").state.election;
    lose(cluster, "c", "a");
    expect(nodeOf(cluster, "c").state).toMatchObject({ role: "preCandidate", election: { deadlineMs } });
  });

  it("does not keep the sooner start once the leader was heard again", () => {
    const cluster = ledByA();
    lose(cluster, "b", "a");
    receive(cluster, "b", "a", {
      kind: "heartbeat",
      term: nodeOf(cluster, "a").state.currentTerm,
      session: 1,
      commitIndex: 0 as never,
      token: 0,
    });
    expect(nodeOf(cluster, "b").state.election.isBroughtForward).toBe(false);
    expect(nodeOf(cluster, "b").state.election.deadlineMs - cluster.nowMs).toBeGreaterThanOrEqual(150);
  });
});
