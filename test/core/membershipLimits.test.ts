/** Who may change the membership and when; what learners and members on their way out may do. */
import { asIndex, asTerm, encodeConfiguration } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  addNode,
  advance,
  campaign,
  configurationFor,
  crash,
  createCluster,
  idOf,
  nodeOf,
  partition,
  propose,
  receive,
  restart,
  settle,
  timeOut,
  transfer,
  turn,
} from "./cluster.ts";
import {
  change,
  leaderOf,
  ledCluster,
  memberNamed,
  remove,
  request,
  seenBy,
  votersSeenBy,
} from "./memberNames.ts";

describe("a request to change the membership", () => {
  it("is refused before the leader has committed in its own term (the bug of 2015)", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c", "d"] });
    cluster.drop = ({ message }) => message.kind === "appendRequest";
    campaign(cluster, "a");
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
    expect(request(cluster, [remove("b")])).toMatchObject({ kind: "refused", reason: "notReady" });
  });

  it("is refused while another one is under way, joint phase included", () => {
    const cluster = ledCluster("a", "b", "c", "d", "e");
    partition(cluster, ["a"]);
    request(cluster, [remove("b"), remove("c")]);
    expect(request(cluster, [remove("d")])).toMatchObject({ kind: "refused", reason: "changing" });
  });

  it("is refused when the configuration is not the one that it was made for", () => {
    const cluster = ledCluster("a", "b", "c");
    const inForce = nodeOf(cluster, "a").state.log.configurations.at(-1)!.index;
    change(cluster, remove("b"));
    expect(request(cluster, [remove("c")], inForce)).toMatchObject({
      kind: "refused",
      reason: "superseded",
    });
    const now = nodeOf(cluster, "a").state.log.configurations.at(-1)!.index;
    expect(request(cluster, [remove("c")], now)).toMatchObject({ kind: "appended" });
  });

  it("is refused by one that does not lead", () => {
    const cluster = ledCluster("a", "b", "c");
    const { memberships } = turn(cluster, "b", {
      kind: "membershipRequested",
      id: 4,
      changes: [remove("c")],
      ifIndex: undefined,
    });
    expect(memberships).toEqual([{ kind: "refused", id: 4, reason: "notLeader" }]);
  });
});

describe("a learner", () => {
  it("never counts, neither for commits nor for votes", () => {
    const cluster = ledCluster("a", "b", "c");
    addNode(cluster, "d");
    change(cluster, { kind: "add", member: memberNamed("d"), promotes: false });
    expect(seenBy(cluster, "a").learners).toBe("d");
    partition(cluster, ["a", "d"], ["b"], ["c"]);
    propose(cluster, "a", "only a and a learner have it");
    settle(cluster);
    expect(nodeOf(cluster, "d").state.log.lastIndex).toBe(nodeOf(cluster, "a").state.log.lastIndex);
    expect(nodeOf(cluster, "a").state.commitIndex).toBeLessThan(nodeOf(cluster, "a").state.log.lastIndex);
    advance(cluster, 1_000);
    expect(nodeOf(cluster, "a").state.role).not.toBe("leader");
  });

  it("does not campaign", () => {
    const cluster = ledCluster("a", "b", "c");
    addNode(cluster, "d");
    change(cluster, { kind: "add", member: memberNamed("d"), promotes: false });
    partition(cluster, ["d"]);
    advance(cluster, 2_000);
    expect(nodeOf(cluster, "d").state.role).toBe("follower");
  });

  it("gives its vote when it is asked: it may have been promoted without knowing (etcd#10998)", () => {
    const cluster = ledCluster("a", "b");
    addNode(cluster, "d");
    change(cluster, { kind: "add", member: memberNamed("d"), promotes: false });
    const { currentTerm, log } = nodeOf(cluster, "d").state;
    advance(cluster, 40);
    crash(cluster, "a");
    advance(cluster, 310);
    const { send } = receive(cluster, "d", "b", {
      kind: "voteRequest",
      term: asTerm(Math.max(currentTerm, nodeOf(cluster, "d").state.currentTerm) + 1),
      lastIndex: asIndex(log.lastIndex + 1),
      lastTerm: currentTerm,
      transfer: false,
    });
    const sent = [...send, ...cluster.queue.map(({ message }) => ({ message }))];
    expect(sent.some(({ message }) => message.kind === "voteResponse" && message.granted)).toBe(true);
  });
});

describe("a voter whose removal is not committed", () => {
  it("may be needed to lead, and then does not count itself (openraft#2091)", () => {
    // c was told of its own removal and has the longest log; b has not heard of it, a is gone.
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    const removal = {
      term: asTerm(1),
      index: asIndex(1),
      kind: "configuration" as const,
      data: encodeConfiguration(configurationFor(["a", "b"])),
    };
    crash(cluster, "c");
    nodeOf(cluster, "c").disk.entries = [removal];
    nodeOf(cluster, "c").disk.term = asTerm(1);
    restart(cluster, "c");
    expect(votersSeenBy(cluster, "c")).toBe("ab");
    timeOut(cluster, "c");
    expect(nodeOf(cluster, "c").state.role).toBe("preCandidate");
    const grant = (from: string): void => {
      const term = asTerm(nodeOf(cluster, "c").state.currentTerm + 1);
      receive(cluster, "c", from, { kind: "preVoteResponse", term, granted: true });
    };
    grant("a");
    expect(nodeOf(cluster, "c").state.role).toBe("preCandidate");
    grant("b");
    expect(nodeOf(cluster, "c").state.role).toBe("candidate");
  });
});

describe("taking voters away while others are gone", () => {
  it("is refused where those that are left could commit nothing, and taken where they could", () => {
    const cluster = ledCluster("a", "b", "c", "d", "e");
    propose(cluster, "a", "w");
    settle(cluster);
    crash(cluster, "b");
    crash(cluster, "c");
    advance(cluster, 600);
    expect(request(cluster, [remove("d")])).toMatchObject({ kind: "refused", reason: "quorumSilent" });
    expect(request(cluster, [{ kind: "demote", id: idOf("d") }])).toMatchObject({
      kind: "refused",
      reason: "quorumSilent",
    });
    change(cluster, remove("b"));
    change(cluster, remove("d"), remove("c"));
    expect(votersSeenBy(cluster, "a")).toBe("ae");
    propose(cluster, "a", "goes on");
    settle(cluster);
    expect(nodeOf(cluster, "a").state.commitIndex).toBe(nodeOf(cluster, "a").state.log.lastIndex);
  });

  it("is refused by a new leader too, which has not heard from those that are gone", () => {
    const cluster = ledCluster("a", "b", "c", "d", "e");
    crash(cluster, "d");
    crash(cluster, "e");
    transfer(cluster, "a", "b");
    settle(cluster);
    expect(leaderOf(cluster)).toBe("b");
    expect(request(cluster, [remove("c")])).toMatchObject({ kind: "refused", reason: "quorumSilent" });
    expect(request(cluster, [remove("d")])).toMatchObject({ kind: "appended" });
  });

  it("is refused by a leader whose process stood still too, until those that are there have answered again", () => {
    const cluster = ledCluster("a", "b", "c", "d", "e");
    crash(cluster, "b");
    crash(cluster, "c");
    advance(cluster, 600);
    cluster.nowMs += 1_000;
    expect(request(cluster, [remove("a")])).toMatchObject({ kind: "refused", reason: "quorumSilent" });
    expect(request(cluster, [remove("b")])).toMatchObject({ kind: "refused", reason: "quorumSilent" });
    advance(cluster, 100);
    expect(leaderOf(cluster)).toBe("a");
    expect(request(cluster, [remove("b")])).toMatchObject({ kind: "appended" });
  });
});
