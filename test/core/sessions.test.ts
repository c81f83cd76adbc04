/** Replication sessions, entries that left the memory, and the bounds of what is proposed. */
import { asIndex, asTerm, entryOverheadBytes } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  bytes,
  type Cluster,
  type ClusterOptions,
  campaign,
  crash,
  createCluster,
  entriesOf,
  idOf,
  nameOf,
  nodeOf,
  propose,
  receive,
  restart,
  turn,
} from "./cluster.ts";
import { appends, beat, leading, peer, reject, replicating } from "./leading.ts";
import { append, entriesAfter, heartbeat, heartbeatResponse, matched, rejected } from "./messages.ts";
import { commitOf, sentOf, termsOf, textOf } from "./views.ts";

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
    for (const maxCachedBytes of [0, entryOverheadBytes + 3, 20 * entryOverheadBytes]) {
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
