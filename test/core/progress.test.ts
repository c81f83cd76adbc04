/** Replication to one follower: probing, the window, and losses that are found out. */
import { describe, expect, it } from "vitest";
import {
  advance,
  bytes,
  campaign,
  createCluster,
  deliver,
  entriesOf,
  nameOf,
  nodeOf,
  propose,
  receive,
  settle,
  turn,
} from "./cluster.ts";
import { appends, beat, leading, peer, reject, replicating } from "./leading.ts";
import { matched } from "./messages.ts";
import { commitOf, hold, textOf } from "./views.ts";

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
