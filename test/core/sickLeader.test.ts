/** A leader whose own disk hangs, rule 14 (hashicorp/raft#503, #612, #666): it goes if that helps, and only then. */
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  createCluster,
  finishWrite,
  heal,
  nodeOf,
  partition,
  propose,
  settle,
} from "./cluster.ts";

function hangingLeader(others: readonly string[] = []): Cluster {
  const cluster = createCluster({ nodes: ["a", "b", "c"] });
  campaign(cluster, "a");
  advance(cluster, 100);
  for (const name of ["a", ...others]) cluster.slowDisks.add(name);
  propose(cluster, "a", "hangs");
  settle(cluster);
  return cluster;
}

function leaderOf(cluster: Cluster): string | undefined {
  return [...cluster.nodes].find(([, { state }]) => state.role === "leader")?.[0];
}

describe("a leader whose disk hangs", () => {
  it("stays for as long as a stall may last, and then hands over to a voter that keeps more", () => {
    const cluster = hangingLeader();
    advance(cluster, 1_900);
    expect(leaderOf(cluster)).toBe("a");
    advance(cluster, 400);
    expect(leaderOf(cluster)).toMatch(/^[bc]$/);
    propose(cluster, leaderOf(cluster) as string, "goes on", 2);
    settle(cluster);
    expect(nodeOf(cluster, leaderOf(cluster) as string).applied.at(-1)?.kind).toBe("command");
  });

  it("stays where no voter keeps more: all share the slow disk", () => {
    const cluster = hangingLeader(["b", "c"]);
    advance(cluster, 10_000);
    expect(leaderOf(cluster)).toBe("a");
    expect(nodeOf(cluster, "a").state.currentTerm).toBe(1);
  });

  it("hands over where a follower waits for what it cannot read, though it has nothing to write", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], core: { maxCachedBytes: 0 } });
    partition(cluster, ["a", "b"]);
    campaign(cluster, "a");
    for (const text of ["x", "y"]) {
      propose(cluster, "a", text);
      advance(cluster, 100);
    }
    cluster.slowLoads = true;
    heal(cluster);
    advance(cluster, 1_900);
    expect(leaderOf(cluster)).toBe("a");
    expect(nodeOf(cluster, "c").state.commitIndex).toBe(0);
    advance(cluster, 600);
    expect(leaderOf(cluster)).toBe("b");
    cluster.slowLoads = false;
    advance(cluster, 1_000);
    expect(nodeOf(cluster, "c").applied).toHaveLength(nodeOf(cluster, "b").applied.length);
  });

  it("goes where a follower needs what only that disk has, though nobody can take over with all of its log", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c", "d", "e"], core: { maxCachedBytes: 0 } });
    partition(cluster, ["a", "b", "c"]);
    campaign(cluster, "a");
    for (const text of ["x", "y"]) {
      propose(cluster, "a", text);
      settle(cluster);
    }
    cluster.slowLoads = true;
    cluster.slowDisks.add("a");
    heal(cluster);
    propose(cluster, "a", "hangs");
    advance(cluster, 4_000);
    expect(nodeOf(cluster, "a").state, "d and e wait for its disk").toMatchObject({ commitIndex: 3 });
    advance(cluster, 1_500);
    expect(leaderOf(cluster)).toMatch(/^[bc]$/);
  });

  it("that is idle hangs nobody: nothing is written", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    campaign(cluster, "a");
    cluster.slowDisks.add("a");
    advance(cluster, 10_000);
    expect(leaderOf(cluster)).toBe("a");
  });
});

describe("a leader that went for its disk", () => {
  it("does not campaign for a while, twice as long after each further time, up to a bound", () => {
    const cluster = hangingLeader();
    const lengths: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      advance(cluster, 2_300);
      const { backoff } = nodeOf(cluster, "a").state;
      expect(leaderOf(cluster)).not.toBe("a");
      lengths.push(backoff.lengthMs);
      cluster.slowDisks.delete("a");
      while (nodeOf(cluster, "a").writing !== undefined) finishWrite(cluster, "a");
      settle(cluster);
      cluster.drop = ({ to }) => to === nodeOf(cluster, "a").id;
      advance(cluster, backoff.untilMs - cluster.nowMs - 10);
      expect(nodeOf(cluster, "a").state.role).toBe("follower");
      cluster.drop = undefined;
      advance(cluster, 700);
      campaign(cluster, "a");
      for (let tries = 0; leaderOf(cluster) !== "a" && tries < 5; tries += 1) {
        const leader = leaderOf(cluster) as string;
        cluster.drop = ({ from }) => from === nodeOf(cluster, leader).id;
        advance(cluster, 400);
        cluster.drop = undefined;
        campaign(cluster, "a");
      }
      expect(leaderOf(cluster)).toBe("a");
      cluster.slowDisks.add("a");
      propose(cluster, "a", `hangs again ${round}`, 10 + round);
      settle(cluster);
    }
    expect(lengths).toEqual([2_000, 4_000, 8_000, 8_000]);
  });
});
