/** A leader that sends a snapshot: to whom, in what steps, when it ends, and what of the log it keeps meanwhile. */
import type { Effects, Message } from "@quorate/raft";
import { asIndex, asTerm, entryOverheadBytes } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  answerLoad,
  type Cluster,
  type ClusterOptions,
  campaign,
  createCluster,
  heal,
  idOf,
  nodeOf,
  partition,
  propose,
  receive,
  settle,
  turn,
} from "./cluster.ts";
import { heartbeatResponse, matched } from "./messages.ts";
import { chunksIn, contentBytes, type Runtime, run, takeSnapshot, withRuntime } from "./snapshotSteps.ts";
import { commitOf, queued, sentOf } from "./views.ts";

const three = ["a", "b", "c"];

/** `a` leads and has compacted everything; c was away all the time, and is there again. */
function behind(more: Partial<ClusterOptions> = {}): { cluster: Cluster; runtime: Runtime } {
  const cluster = createCluster({ nodes: three, ...more });
  const runtime = withRuntime(cluster);
  partition(cluster, ["a", "b"]);
  campaign(cluster, "a");
  for (const text of ["x", "y", "z"]) {
    propose(cluster, "a", text);
    settle(cluster);
  }
  advance(cluster, 400); // nobody has heard of c for a while
  takeSnapshot(cluster, "a");
  heal(cluster);
  expect(nodeOf(cluster, "a").state.log.boundary.index).toBe(4);
  return { cluster, runtime };
}

function progress(cluster: Cluster, name = "c") {
  const peer = nodeOf(cluster, "a").state.leading?.peers.get(idOf(name));
  if (peer === undefined) throw new Error(`a does not lead ${name}`);
  return peer;
}

/** c, whose answers the test gives, is heard. */
function asked(): Cluster {
  const { cluster } = behind();
  hear(cluster);
  expect(progress(cluster).mode).toBe("snapshot");
  return cluster;
}

function hear(cluster: Cluster): Effects {
  const { currentTerm } = nodeOf(cluster, "a").state;
  const { session } = progress(cluster);
  return receive(cluster, "a", "c", heartbeatResponse(currentTerm, { session }));
}

function answer(cluster: Cluster, answers: number, offset: number): Effects {
  const { currentTerm: term } = nodeOf(cluster, "a").state;
  const { session } = progress(cluster);
  const message: Message = { kind: "snapshotResponse", term, session, index: asIndex(4), answers, offset };
  return receive(cluster, "a", "c", message);
}

function load(cluster: Cluster, effects: Effects): Effects {
  const [chunkLoad] = effects.chunkLoads;
  if (chunkLoad === undefined) throw new Error("nothing is to be read");
  return turn(cluster, "a", { kind: "chunkLoaded", load: chunkLoad, data: new Uint8Array(chunkLoad.bytes) });
}

describe("a follower whose next entry is compacted away", () => {
  it("is sent the snapshot with no new write, and goes on from its boundary (openraft#1828)", () => {
    const { cluster, runtime } = behind();
    run(cluster, runtime, 400);
    expect(commitOf(cluster, "c")).toBe(4);
    expect(nodeOf(cluster, "c").state.log).toMatchObject({ boundary: { index: 4, term: 1 }, lastIndex: 4 });
    expect(progress(cluster)).toMatchObject({ mode: "replicate", match: 4, next: 5, transfer: undefined });
    propose(cluster, "a", "next");
    run(cluster, runtime, 60);
    expect(nodeOf(cluster, "c").applied.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5]);
  });

  it("is never sent an append whose previous entry is compacted (etcd-io/raft#31, #36)", () => {
    const { cluster, runtime } = behind();
    const seen: (readonly [number, number])[] = [];
    let count = 0;
    cluster.drop = ({ message }) => {
      if (message.kind === "appendRequest") {
        const { boundary } = nodeOf(cluster, "a").state.log;
        expect(message.prevIndex).toBeGreaterThanOrEqual(boundary.index);
        seen.push([message.prevIndex, message.prevTerm]);
      }
      count += 1;
      return count % 3 === 0;
    };
    for (let round = 0; round < 8; round += 1) {
      propose(cluster, "a", `${round}`);
      run(cluster, runtime, 100);
      takeSnapshot(cluster, "a");
    }
    cluster.drop = undefined;
    run(cluster, runtime, 2_000);
    expect(seen.every(([index, term]) => index === 0 || term > 0)).toBe(true);
    expect(commitOf(cluster, "c")).toBe(nodeOf(cluster, "a").state.log.lastIndex);
  });

  it("is sent no entries that were read before they were compacted", () => {
    const cluster = createCluster({ nodes: three, core: { maxCachedBytes: 0 } });
    cluster.slowLoads = true;
    partition(cluster, ["a", "b"]);
    campaign(cluster, "a");
    for (const text of ["x", "y", "z"]) {
      propose(cluster, "a", text);
      settle(cluster);
    }
    receive(cluster, "a", "c", matched(1, 1, progress(cluster).session));
    const [read] = nodeOf(cluster, "a").loads;
    expect(read).toMatchObject({ from: 2, peer: idOf("c") });
    takeSnapshot(cluster, "a", { compactableTo: 2 });
    if (read === undefined) throw new Error("nothing was read");
    const effects = answerLoad(cluster, "a", read);
    expect(sentOf(effects, "appendRequest")).toEqual([]);
    expect(progress(cluster).mode).toBe("snapshot");
  });

  it("is left alone while it is not there", () => {
    const { cluster, runtime } = behind();
    partition(cluster, ["a", "b"]);
    run(cluster, runtime, 2_000);
    expect(progress(cluster)).toMatchObject({ transfer: undefined });
  });

  it("hears heartbeats all the while, and does not campaign", () => {
    const { cluster, runtime } = behind({ core: { maxSnapshotBytesPerSecond: 1_000 } });
    run(cluster, runtime, 1_500);
    expect(progress(cluster).mode).toBe("snapshot");
    expect(nodeOf(cluster, "c").state).toMatchObject({ role: "follower", currentTerm: 1, leader: idOf("a") });
  });
});

describe("a transfer", () => {
  it("begins with a question, and then has one chunk under way", () => {
    const { cluster } = behind();
    expect(chunksIn(hear(cluster).send)).toEqual([[0, 0]]);
    const first = answer(cluster, 0, 0);
    expect(first.chunkLoads).toMatchObject([{ offset: 0, bytes: 1_024 }]);
    expect(chunksIn(load(cluster, first).send)).toEqual([[0, 1_024]]);
    expect(chunksIn(propose(cluster, "a", "more").send), "nothing before the answer").toEqual([]);
    cluster.nowMs += 1;
    const second = answer(cluster, 0, 1_024);
    expect(second.chunkLoads).toMatchObject([{ offset: 1_024, bytes: 1_024 }]);
    load(cluster, second);
    cluster.nowMs += 1;
    const last = answer(cluster, 1_024, 2_048);
    expect(last.chunkLoads).toMatchObject([{ offset: 2_048, bytes: contentBytes - 2_048 }]);
  });

  it("goes on where the follower says that it is", () => {
    const cluster = asked();
    expect(answer(cluster, 0, 2_048).chunkLoads).toMatchObject([{ offset: 2_048 }]);
  });

  it("takes no answer to an earlier chunk, of another session or beyond the content", () => {
    const cluster = asked();
    load(cluster, answer(cluster, 0, 1_024));
    cluster.nowMs += 10;
    expect(answer(cluster, 0, 0).chunkLoads, "an earlier one, repeated").toEqual([]);
    expect(answer(cluster, 1_024, contentBytes + 1).chunkLoads).toEqual([]);
    const late: Message = {
      kind: "snapshotResponse",
      term: asTerm(1),
      session: progress(cluster).session + 1,
      index: asIndex(4),
      answers: 1_024,
      offset: 2_048,
    };
    expect(receive(cluster, "a", "c", late).chunkLoads).toEqual([]);
    expect(answer(cluster, 1_024, 2_048).chunkLoads).toHaveLength(1);
  });

  it("takes no more of the link than it may", () => {
    const { cluster, runtime } = behind({
      core: { maxSnapshotBytesPerSecond: 5_000, snapshotChunkBytes: 100 },
    });
    run(cluster, runtime, 300);
    const sent = runtime.loads.length * 100;
    expect(sent).toBeGreaterThan(1_000);
    expect(sent).toBeLessThanOrEqual(5_000 * 0.3 + 100);
  });

  it("asks again where no answer comes, later each time, and ends in the end", () => {
    const cluster = asked();
    const askedMs: number[] = [];
    const beganMs = cluster.nowMs;
    for (let at = 0; at < 30_000 && progress(cluster).transfer !== undefined; at += 50) {
      cluster.nowMs += 50;
      const effects = hear(cluster);
      receive(cluster, "a", "b", heartbeatResponse(1, { session: progress(cluster, "b").session }));
      if (chunksIn(effects.send).length > 0) askedMs.push(cluster.nowMs - beganMs);
    }
    expect(askedMs.slice(0, 4)).toEqual([300, 900, 2_100, 4_500]);
    expect(askedMs.length).toBeLessThan(12);
  });

  it("that one answer did not reach is not stuck", () => {
    const { cluster, runtime } = behind();
    let lost = 0;
    cluster.drop = ({ message }) => message.kind === "snapshotResponse" && lost++ === 2;
    run(cluster, runtime, 2_000);
    expect(lost).toBeGreaterThan(3);
    expect(commitOf(cluster, "c")).toBe(4);
  });

  it("scylla#29092: ends with the term, and what is under way of it changes nothing later", () => {
    const cluster = asked();
    const effects = answer(cluster, 0, 0);
    const { session } = progress(cluster);
    const told = receive(cluster, "a", "b", heartbeatResponse(5));
    expect(told.snapshots).toMatchObject([{ kind: "aborted", peer: idOf("c") }]);
    expect(load(cluster, effects).send).toEqual([]);
    const late: Message = {
      kind: "snapshotResponse",
      term: asTerm(1),
      session,
      index: asIndex(4),
      answers: 0,
      offset: 1_024,
    };
    expect(receive(cluster, "a", "c", late).send).toEqual([]);
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "follower", currentTerm: 5 });
  });

  it("tikv#16435, #17213: blocks neither a transfer of leadership nor a change of membership, and ends with its peer", () => {
    const { cluster, runtime } = behind();
    cluster.drop = ({ message }) => message.kind === "snapshotChunk";
    run(cluster, runtime, 100);
    expect(progress(cluster).mode).toBe("snapshot");
    const effects = turn(cluster, "a", {
      kind: "membershipRequested",
      id: 9,
      changes: [{ kind: "remove", id: idOf("c") }],
      ifIndex: undefined,
    });
    expect(effects.memberships).toMatchObject([{ kind: "appended" }]);
    const ended: string[] = [];
    const { observe } = cluster;
    cluster.observe = (node) => {
      observe?.(node);
      for (const { kind } of node.effects.snapshots) ended.push(kind);
    };
    run(cluster, runtime, 4_000);
    expect(nodeOf(cluster, "a").state.leading?.peers.has(idOf("c"))).toBe(false);
    expect(ended).toContain("aborted");
    turn(cluster, "a", { kind: "transferRequested", id: 3, target: idOf("b") });
    run(cluster, runtime, 300);
    expect(nodeOf(cluster, "b").state.role).toBe("leader");
  });

  it("is over when the follower turns out to have what the log still holds", () => {
    const cluster = asked();
    const effects = receive(cluster, "a", "c", matched(1, 4, progress(cluster).session));
    expect(effects.snapshots).toMatchObject([{ kind: "overtaken" }]);
    expect(progress(cluster)).toMatchObject({ mode: "probe", match: 4, next: 5 });
    expect(sentOf(effects, "appendRequest")).toMatchObject([{ prevIndex: 4, prevTerm: 1 }]);
  });

  it("that comes out damaged again and again makes the leader take another snapshot", () => {
    const { cluster, runtime } = behind();
    runtime.damaged = 99;
    let wanted = 0;
    const { observe } = cluster;
    cluster.observe = (node) => {
      observe?.(node);
      if (node.effects.snapshotWanted) wanted += 1;
    };
    run(cluster, runtime, 2_000);
    expect(wanted).toBe(1);
    expect(runtime.loads.length, "no loop").toBeLessThanOrEqual(12);
    runtime.damaged = 0;
    propose(cluster, "a", "more");
    run(cluster, runtime, 50);
    takeSnapshot(cluster, "a");
    run(cluster, runtime, 500);
    expect(commitOf(cluster, "c")).toBe(5);
  });

  it("brings a learner up to date, which is promoted with the progress that it has", () => {
    const { cluster, runtime } = behind();
    run(cluster, runtime, 500);
    const change = (kind: "demote" | "promote") =>
      turn(cluster, "a", {
        kind: "membershipRequested",
        id: 9,
        changes: [{ kind, id: idOf("c") }],
        ifIndex: undefined,
      });
    expect(change("demote").memberships).toMatchObject([{ kind: "appended" }]);
    run(cluster, runtime, 300);
    partition(cluster, ["a", "b"]);
    for (const text of ["p", "q"]) propose(cluster, "a", text);
    run(cluster, runtime, 100);
    takeSnapshot(cluster, "a");
    heal(cluster);
    run(cluster, runtime, 600);
    const { match, session } = progress(cluster);
    expect(match).toBe(nodeOf(cluster, "a").state.log.lastIndex);
    expect(change("promote").memberships).toMatchObject([{ kind: "appended" }]);
    expect(progress(cluster)).toMatchObject({ session });
    expect(progress(cluster).match).toBeGreaterThanOrEqual(match);
  });
});

describe("compaction", () => {
  it("leaves a tail by count and by bytes, and nothing above what the store allows", () => {
    const table: [tail: number, tailBytes: number, compactableTo: number, expected: number][] = [
      [0, 0, 11, 11],
      [3, 1_000, 11, 8],
      [3, 2 * (10 + entryOverheadBytes), 11, 9],
      [3, 2 * (10 + entryOverheadBytes) - 1, 11, 10],
      [3, 1_000, 5, 5],
      [50, 11 * (10 + entryOverheadBytes), 11, 0],
    ];
    for (const [compactionTailEntries, compactionTailBytes, compactableTo, expected] of table) {
      const cluster = createCluster({ nodes: ["a"], core: { compactionTailEntries, compactionTailBytes } });
      turn(cluster, "a", { kind: "tick" });
      for (let at = 0; at < 10; at += 1) propose(cluster, "a", "0123456789");
      expect(commitOf(cluster, "a")).toBe(11);
      takeSnapshot(cluster, "a", { compactableTo });
      expect(nodeOf(cluster, "a").state.log.boundary.index).toBe(expected);
    }
  });

  it("waits for a follower that was sent a snapshot, but not for ever (hashicorp/raft#697)", () => {
    const { cluster, runtime } = behind();
    cluster.drop = ({ message }) => message.kind === "snapshotChunk";
    run(cluster, runtime, 100);
    expect(progress(cluster).transfer?.header.boundary.index).toBe(4);
    const boundaries: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      propose(cluster, "a", `${round}`);
      run(cluster, runtime, 20);
      takeSnapshot(cluster, "a");
      boundaries.push(nodeOf(cluster, "a").state.log.boundary.index);
    }
    expect(boundaries).toEqual([4, 4, 4, 4, 9, 10]);
  });

  it("sends a follower that installs while others write one snapshot, and not one after the other", () => {
    const { cluster, runtime } = behind({ core: { maxSnapshotBytesPerSecond: 20_000 } });
    let begun = 0;
    const { observe } = cluster;
    cluster.observe = (node) => {
      observe?.(node);
      begun += node.effects.snapshots.filter(({ kind }) => kind === "begun").length;
    };
    for (let round = 0; round < 40; round += 1) {
      propose(cluster, "a", `${round}`);
      run(cluster, runtime, 20);
      if (round % 10 === 9) takeSnapshot(cluster, "a");
    }
    run(cluster, runtime, 500);
    expect(commitOf(cluster, "c")).toBe(nodeOf(cluster, "a").state.log.lastIndex);
    expect(begun).toBe(1);
  });

  it("keeps the configuration in force, and the terms of what is left", () => {
    const { cluster } = behind();
    propose(cluster, "a", "p");
    settle(cluster);
    const { log } = nodeOf(cluster, "a").state;
    expect(log.configurations).toHaveLength(1);
    expect(log.runs).toEqual([{ firstIndex: 5, term: 1 }]);
    expect(queued(cluster, "appendRequest", "b")).toEqual([]);
  });
});
