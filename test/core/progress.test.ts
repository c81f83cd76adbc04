/**
 * Replication to one follower: probing, windows, losses that are found out, sessions, and entries from the
 * log store.
 */
import { asIndex, asTerm, type Effects, type Progress } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  bytes,
  type Cluster,
  type ClusterOptions,
  campaign,
  commitOf,
  crash,
  createCluster,
  deliver,
  entriesOf,
  hold,
  idOf,
  nameOf,
  nodeOf,
  propose,
  receive,
  restart,
  sentOf,
  settle,
  termsOf,
  textOf,
  turn,
} from "./cluster.ts";
import {
  append,
  entriesAfter,
  heartbeat,
  heartbeatResponse,
  matched,
  preVote,
  rejected,
  vote,
} from "./messages.ts";

/** `a` leads term 1, or one more than its log's last; the test plays b. */
function leading(more: Partial<ClusterOptions> = {}): Cluster {
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

function peer(cluster: Cluster, name = "b"): Progress {
  return nodeOf(cluster, "a").state.leading!.peers.get(idOf(name))!;
}

/** What the last turn of `a` sent to b in appends: [prevIndex, number of entries]. */
function appends(effects: Effects): [number, number][] {
  const toB = effects.send.filter(({ to }) => to === idOf("b"));
  return sentOf({ ...effects, send: toB }, "appendRequest").map(({ prevIndex, entries }) => [
    prevIndex,
    entries.length,
  ]);
}

function replicating(more: Partial<ClusterOptions> = {}): Cluster {
  const cluster = leading(more);
  receive(cluster, "a", "b", matched(1, 1, peer(cluster).session));
  expect(peer(cluster)).toMatchObject({ mode: "replicate", match: 1, next: 2, inflight: [] });
  return cluster;
}

/** b answers a heartbeat in the session that `a` is in. */
function beat(cluster: Cluster, term = 1): Effects {
  return receive(cluster, "a", "b", heartbeatResponse(term, { session: peer(cluster).session }));
}

function reject(cluster: Cluster, index: number, hint: readonly [number, number], term = 1): Effects {
  return receive(cluster, "a", "b", rejected(term, index, hint, peer(cluster).session));
}

describe("probing", () => {
  it("has one append in flight, and the next leaves at once on its answer", () => {
    const cluster = leading({ disks: { a: { entries: entriesOf([1, 1, 1, 1]) } } });
    expect(appends(nodeOf(cluster, "a").effects), "sent on election, answered by nobody").toEqual([]);
    expect(peer(cluster)).toMatchObject({ mode: "probe", next: 5 });
    expect(appends(propose(cluster, "a", "x"))).toEqual([]);
    expect(appends(reject(cluster, 4, [2, 1], 2))).toEqual([[2, 0]]);
    expect(appends(propose(cluster, "a", "y"))).toEqual([]);
  });

  it("carries entries when they are in memory", () => {
    const cluster = leading();
    expect(
      appends(reject(cluster, 0, [0, 0])),
      "index 0 is equal everywhere: nonsense changes nothing",
    ).toEqual([]);
    expect(peer(cluster).inflight).toMatchObject([{ lastIndex: 1 }]);
  });

  it("is repeated on a heartbeat's answer only when it was unanswered for a heartbeat interval", () => {
    const cluster = leading();
    cluster.nowMs += 49;
    expect(appends(beat(cluster))).toEqual([]);
    cluster.nowMs += 1;
    expect(appends(beat(cluster))).toEqual([[0, 1]]);
    expect(appends(beat(cluster))).toEqual([]);
  });

  it("ends with a match, and counts what the probe carried as sent", () => {
    const cluster = leading();
    propose(cluster, "a", "x");
    expect(appends(receive(cluster, "a", "b", matched(1, 0, peer(cluster).session)))).toEqual([[1, 1]]);
    expect(peer(cluster)).toMatchObject({ mode: "replicate", match: 0, next: 3 });
  });

  it("a caught-up follower leaves it without new entries", () => {
    const cluster = leading();
    receive(cluster, "a", "b", matched(1, 1, peer(cluster).session));
    expect(peer(cluster)).toMatchObject({ mode: "replicate", match: 1 });
  });

  it("goes back by terms: a rejection costs one probe for each term that conflicts", () => {
    // Leader  1 1 1 5 5 5 5      follower of the rows: what it answers, and where the leader asks next.
    const table: [hint: [number, number], next: number][] = [
      [[7, 4], 3], // terms above 4 cannot agree: back to the end of term 1
      [[7, 5], 6], // the same term: one step, the probe was refused
      [[4, 5], 4],
      [[2, 1], 2],
      [[6, 3], 3],
      [[0, 0], 0],
    ];
    for (const [hint, prev] of table) {
      const cluster = leading({ disks: { a: { entries: entriesOf([1, 1, 1, 5, 5, 5, 5]) } } });
      expect(appends(reject(cluster, 7, hint, 6)), `hint ${hint}`).toEqual([[prev, 0]]);
    }
  });

  it("ignores a rejection of an earlier probe", () => {
    const cluster = leading({ disks: { a: { entries: entriesOf([1, 1, 1, 1, 1]) } } });
    reject(cluster, 5, [3, 1], 2);
    expect(peer(cluster).next).toBe(4);
    expect(appends(reject(cluster, 5, [3, 1], 2))).toEqual([]);
    expect(peer(cluster).next).toBe(4);
  });

  it("ends even with a follower whose hints are nonsense", () => {
    const cluster = leading({ disks: { a: { entries: entriesOf([1, 1, 1, 1, 1]) } } });
    let probes = 0;
    while (peer(cluster).next > 1 && probes < 20) {
      reject(cluster, peer(cluster).next - 1, [99, 99], 2);
      probes += 1;
    }
    expect(probes).toBe(5);
  });
});

describe("replicating", () => {
  it("sends all proposals of a turn in one append, before they are acknowledged", () => {
    const cluster = replicating();
    const proposal = (id: number) => ({ kind: "proposed", id, entry: "command", data: bytes("x") }) as const;
    expect(appends(turn(cluster, "a", proposal(1), proposal(2), proposal(3)))).toEqual([[1, 3]]);
    expect(appends(propose(cluster, "a", "y"))).toEqual([[4, 1]]);
    expect(peer(cluster)).toMatchObject({ match: 1, next: 6 });
  });

  it("keeps a window by count", () => {
    const cluster = replicating({ core: { maxInflightAppends: 2 } });
    expect(appends(propose(cluster, "a", "1"))).toEqual([[1, 1]]);
    expect(appends(propose(cluster, "a", "2"))).toEqual([[2, 1]]);
    expect(appends(propose(cluster, "a", "3"))).toEqual([]);
    expect(appends(propose(cluster, "a", "4"))).toEqual([]);
    expect(appends(receive(cluster, "a", "b", matched(1, 2, peer(cluster).session)))).toEqual([[3, 2]]);
    expect(appends(receive(cluster, "a", "b", matched(1, 5, peer(cluster).session)))).toEqual([[5, 0]]);
    expect(peer(cluster)).toMatchObject({ inflight: [], inflightBytes: 0 });
  });

  it("keeps a window by bytes, of which one append may always go", () => {
    const cluster = replicating({ core: { maxInflightBytes: 10 } });
    expect(appends(propose(cluster, "a", "123456"))).toEqual([[1, 1]]);
    expect(appends(propose(cluster, "a", "a large one, larger than the window"))).toEqual([[2, 1]]);
    expect(appends(propose(cluster, "a", "x"))).toEqual([]);
    expect(appends(receive(cluster, "a", "b", matched(1, 3, peer(cluster).session)))).toEqual([[3, 1]]);
    expect(peer(cluster).inflightBytes).toBe(1);
  });

  it("cuts appends by bytes, but a single larger entry goes alone", () => {
    const cluster = replicating({ core: { maxAppendBytes: 10 } });
    const proposal = (text: string) =>
      ({ kind: "proposed", id: 1, entry: "command", data: bytes(text) }) as const;
    const effects = turn(cluster, "a", ...["12345", "12345", "1", "a much larger entry", "1"].map(proposal));
    expect(appends(effects)).toEqual([
      [1, 2],
      [3, 1],
      [4, 1],
      [5, 1],
    ]);
  });

  it("finds out a lost append by the answers to heartbeats", () => {
    const cluster = replicating();
    propose(cluster, "a", "lost");
    propose(cluster, "a", "y");
    cluster.nowMs += 49;
    expect(appends(beat(cluster))).toEqual([]);
    cluster.nowMs += 1;
    expect(appends(beat(cluster)), "an empty append that only a complete follower accepts").toEqual([[3, 0]]);
    expect(appends(reject(cluster, 3, [1, 1]))).toEqual([[1, 2]]);
    expect(peer(cluster).mode).toBe("probe");
  });

  it("a full window does not wedge when everything in it is lost (etcd#14633)", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], core: { maxInflightAppends: 2 } });
    campaign(cluster, "a");
    advance(cluster, 100);
    cluster.drop = ({ message }) => message.kind === "appendRequest";
    for (const text of ["1", "2", "3", "4"]) propose(cluster, "a", text);
    cluster.drop = undefined;
    advance(cluster, 200);
    for (const node of cluster.nodes.values())
      expect(node.applied.map(textOf).slice(1)).toEqual(["1", "2", "3", "4"]);
  });

  it("lost acks are found out too", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    campaign(cluster, "a");
    advance(cluster, 100);
    cluster.drop = ({ message }) => message.kind === "appendResponse";
    propose(cluster, "a", "x");
    settle(cluster);
    expect(commitOf(cluster, "a")).toBe(1);
    cluster.drop = undefined;
    advance(cluster, 110);
    expect(commitOf(cluster, "a")).toBe(2);
  });

  it("appends that overtake one another only cost a probe", () => {
    const cluster = createCluster({ nodes: ["a", "b"] });
    campaign(cluster, "a");
    advance(cluster, 100);
    for (const text of ["1", "2", "3"]) propose(cluster, "a", text);
    for (const flight of hold(cluster, () => true).reverse()) deliver(cluster, flight);
    settle(cluster);
    advance(cluster, 100);
    expect(nodeOf(cluster, "b").applied.map(textOf)).toEqual(["noop", "1", "2", "3"]);
  });

  it("a follower learns of a commit at once, not with the next heartbeat", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    campaign(cluster, "a");
    propose(cluster, "a", "x");
    settle(cluster);
    for (const name of ["a", "b", "c"]) expect(commitOf(cluster, name)).toBe(2);
  });

  it("a heartbeat tells each follower of no more than it is known to hold (S13)", () => {
    const cluster = replicating();
    cluster.nowMs += 50;
    const beats = turn(cluster, "a", { kind: "tick" }).send.filter(
      ({ message }) => message.kind === "heartbeat",
    );
    const told = beats.map(({ to, message }) => [
      nameOf(to),
      (message as { commitIndex?: number }).commitIndex,
    ]);
    expect(commitOf(cluster, "a")).toBe(1);
    expect(told).toEqual([
      ["b", 1],
      ["c", 0],
    ]);
  });

  it("a match never falls within a session, and an answer from beyond our log is nobody's", () => {
    const cluster = replicating();
    propose(cluster, "a", "x");
    const { session } = peer(cluster);
    receive(cluster, "a", "b", matched(1, 2, session));
    receive(cluster, "a", "b", matched(1, 1, session));
    receive(cluster, "a", "b", matched(1, 77, session));
    expect(peer(cluster)).toMatchObject({ match: 2, next: 3 });
  });
});

describe("sessions", () => {
  it("are unique over all peers of a term", () => {
    const cluster = leading();
    expect(peer(cluster, "b").session).not.toBe(peer(cluster, "c").session);
  });

  it("an answer of another session is dropped (raft-rs#571, etcd/raft#349)", () => {
    const cluster = replicating();
    propose(cluster, "a", "x");
    const { session } = peer(cluster);
    receive(cluster, "a", "b", matched(1, 2, session - 1));
    receive(cluster, "a", "b", matched(1, 2, session + 1));
    receive(cluster, "a", "b", rejected(1, 2, [0, 0], session + 1));
    expect(peer(cluster)).toMatchObject({ match: 1, mode: "replicate" });
    expect(commitOf(cluster, "a")).toBe(1);
  });

  it("a rejection of what was acknowledged starts a new one, in which nothing old is believed", () => {
    const cluster = replicating();
    propose(cluster, "a", "x");
    const { session } = peer(cluster);
    receive(cluster, "a", "b", matched(1, 2, session));
    expect(appends(reject(cluster, 2, [0, 0]))).toEqual([[2, 0]]);
    expect(peer(cluster)).toMatchObject({ mode: "probe", match: 0, next: 3 });
    expect(peer(cluster).session).toBeGreaterThan(session);
    receive(cluster, "a", "b", matched(1, 2, session));
    expect(peer(cluster).match).toBe(0);
    expect(appends(reject(cluster, 2, [0, 0]))).toEqual([[0, 2]]);
  });

  it("a follower that lost its log, in the same term and incarnation, is filled again", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    campaign(cluster, "a");
    for (const text of ["1", "2", "3"]) propose(cluster, "a", text);
    advance(cluster, 100);
    crash(cluster, "b");
    const { disk } = nodeOf(cluster, "b");
    disk.floor = { lastIndex: asIndex(4), lastTerm: asTerm(1) };
    disk.entries = [];
    restart(cluster, "b");
    advance(cluster, 300);
    expect(termsOf(nodeOf(cluster, "b"))).toEqual([1, 1, 1, 1]);
    expect(nodeOf(cluster, "b").applied).toHaveLength(4);
    expect(nodeOf(cluster, "b").disk.floor).toBeUndefined();
  });

  it("a follower that was only restarted learns what is committed, though nothing is written any more", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    campaign(cluster, "a");
    propose(cluster, "a", "x");
    advance(cluster, 100);
    crash(cluster, "b");
    restart(cluster, "b");
    advance(cluster, 150);
    expect(commitOf(cluster, "b")).toBe(2);
    const before = peer(cluster).session;
    advance(cluster, 1000);
    expect(peer(cluster).session, "once is enough").toBe(before);
  });

  it("an append of a session that the leader has left is not taken", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    receive(cluster, "b", "a", append(1, [0, 0], entriesAfter(0, [1]), { session: 5 }));
    receive(cluster, "b", "a", append(1, [1, 1], entriesAfter(1, [1]), { session: 4 }));
    expect(nodeOf(cluster, "b").state.log.lastIndex).toBe(1);
  });
});

describe("entries that left the memory", () => {
  const old = { disks: { a: { entries: entriesOf([1, 1, 1, 1, 1, 1]) } } };

  function loading(more: Partial<ClusterOptions> = {}): Cluster {
    const cluster = leading({ ...old, ...more });
    cluster.slowLoads = true;
    expect(reject(cluster, 6, [0, 0], 2).loads, "a probe needs none").toEqual([]);
    return cluster;
  }

  it("are asked for, one load a follower at a time, and sent when they come", () => {
    const cluster = loading({ core: { maxAppendBytes: 1000 } });
    const { session } = peer(cluster);
    const effects = receive(cluster, "a", "b", matched(2, 0, session));
    expect(effects.loads).toEqual([{ peer: idOf("b"), term: 2, session, from: 1, to: 6, maxBytes: 1000 }]);
    expect(propose(cluster, "a", "x").loads).toEqual([]);
    const [load] = effects.loads;
    const entries = nodeOf(cluster, "a").disk.entries.slice(0, 4);
    const next = turn(cluster, "a", { kind: "loaded", load: load!, entries });
    expect(appends(next)).toEqual([[0, 4]]);
    expect(next.loads).toMatchObject([{ from: 5, to: 6 }]);
    const rest = nodeOf(cluster, "a").disk.entries.slice(4, 6);
    expect(appends(turn(cluster, "a", { kind: "loaded", load: next.loads[0]!, entries: rest }))).toEqual([
      [4, 2],
      [6, 2],
    ]);
  });

  it("are asked for again when no answer comes, or a useless one", () => {
    const cluster = loading();
    const { session } = peer(cluster);
    const [load] = receive(cluster, "a", "b", matched(2, 0, session)).loads;
    turn(cluster, "a", { kind: "loaded", load: load!, entries: [] });
    turn(cluster, "a", { kind: "loaded", load: load!, entries: entriesAfter(0, [7]) });
    turn(cluster, "a", { kind: "loaded", load: load!, entries: entriesAfter(3, [1]) });
    expect(nodeOf(cluster, "a").loads).toHaveLength(1);
    for (let ms = 0; ms < 300; ms += 50) {
      cluster.nowMs += 50;
      receive(cluster, "a", "c", heartbeatResponse(2));
      beat(cluster, 2);
    }
    expect(nodeOf(cluster, "a").loads).toHaveLength(2);
    const entries = nodeOf(cluster, "a").disk.entries.slice(0, 6);
    expect(appends(turn(cluster, "a", { kind: "loaded", load: load!, entries }))[0]).toEqual([0, 6]);
    expect(appends(turn(cluster, "a", { kind: "loaded", load: load!, entries })), "twice is once").toEqual(
      [],
    );
  });

  it("are not sent into another session, another term or another state", () => {
    const cluster = loading();
    const [load] = receive(cluster, "a", "b", matched(2, 0, peer(cluster).session)).loads;
    const entries = nodeOf(cluster, "a").disk.entries.slice(0, 6);
    expect(appends(turn(cluster, "a", { kind: "loaded", load: { ...load!, session: 99 }, entries }))).toEqual(
      [],
    );
    expect(
      appends(turn(cluster, "a", { kind: "loaded", load: { ...load!, term: asTerm(1) }, entries })),
    ).toEqual([]);
    receive(cluster, "a", "b", heartbeat(9));
    expect(turn(cluster, "a", { kind: "loaded", load: load!, entries }).send).toEqual([]);
  });

  it("fill a follower that was away for long, with any cache", () => {
    for (const maxCachedBytes of [0, 3, 50]) {
      const cluster = createCluster({
        nodes: ["a", "b", "c"],
        core: { maxCachedBytes, maxAppendBytes: 5, maxUncommittedBytes: 100 },
      });
      campaign(cluster, "a");
      cluster.drop = ({ to, from }) => to === idOf("b") || from === idOf("b");
      for (let count = 0; count < 100; count += 1) {
        propose(cluster, "a", `${count}`);
        advance(cluster, 5);
      }
      const { log } = nodeOf(cluster, "a").state;
      expect(log.tailBytes).toBeLessThanOrEqual(maxCachedBytes);
      cluster.drop = undefined;
      advance(cluster, 500);
      expect(termsOf(nodeOf(cluster, "b"))).toEqual(termsOf(nodeOf(cluster, "a")));
      expect(nodeOf(cluster, "b").applied.map(textOf)).toEqual(nodeOf(cluster, "a").applied.map(textOf));
    }
  });
});

describe("proposals", () => {
  it("are refused where nobody leads", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    propose(cluster, "a", "x", 4);
    expect(nodeOf(cluster, "a").proposals).toEqual([{ kind: "refused", id: 4, reason: "notLeader" }]);
  });

  it("are bounded by count and by bytes, and taken again once committed (cockroach#31618)", () => {
    const cluster = leading({ core: { maxUncommittedEntries: 3, maxUncommittedBytes: 10 } });
    const outcome = (text: string): string => {
      propose(cluster, "a", text);
      return nodeOf(cluster, "a").proposals.at(-1)!.kind;
    };
    expect(["12345678901234567890", "x"].map(outcome), "one large entry may go alone").toEqual([
      "appended",
      "refused",
    ]);
    receive(cluster, "a", "b", matched(1, 2, peer(cluster).session));
    expect(nodeOf(cluster, "a").state.leading?.uncommittedBytes).toBe(0);
    expect(["123456", "12345", "1", "2", "3"].map(outcome)).toEqual([
      "appended",
      "refused",
      "appended",
      "appended",
      "refused",
    ]);
    expect(nodeOf(cluster, "a").proposals.at(-1)).toMatchObject({ reason: "overloaded" });
    receive(cluster, "a", "b", matched(1, 5, peer(cluster).session));
    expect(nodeOf(cluster, "a").state.leading?.uncommittedBytes).toBe(0);
    expect(outcome("x")).toBe("appended");
  });

  it("never count the no-op, nor what an older leader left uncommitted", () => {
    const cluster = leading({
      disks: { a: { entries: entriesOf([1, 1, 1, 1]) } },
      core: { maxUncommittedEntries: 1, maxUncommittedBytes: 1 },
    });
    propose(cluster, "a", "12345");
    expect(nodeOf(cluster, "a").proposals).toMatchObject([{ kind: "appended", index: 6, term: 2 }]);
    receive(cluster, "a", "b", matched(2, 6, peer(cluster).session));
    expect(commitOf(cluster, "a")).toBe(6);
    expect(nodeOf(cluster, "a").state.leading?.uncommittedBytes).toBe(0);
  });

  it("keep the caller's bytes: the same buffer reaches log, disk and network", () => {
    const cluster = replicating();
    const data = bytes("payload");
    const effects = turn(cluster, "a", { kind: "proposed", id: 1, entry: "command", data });
    const sent = sentOf(effects, "appendRequest")[0]!.entries[0]!;
    expect(sent.data).toBe(data);
    expect(effects.persist?.entries[0]?.data).toBe(data);
    expect(nameOf(effects.send[0]!.to)).toBe("b");
  });
});
