/** Linearizable reads by ReadIndex, on leaders and on followers. */
import { asIndex, asTerm, type Message, type ReadOutcome } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  createCluster,
  deliver,
  heal,
  idOf,
  nodeOf,
  partition,
  propose,
  receive,
  settle,
  turn,
} from "./cluster.ts";
import { append, heartbeat, heartbeatResponse, matched, preVote, vote } from "./messages.ts";
import { hold, leaderOf, queued, sentOf } from "./views.ts";

function led(nodes: readonly string[] = ["a", "b", "c"]): Cluster {
  const cluster = createCluster({ nodes });
  campaign(cluster, "a");
  propose(cluster, "a", "x");
  settle(cluster);
  return cluster;
}

function read(cluster: Cluster, name: string, ...ids: number[]): void {
  turn(cluster, name, ...ids.map((id) => ({ kind: "readRequested" as const, id })));
}

function confirmed(id: number, index: number, term = 1, asLeader = true): ReadOutcome {
  return { kind: "confirmed", id, index: asIndex(index), term: asTerm(term), asLeader };
}

function refused(id: number, reason: "notLeader" | "overloaded" = "notLeader"): ReadOutcome {
  return { kind: "refused", id, reason };
}

function readsOf(cluster: Cluster, name: string): ReadOutcome[] {
  return nodeOf(cluster, name).reads;
}

/** A leader whose followers are played by the test. */
function played(nodes: readonly string[] = ["a", "b", "c"]): Cluster {
  const cluster = createCluster({ nodes });
  const needed = nodes.slice(1, 1 + Math.floor(nodes.length / 2));
  for (let ms = 0; nodeOf(cluster, "a").state.role === "follower" && ms < 1000; ms += 50) {
    cluster.nowMs += 50;
    turn(cluster, "a", { kind: "tick" });
  }
  for (const name of needed) receive(cluster, "a", name, preVote(1));
  for (const name of needed) receive(cluster, "a", name, vote(1));
  expect(nodeOf(cluster, "a").state.role).toBe("leader");
  cluster.queue = [];
  return cluster;
}

/** The session in which `a` replicates to `name`. */
function sessionOf(cluster: Cluster, name: string): number {
  return nodeOf(cluster, "a").state.leading!.peers.get(idOf(name))!.session;
}

describe("a leader's read", () => {
  it("is confirmed by a quorum that answers a token made after it arrived", () => {
    const cluster = led();
    read(cluster, "a", 1);
    expect(readsOf(cluster, "a")).toEqual([]);
    expect(queued(cluster, "heartbeat"), "a round begins at once").toHaveLength(2);
    settle(cluster);
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 2)]);
  });

  it("shares its round with all reads of the turn; later ones form the next round", () => {
    const cluster = led();
    read(cluster, "a", 1, 2, 3);
    expect(queued(cluster, "heartbeat")).toHaveLength(2);
    read(cluster, "a", 4);
    read(cluster, "a", 5);
    expect(queued(cluster, "heartbeat"), "one round at a time").toHaveLength(2);
    const [first] = hold(cluster, ({ to }) => to === idOf("b"));
    deliver(cluster, first!);
    deliver(cluster, hold(cluster, ({ to }) => to === idOf("a"))[0]!);
    expect(readsOf(cluster, "a")).toEqual([1, 2, 3].map((id) => confirmed(id, 2)));
    expect(queued(cluster, "heartbeat").map(({ token }) => token)).toEqual([1, 2, 2]);
    settle(cluster);
    expect(readsOf(cluster, "a").slice(3)).toEqual([4, 5].map((id) => confirmed(id, 2)));
  });

  it("waits until an entry of the leader's own term is committed (etcd#7331, sofa-jraft#1049)", () => {
    const cluster = played();
    read(cluster, "a", 1);
    for (const name of ["b", "c"]) receive(cluster, "a", name, heartbeatResponse(1, { token: 1 }));
    expect(readsOf(cluster, "a")).toEqual([]);
    expect(nodeOf(cluster, "a").state.leading?.token).toBe(0);
    receive(cluster, "a", "b", matched(1, 1, sessionOf(cluster, "b")));
    expect(readsOf(cluster, "a")).toEqual([]);
    receive(cluster, "a", "c", heartbeatResponse(1, { token: 1 }));
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 1)]);
  });

  it("is not confirmed by an older token, an older term, a stranger, or one follower of five answering twice", () => {
    const cluster = played(["a", "b", "c", "d", "e"]);
    for (const name of ["b", "c"]) receive(cluster, "a", name, matched(1, 1, sessionOf(cluster, name)));
    const answer = (name: string, token: number, term = 1): void => {
      receive(cluster, "a", name, heartbeatResponse(term, { token }));
    };
    read(cluster, "a", 1);
    for (const name of ["b", "c"]) answer(name, 1);
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 1)]);
    read(cluster, "a", 2);
    for (const name of ["b", "c", "d", "e"]) answer(name, 1);
    for (const name of ["c", "d"]) answer(name, 2, 0);
    for (const name of ["x", "y", "z"]) answer(name, 2);
    answer("b", 2);
    answer("b", 2);
    answer("c", 3); // a token that was never made
    expect(readsOf(cluster, "a")).toHaveLength(1);
    answer("c", 2);
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 1), confirmed(2, 1)]);
  });

  it("needs no entries to be replicated, nor the session to be current", () => {
    const cluster = played();
    receive(cluster, "a", "b", matched(1, 1, sessionOf(cluster, "b")));
    read(cluster, "a", 1);
    receive(cluster, "a", "c", heartbeatResponse(1, { token: 1, session: 77 }));
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 1)]);
  });

  it("of a sole voter is confirmed in the turn that asks for it, but not before its no-op is committed", () => {
    const cluster = createCluster({ nodes: ["a"] });
    cluster.slowDisks.add("a");
    turn(cluster, "a", { kind: "tick" });
    const finish = (): void => {
      const node = nodeOf(cluster, "a");
      const { sequence } = node.writing!;
      node.writing = undefined;
      turn(cluster, "a", { kind: "persisted", sequence });
    };
    cluster.slowDisks.add("a");
    nodeOf(cluster, "a").disk.term = asTerm(1);
    finish();
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
    read(cluster, "a", 1);
    expect(readsOf(cluster, "a")).toEqual([]);
    finish();
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 1)]);
    read(cluster, "a", 2);
    expect(readsOf(cluster, "a")[1]).toEqual(confirmed(2, 1));
  });

  it("is retried by the next heartbeat when its round is lost", () => {
    const cluster = led();
    cluster.drop = () => true;
    read(cluster, "a", 1);
    cluster.drop = undefined;
    advance(cluster, 60);
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 2)]);
  });

  it("is bounded", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], core: { maxPendingReads: 3 } });
    campaign(cluster, "a");
    cluster.queue = [];
    read(cluster, "a", 1, 2);
    read(cluster, "a", 3, 4);
    expect(readsOf(cluster, "a")).toEqual([refused(4, "overloaded")]);
    advance(cluster, 60);
    expect(
      readsOf(cluster, "a")
        .slice(1)
        .map(({ id }) => id),
    ).toEqual([1, 2, 3]);
    read(cluster, "a", 5);
    settle(cluster);
    expect(readsOf(cluster, "a").at(-1)).toEqual(confirmed(5, 1));
  });

  it("is refused the moment leadership goes, by a higher term or by silence", () => {
    const byTerm = led();
    read(byTerm, "a", 1);
    read(byTerm, "a", 2);
    receive(byTerm, "a", "b", heartbeatResponse(9));
    expect(readsOf(byTerm, "a")).toEqual([refused(1), refused(2)]);
    const bySilence = led();
    bySilence.drop = () => true;
    read(bySilence, "a", 1);
    advance(bySilence, 400);
    expect(readsOf(bySilence, "a")).toEqual([refused(1)]);
  });

  it("a deposed leader answers nothing, whatever late answers come: D7, D52", () => {
    const cluster = led();
    partition(cluster, ["a"], ["b", "c"]);
    read(cluster, "a", 1);
    advance(cluster, 250);
    for (let guard = 0; guard < 50 && nodeOf(cluster, "a").state.role === "leader"; guard += 1) {
      advance(cluster, 10);
    }
    expect(readsOf(cluster, "a")).toEqual([refused(1)]);
    receive(cluster, "a", "b", heartbeatResponse(1, { token: 1 }));
    expect(readsOf(cluster, "a")).toHaveLength(1);
  });

  it("late and doubled answers to one round never confirm a read that came after it (etcd#20418)", () => {
    const cluster = led(["a", "b", "c", "d", "e"]);
    // Round 1: four answers to its token are under way, two of them doubled, and two arrive.
    read(cluster, "a", 1);
    for (const flight of hold(cluster, ({ message }) => message.kind === "heartbeat"))
      deliver(cluster, flight);
    const answers = hold(cluster, ({ message }) => message.kind === "heartbeatResponse");
    expect(answers).toHaveLength(4);
    for (const flight of answers.slice(0, 2)) deliver(cluster, flight);
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 2)]);
    // The others elect b and commit a write that a does not hear of.
    partition(cluster, ["b", "c", "d", "e"]);
    cluster.nowMs += 140;
    for (let guard = 0; guard < 5 && nodeOf(cluster, "b").state.role !== "leader"; guard += 1) {
      campaign(cluster, "b");
    }
    propose(cluster, "b", "new");
    settle(cluster);
    expect(leaderOf(cluster)?.state.commitIndex).toBe(4);
    // The same client asks the old leader again, and the held answers come, more than once.
    const old = nodeOf(cluster, "a");
    expect(old.state.role).toBe("leader");
    read(cluster, "a", 2);
    for (const flight of [...answers, ...answers]) deliver(cluster, flight);
    expect(readsOf(cluster, "a"), "nobody answered the new token").toHaveLength(1);
    heal(cluster);
    advance(cluster, 200);
    expect(readsOf(cluster, "a")[1]).toEqual(refused(2));
  });

  it("after a pause, waits for a token that was made after it", () => {
    const cluster = led();
    read(cluster, "a", 1);
    const answers: Message[] = [heartbeatResponse(1, { token: 1 }), heartbeatResponse(1, { token: 1 })];
    cluster.queue = [];
    cluster.nowMs += 1000;
    receive(cluster, "a", "b", answers[0]!);
    receive(cluster, "a", "c", answers[1]!);
    expect(readsOf(cluster, "a")).toEqual([]);
    expect(queued(cluster, "heartbeat").map(({ token }) => token)).toEqual([2, 2]);
    receive(cluster, "a", "b", heartbeatResponse(1, { token: 2 }));
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 2)]);
  });
});

describe("a follower's read", () => {
  it("asks the leader once for all reads of a turn, and is answered with its index", () => {
    const cluster = led();
    read(cluster, "b", 1, 2, 3);
    expect(queued(cluster, "readIndexRequest")).toEqual([
      { kind: "readIndexRequest", term: 1, requestId: { boot: 1, counter: 1 } },
    ]);
    read(cluster, "b", 4);
    settle(cluster);
    expect(readsOf(cluster, "b")).toEqual([1, 2, 3, 4].map((id) => confirmed(id, 2, 1, false)));
  });

  it("learns the index even when no write follows, and can apply up to it", () => {
    const cluster = led();
    partition(cluster, ["a", "c"], ["b"]);
    propose(cluster, "a", "y");
    settle(cluster);
    heal(cluster);
    read(cluster, "b", 1);
    advance(cluster, 200);
    expect(readsOf(cluster, "b")).toEqual([confirmed(1, 3, 1, false)]);
    expect(nodeOf(cluster, "b").applied).toHaveLength(3);
  });

  it("is refused where no leader is known", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    read(cluster, "a", 1);
    expect(readsOf(cluster, "a")).toEqual([refused(1)]);
  });

  it("is refused when the leader cannot confirm, when the term changes, and by time", () => {
    const cluster = led();
    cluster.drop = () => true;
    read(cluster, "b", 1);
    const requestId = { boot: 1, counter: 1 };
    receive(cluster, "b", "a", { kind: "readIndexResponse", term: asTerm(1), requestId, readIndex: -1 });
    expect(readsOf(cluster, "b")).toEqual([refused(1)]);
    read(cluster, "b", 2);
    receive(cluster, "b", "c", heartbeat(2));
    expect(readsOf(cluster, "b").slice(1)).toEqual([refused(2)]);
    read(cluster, "b", 3);
    for (let ms = 0; ms < 300; ms += 50) {
      expect(readsOf(cluster, "b")).toHaveLength(2);
      cluster.nowMs += 50;
      receive(cluster, "b", "c", heartbeat(2));
      turn(cluster, "b", { kind: "tick" });
    }
    expect(readsOf(cluster, "b").slice(2)).toEqual([refused(3)]);
  });

  it("takes an answer only from the leader that it asked, in its term and boot, and only once", () => {
    const cluster = led();
    cluster.drop = () => true;
    read(cluster, "b", 1);
    const respond = (from: string, term: number, boot: number, counter: number): void => {
      const requestId = { boot, counter };
      receive(cluster, "b", from, { kind: "readIndexResponse", term: asTerm(term), requestId, readIndex: 2 });
    };
    respond("c", 1, 1, 1);
    respond("a", 0, 1, 1);
    respond("a", 1, 2, 1);
    respond("a", 1, 1, 2);
    expect(readsOf(cluster, "b")).toEqual([]);
    respond("a", 1, 1, 1);
    respond("a", 1, 1, 1);
    expect(readsOf(cluster, "b")).toEqual([confirmed(1, 2, 1, false)]);
  });

  it("is bounded", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], core: { maxPendingReads: 2 } });
    campaign(cluster, "a");
    cluster.drop = () => true;
    read(cluster, "b", 1);
    read(cluster, "b", 2, 3);
    expect(readsOf(cluster, "b")).toEqual([refused(3, "overloaded")]);
  });

  it("a node that is no leader, or of another term, answers a request with -1", () => {
    const cluster = led();
    const requestId = { boot: 3, counter: 9 };
    const ask = (to: string, term: number): Message | undefined =>
      receive(cluster, to, "c", { kind: "readIndexRequest", term: asTerm(term), requestId }).send.at(-1)
        ?.message;
    expect(ask("b", 1)).toEqual({ kind: "readIndexResponse", term: 1, requestId, readIndex: -1 });
    expect(ask("a", 0)).toEqual({ kind: "readIndexResponse", term: 1, requestId, readIndex: -1 });
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
  });

  it("a repeated request is answered, but confirms nothing for the one who asked (etcd#20418)", () => {
    const cluster = led();
    read(cluster, "b", 1);
    const [request] = queued(cluster, "readIndexRequest");
    settle(cluster);
    expect(readsOf(cluster, "b")).toHaveLength(1);
    receive(cluster, "a", "b", request!);
    read(cluster, "b", 2);
    cluster.drop = ({ message }) => message.kind === "readIndexRequest";
    settle(cluster);
    expect(readsOf(cluster, "b").length).toBeLessThanOrEqual(2);
  });

  it("a leader that steps down tells those who asked", () => {
    const cluster = led();
    read(cluster, "b", 1);
    deliver(cluster, hold(cluster, ({ message }) => message.kind === "readIndexRequest")[0]!);
    cluster.queue = [];
    cluster.drop = ({ to }) => to === idOf("a");
    const told: Message[] = [];
    for (let guard = 0; guard < 100 && nodeOf(cluster, "a").state.role === "leader"; guard += 1) {
      cluster.nowMs += 10;
      told.push(...sentOf(turn(cluster, "a", { kind: "tick" }), "readIndexResponse"));
    }
    expect(told).toMatchObject([{ readIndex: -1, requestId: { boot: 1, counter: 1 } }]);
  });

  it("is served while the node is mute: it answers tokens truthfully, but is never elected", () => {
    const cluster = createCluster({
      nodes: ["a", "b", "c"],
      disks: { b: { floor: { lastIndex: asIndex(50), lastTerm: asTerm(9) } } },
    });
    campaign(cluster, "a");
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
    partition(cluster, ["a", "b"]);
    read(cluster, "a", 1);
    read(cluster, "b", 2);
    settle(cluster);
    expect(readsOf(cluster, "a")).toEqual([confirmed(1, 1)]);
    expect(readsOf(cluster, "b")).toEqual([confirmed(2, 1, 1, false)]);
    receive(cluster, "b", "a", append(1, [1, 1], []));
  });
});
