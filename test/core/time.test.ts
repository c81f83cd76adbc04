/** Failover, pauses of the process, ticks and deadlines: what a core makes of time passing. */
import type { Role } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  crash,
  createCluster,
  idOf,
  nameOf,
  nodeOf,
  receive,
  restart,
  timeOut,
  turn,
} from "./cluster.ts";
import { append, heartbeat, heartbeatResponse } from "./messages.ts";
import { leaderOf, queued, sentOf } from "./views.ts";

const five = ["a", "b", "c", "d", "e"];

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

describe("failover", () => {
  it("a dead leader is replaced within two election timeouts, nearly always", () => {
    const gaps: number[] = [];
    for (let seed = 1; seed <= 60; seed += 1) {
      const cluster = createCluster({ nodes: five, core: { seed } });
      advance(cluster, 1500);
      const start = cluster.nowMs;
      crash(cluster, nameOf(leaderOf(cluster)!.id));
      while (leaderOf(cluster) === undefined) advance(cluster, 5);
      gaps.push(cluster.nowMs - start);
    }
    gaps.sort((x, y) => x - y);
    expect(gaps[30]).toBeLessThan(300);
    expect(gaps[57]).toBeLessThan(600);
    expect(gaps[59]).toBeLessThan(1500);
  });

  it("a crash and a restart of all nodes ends with a leader of a higher term", () => {
    const cluster = led(five, "a");
    for (const name of five) crash(cluster, name);
    for (const name of five) restart(cluster, name);
    advance(cluster, 2000);
    expect(leaderOf(cluster)!.state.currentTerm).toBeGreaterThan(1);
  });

  it("without faults there is one leader and no second election", () => {
    const cluster = createCluster({ nodes: five });
    advance(cluster, 2000);
    const { currentTerm } = leaderOf(cluster)!.state;
    advance(cluster, 30_000);
    expect(leaderOf(cluster)!.state.currentTerm).toBe(currentTerm);
  });
});

describe("a pause of the process", () => {
  it("is no reason for a follower to campaign: it gives its leader a new timeout", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    receive(cluster, "a", "b", heartbeat(1));
    cluster.nowMs += 5000;
    expect(sentOf(turn(cluster, "a", { kind: "tick" }), "preVoteRequest")).toEqual([]);
    expect(nodeOf(cluster, "a").state.election.deadlineMs - cluster.nowMs).toBeGreaterThanOrEqual(150);
    timeOut(cluster, "a");
    expect(role(cluster, "a"), "the next one is in earnest").toBe("preCandidate");
  });

  it("gives a leader one election timeout to hear its quorum, and no more", () => {
    const cluster = led(["a", "b", "c"], "a");
    cluster.drop = () => true;
    cluster.nowMs += 5000;
    turn(cluster, "a", { kind: "tick" });
    expect(role(cluster, "a")).toBe("leader");
    const start = cluster.nowMs;
    while (role(cluster, "a") === "leader") advance(cluster, 5);
    expect(cluster.nowMs - start).toBeLessThanOrEqual(305);
  });

  it("does not count as one when a follower only waits, be it for a whole timeout", () => {
    for (let round = 0; round < 50; round += 1) {
      const cluster = createCluster({ nodes: ["a", "b", "c"] });
      receive(cluster, "a", "b", heartbeat(1));
      cluster.nowMs = nodeOf(cluster, "a").effects.nextDeadlineMs;
      turn(cluster, "a", { kind: "tick" });
      expect(role(cluster, "a")).toBe("preCandidate");
    }
  });

  it("is one only where it is longer than the shortest election timeout beyond the deadline", () => {
    const waitBeyondDeadline = (lateMs: number): string => {
      const cluster = createCluster({ nodes: ["a", "b", "c"] });
      receive(cluster, "a", "b", heartbeat(1));
      cluster.nowMs = nodeOf(cluster, "a").effects.nextDeadlineMs + lateMs;
      turn(cluster, "a", { kind: "tick" });
      return role(cluster, "a");
    };
    expect(waitBeyondDeadline(150)).toBe("preCandidate");
    expect(waitBeyondDeadline(151)).toBe("follower");
  });

  it("a clock that does not move, or goes back, does no harm", () => {
    const cluster = led(["a", "b", "c"], "a");
    cluster.nowMs -= 500;
    turn(cluster, "a", { kind: "tick" });
    receive(cluster, "b", "a", heartbeat(1));
    expect(nodeOf(cluster, "a").state.nowMs).toBe(cluster.nowMs + 500);
    expect(role(cluster, "a")).toBe("leader");
  });
});

describe("ticks", () => {
  it("are harmless at any time, and the next deadline always lies ahead after one", () => {
    const cluster = led(["a", "b", "c"], "a");
    for (const name of ["a", "b"]) {
      for (let round = 0; round < 50; round += 1) {
        cluster.nowMs += round % 7;
        const effects = turn(cluster, name, { kind: "tick" });
        expect(effects.nextDeadlineMs).toBeGreaterThan(cluster.nowMs);
        if (name === "b") receive(cluster, "b", "a", append(1, [0, 0], []));
        else for (const from of ["b", "c"]) receive(cluster, "a", from, heartbeatResponse(1));
      }
    }
    expect(role(cluster, "a")).toBe("leader");
    expect(role(cluster, "b")).toBe("follower");
  });

  it("an idle cluster says 2 (n - 1) messages a heartbeat and writes nothing", () => {
    const cluster = led(["a", "b", "c"], "a");
    let count = 0;
    cluster.drop = () => {
      count += 1;
      return false;
    };
    const sequences = [...cluster.nodes.values()].map(({ state }) => state.disk.sequence);
    advance(cluster, 5000);
    expect(count).toBeLessThanOrEqual(4 * 100);
    expect([...cluster.nodes.values()].map(({ state }) => state.disk.sequence)).toEqual(sequences);
    expect(queued(cluster, "appendRequest")).toEqual([]);
  });
});
