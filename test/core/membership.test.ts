/** Changes of membership on cores in memory: what is in force, who counts, and who goes on with it. */
import { asIndex, configurationOf, isJoint, type MembershipOutcome, nodeIdOf } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  addNode,
  advance,
  crash,
  heal,
  idOf,
  nodeOf,
  partition,
  propose,
  receive,
  restart,
  settle,
  turn,
} from "./cluster.ts";
import {
  add,
  change,
  leaderOf,
  ledCluster,
  memberNamed,
  remove,
  request,
  seenBy,
  votersSeenBy,
} from "./memberNames.ts";

describe("a change of membership", () => {
  it("brings a new voter in as a learner and promotes it when it has caught up", () => {
    const cluster = ledCluster("a", "b", "c");
    for (let count = 0; count < 20; count += 1) propose(cluster, "a", `w${count}`);
    settle(cluster);
    addNode(cluster, "d");
    partition(cluster, ["a", "b", "c"], ["d"]);
    expect(request(cluster, [add("d")])).toMatchObject({ kind: "appended" });
    advance(cluster, 400);
    expect(seenBy(cluster, "a")).toEqual({ voters: "abc", outgoing: "", learners: "d" });
    heal(cluster);
    advance(cluster, 400);
    for (const name of ["a", "b", "c", "d"]) {
      expect(seenBy(cluster, name)).toEqual({ voters: "abcd", outgoing: "", learners: "" });
    }
    expect(nodeOf(cluster, "d").applied).toHaveLength(nodeOf(cluster, "a").applied.length);
  });

  it("never blocks the quorum for one that is not there", () => {
    const cluster = ledCluster("a", "b", "c");
    addNode(cluster, "z");
    crash(cluster, "z");
    change(cluster, add("z"));
    crash(cluster, "c");
    propose(cluster, "a", "goes on");
    settle(cluster);
    expect(nodeOf(cluster, "a").state.commitIndex).toBe(nodeOf(cluster, "a").state.log.lastIndex);
  });

  it("takes a cluster from one to three to five to three to one", () => {
    const cluster = ledCluster("a");
    for (const name of ["b", "c", "d", "e"]) {
      addNode(cluster, name);
      change(cluster, add(name));
    }
    expect(votersSeenBy(cluster, "a")).toBe("abcde");
    for (const name of ["a", "b", "c", "d"]) {
      change(cluster, remove(name));
      advance(cluster, 1_500);
      propose(cluster, leaderOf(cluster), `without ${name}`);
      settle(cluster);
    }
    expect(leaderOf(cluster)).toBe("e");
    expect(votersSeenBy(cluster, "e")).toBe("e");
    const { commitIndex, log } = nodeOf(cluster, "e").state;
    expect(commitIndex).toBe(log.lastIndex);
  });

  it("goes by way of a joint configuration when more than one voter differs, and out of it by itself", () => {
    const cluster = ledCluster("a", "b", "c");
    const seen: string[] = [];
    cluster.observe = (node) => {
      const now = votersSeenBy(cluster, nodeIdOf(node.id));
      if (nodeIdOf(node.id) === "a" && seen.at(-1) !== now) seen.push(now);
    };
    addNode(cluster, "d");
    addNode(cluster, "e");
    change(cluster, add("d"));
    change(cluster, add("e"));
    change(cluster, remove("b"), remove("c"));
    expect(seen).toEqual(["abc", "abcd", "abcde", "ade/abcde", "ade"]);
    for (const name of ["d", "e", "b", "c"]) expect(votersSeenBy(cluster, name)).toBe("ade");
  });

  it("needs a majority of both lists while it is joint (CCF#3948)", () => {
    const cluster = ledCluster("a", "b", "c", "d", "e");
    partition(cluster, ["a", "b", "c"], ["d"], ["e"]);
    // a, b and c are a majority of the old five, but a alone is none of the new three.
    const outcome = request(cluster, [remove("b"), remove("c")]);
    advance(cluster, 100);
    expect(outcome).toMatchObject({ kind: "appended" });
    expect(votersSeenBy(cluster, "a")).toBe("ade/abcde");
    expect(nodeOf(cluster, "a").state.commitIndex).toBeLessThan(nodeOf(cluster, "a").state.log.lastIndex);
    heal(cluster);
    advance(cluster, 1_500);
    const leader = leaderOf(cluster);
    expect(isJoint(configurationOf(nodeOf(cluster, leader).state.log))).toBe(false);
  });

  it("is carried on by the next leader, out of the joint configuration (etcd#12136)", () => {
    const cluster = ledCluster("a", "b", "c", "d", "e");
    request(cluster, [remove("d"), remove("e")]);
    // The joint entry reaches everybody, and its leader dies before it can lead out of it.
    while (cluster.queue.length > 0) {
      const flight = cluster.queue.shift()!;
      if (flight.to === idOf("a")) continue;
      turn(cluster, nodeIdOf(flight.to), { kind: "received", from: flight.from, message: flight.message });
    }
    crash(cluster, "a");
    expect(votersSeenBy(cluster, "b")).toBe("abc/abcde");
    advance(cluster, 1_500);
    expect(votersSeenBy(cluster, leaderOf(cluster))).toBe("abc");
  });

  it("promotes a learner under the next leader too: the intent is in the log", () => {
    const cluster = ledCluster("a", "b", "c");
    addNode(cluster, "d");
    partition(cluster, ["a", "b", "c"], ["d"]);
    change(cluster, add("d"));
    crash(cluster, "a");
    advance(cluster, 1_000);
    heal(cluster);
    advance(cluster, 500);
    expect(votersSeenBy(cluster, leaderOf(cluster))).toBe("abcd");
  });

  it("replaces a voter in one step when its successor has caught up", () => {
    const cluster = ledCluster("a", "b", "c");
    crash(cluster, "c");
    addNode(cluster, "d");
    change(cluster, { kind: "replace", id: idOf("c"), by: memberNamed("d") });
    expect(seenBy(cluster, "a")).toEqual({ voters: "abd", outgoing: "", learners: "" });
    crash(cluster, "b");
    propose(cluster, "a", "a and d are a majority");
    settle(cluster);
    expect(nodeOf(cluster, "d").state.commitIndex).toBeGreaterThan(0);
    expect(nodeOf(cluster, "a").state.commitIndex).toBe(nodeOf(cluster, "a").state.log.lastIndex);
  });

  it("lets a removed leader commit its own removal, and then go (Dissertation §4.2.2)", () => {
    const cluster = ledCluster("a", "b", "c");
    const { index } = request(cluster, [remove("a")]) as Extract<MembershipOutcome, { kind: "appended" }>;
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
    settle(cluster);
    advance(cluster, 10);
    expect(nodeOf(cluster, "a").state.role).toBe("follower");
    expect(nodeOf(cluster, "a").state.commitIndex).toBeGreaterThanOrEqual(index);
    advance(cluster, 1_000);
    expect(["b", "c"]).toContain(leaderOf(cluster));
    propose(cluster, leaderOf(cluster), "two are enough");
    settle(cluster);
    const { state } = nodeOf(cluster, leaderOf(cluster));
    expect(state.commitIndex).toBe(state.log.lastIndex);
  });

  it("counts without the leader that is going: both others have to have its removal", () => {
    const cluster = ledCluster("a", "b", "c");
    partition(cluster, ["a", "b"], ["c"]);
    const { index } = request(cluster, [remove("a")]) as Extract<MembershipOutcome, { kind: "appended" }>;
    advance(cluster, 100);
    expect(nodeOf(cluster, "b").state.log.lastIndex).toBe(index);
    expect(nodeOf(cluster, "a").state.commitIndex).toBeLessThan(index);
  });

  it("removes one of two (etcd#10563)", () => {
    const cluster = ledCluster("a", "b");
    change(cluster, remove("b"));
    crash(cluster, "b");
    propose(cluster, "a", "alone");
    advance(cluster, 500);
    const { state } = nodeOf(cluster, "a");
    expect(state.role).toBe("leader");
    expect(state.commitIndex).toBe(state.log.lastIndex);
  });

  it("tells the one that is removed, so that it does not campaign in vain", () => {
    const cluster = ledCluster("a", "b", "c");
    change(cluster, remove("c"));
    expect(votersSeenBy(cluster, "c")).toBe("ab");
    const { currentTerm } = nodeOf(cluster, "a").state;
    advance(cluster, 3_000);
    expect(nodeOf(cluster, "c").state.role).toBe("follower");
    expect(nodeOf(cluster, "a").state.currentTerm).toBe(currentTerm);
    expect(nodeOf(cluster, "a").state.leading?.peers.has(idOf("c"))).toBe(false);
  });

  it("is not disturbed by a removed node that was never told (hashicorp#524)", () => {
    const cluster = ledCluster("a", "b", "c");
    partition(cluster, ["a", "b"], ["c"]);
    change(cluster, remove("c"));
    advance(cluster, 5_000);
    heal(cluster);
    const { currentTerm } = nodeOf(cluster, "a").state;
    advance(cluster, 3_000);
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
    expect(nodeOf(cluster, "a").state.currentTerm).toBe(currentTerm);
  });

  it("starts a new session with one that is removed and added again in one term (raft-rs#571)", () => {
    const cluster = ledCluster("a", "b", "c");
    const before = nodeOf(cluster, "a").state.leading!.peers.get(idOf("c"))!.session;
    partition(cluster, ["a", "b"], ["c"]);
    change(cluster, remove("c"));
    change(cluster, add("c"));
    const peer = nodeOf(cluster, "a").state.leading!.peers.get(idOf("c"))!;
    expect(peer.session).toBeGreaterThan(before);
    expect(peer.match).toBe(0);
    const result = { kind: "matched", matchIndex: asIndex(1) } as const;
    receive(cluster, "a", "c", {
      kind: "appendResponse",
      term: nodeOf(cluster, "a").state.currentTerm,
      session: before,
      result,
    });
    expect(peer.match).toBe(0);
    heal(cluster);
    advance(cluster, 500);
    expect(votersSeenBy(cluster, "a")).toBe("abc");
  });

  it("goes with the entry that carried it when a new leader overwrites that", () => {
    const cluster = ledCluster("a", "b", "c");
    partition(cluster, ["a"], ["b", "c"]);
    request(cluster, [remove("b"), remove("c")]);
    expect(votersSeenBy(cluster, "a")).toBe("a/abc");
    expect(nodeOf(cluster, "a").state.commitIndex).toBeLessThan(nodeOf(cluster, "a").state.log.lastIndex);
    advance(cluster, 1_000);
    heal(cluster);
    advance(cluster, 500);
    expect(leaderOf(cluster)).not.toBe("a");
    expect(votersSeenBy(cluster, "a")).toBe("abc");
    const ends = [...cluster.nodes.values()].map((node) => node.state.log.lastIndex);
    expect(new Set(ends).size).toBe(1);
  });

  it("stands in the log after a restart in the middle of it", () => {
    const cluster = ledCluster("a", "b", "c", "d", "e");
    partition(cluster, ["a", "b", "c"], ["d"], ["e"]);
    request(cluster, [remove("b"), remove("c")]);
    advance(cluster, 100);
    for (const name of ["a", "b", "c", "d", "e"]) {
      crash(cluster, name);
      restart(cluster, name);
    }
    expect(votersSeenBy(cluster, "b")).toBe("ade/abcde");
    heal(cluster);
    advance(cluster, 2_000);
    expect(isJoint(configurationOf(nodeOf(cluster, leaderOf(cluster)).state.log))).toBe(false);
  });
});
