/**
 * The Raft paper (Ongaro and Ousterhout, ATC 2014, extended version), sentence by sentence: a title says what
 * the paper says, the test shows that a core does it. Here: §5.3 and §5.4, with Figures 7 and 8.
 */
import { asIndex, asTerm, type Message } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  bytes,
  type Cluster,
  campaign,
  crash,
  createCluster,
  deliver,
  entriesOf,
  finishWrite,
  heal,
  idOf,
  nameOf,
  nodeOf,
  partition,
  propose,
  receive,
  restart,
  settle,
  timeOut,
} from "./cluster.ts";
import { append, voteRequest } from "./messages.ts";
import { commitOf, hold, leaderOf, queued, sentOf, termsOf, textOf } from "./views.ts";

const names = ["a", "b", "c", "d", "e"];

function inRole(role: "follower" | "candidate" | "leader"): Cluster {
  const cluster = createCluster({ nodes: ["a", "b", "c"] });
  if (role === "leader") campaign(cluster, "a");
  if (role === "candidate") {
    timeOut(cluster, "a");
    for (const flight of hold(cluster, () => true)) deliver(cluster, flight);
    for (const flight of hold(cluster, ({ message }) => message.kind === "preVoteResponse"))
      deliver(cluster, flight);
  }
  cluster.queue = [];
  expect(nodeOf(cluster, "a").state.role).toBe(role);
  return cluster;
}

describe("§5.3 Log replication", () => {
  it("the leader appends the command to its log as a new entry, then issues AppendEntries to each other server", () => {
    const cluster = inRole("leader");
    settle(cluster);
    cluster.queue = [];
    const sent = sentOf(propose(cluster, "a", "x", 7), "appendRequest");
    expect(nodeOf(cluster, "a").proposals).toEqual([{ kind: "appended", id: 7, index: 2, term: 1 }]);
    expect(sent).toHaveLength(2);
  });

  it("the leader commits once the entry is on a majority, whichever followers that are", () => {
    for (const acks of [[], ["b"], ["c"], ["b", "c"], ["b", "c", "d"], ["b", "c", "d", "e"]]) {
      const cluster = createCluster({ nodes: names });
      campaign(cluster, "a");
      propose(cluster, "a", "x");
      const kept = hold(cluster, ({ to }) => acks.includes(nameOf(to)));
      cluster.queue = [];
      for (const flight of kept) deliver(cluster, flight);
      settle(cluster);
      expect(commitOf(cluster, "a"), `acks of ${acks}`).toBe(acks.length + 1 >= 3 ? 2 : 1);
    }
  });

  it("this also commits all preceding entries in the leader's log, including those of previous leaders", () => {
    for (const terms of [[2], [1, 2], [1, 1, 2], [1]]) {
      const cluster = createCluster({ nodes: ["a", "b", "c"], disks: { a: { entries: entriesOf(terms) } } });
      campaign(cluster, "a");
      for (const node of cluster.nodes.values()) expect(node.applied).toHaveLength(terms.length + 1);
    }
  });

  it("once a follower learns that an entry is committed, it applies the entry, in log order", () => {
    const cluster = inRole("leader");
    settle(cluster);
    for (const text of ["x", "y", "z"]) propose(cluster, "a", text);
    settle(cluster);
    advance(cluster, 60);
    for (const node of cluster.nodes.values())
      expect(node.applied.map(textOf)).toEqual(["noop", "x", "y", "z"]);
  });

  it("if the follower does not find an entry with the same index and term, it refuses the new entries", () => {
    const at = (prev: readonly [number, number]): unknown => {
      const disks = { a: { entries: entriesOf([1, 2]) } };
      const cluster = createCluster({ nodes: ["a", "b", "c"], disks });
      receive(cluster, "a", "b", append(3, prev, []));
      return queued(cluster, "appendResponse").at(-1)?.result;
    };
    expect(at([0, 0])).toEqual({ kind: "matched", matchIndex: 0 });
    expect(at([1, 1])).toEqual({ kind: "matched", matchIndex: 1 });
    expect(at([2, 2])).toEqual({ kind: "matched", matchIndex: 2 });
    expect(at([1, 2])).toEqual({ kind: "rejected", rejectedIndex: 1, hintIndex: 1, hintTerm: 1 });
    expect(at([2, 1])).toEqual({ kind: "rejected", rejectedIndex: 2, hintIndex: 1, hintTerm: 1 });
    expect(at([3, 3])).toEqual({ kind: "rejected", rejectedIndex: 3, hintIndex: 2, hintTerm: 2 });
  });

  it("an existing entry that conflicts with a new one is deleted, and all that follow it", () => {
    const after = (prev: readonly [number, number], terms: readonly number[]): number[] => {
      const disks = { a: { entries: entriesOf([1, 2]) } };
      const cluster = createCluster({ nodes: ["a", "b", "c"], disks });
      const entries = terms.map((term, offset) => ({
        term: asTerm(term),
        index: asIndex(prev[0] + 1 + offset),
        kind: "command" as const,
        data: bytes(`${term}`),
      }));
      receive(cluster, "a", "b", append(4, prev, entries));
      const node = nodeOf(cluster, "a");
      expect(
        node.disk.entries.map(({ term }) => term as number),
        "the disk follows",
      ).toEqual(termsOf(node));
      return termsOf(node);
    };
    expect(after([2, 2], [3])).toEqual([1, 2, 3]);
    expect(after([1, 1], [3, 4])).toEqual([1, 3, 4]);
    expect(after([0, 0], [1])).toEqual([1, 2]);
    expect(after([0, 0], [3])).toEqual([3]);
    expect(after([0, 0], [1, 2, 4, 4])).toEqual([1, 2, 4, 4]);
  });

  it("a leader never overwrites or deletes entries in its own log", () => {
    const cluster = createCluster({
      nodes: ["a", "b", "c"],
      disks: { a: { entries: entriesOf([1, 1, 2]) } },
    });
    campaign(cluster, "a");
    expect(termsOf(nodeOf(cluster, "a"))).toEqual([1, 1, 2, 3]);
  });

  // Figure 7. The leader of term 8 comes to power; its followers' logs are any of (a)–(f):
  //
  //            1 2 3 4 5 6 7 8 9 10 11 12
  //   leader   1 1 1 4 4 5 5 6 6 6
  //   (a)      1 1 1 4 4 5 5 6 6
  //   (b)      1 1 1 4
  //   (c)      1 1 1 4 4 5 5 6 6 6  6
  //   (d)      1 1 1 4 4 5 5 6 6 6  7  7
  //   (e)      1 1 1 4 4 4 4
  //   (f)      1 1 1 2 2 2 3 3 3 3  3
  it("Figure 7: the leader brings its followers' logs into consistency with its own, a term a probe", () => {
    const leader = [1, 1, 1, 4, 4, 5, 5, 6, 6, 6];
    const followers: Record<string, number[]> = {
      a: [1, 1, 1, 4, 4, 5, 5, 6, 6],
      b: [1, 1, 1, 4],
      c: [1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 6],
      d: [1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7],
      e: [1, 1, 1, 4, 4, 4, 4],
      f: [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3],
    };
    // How often the leader may have to ask before the logs agree: once, and once more for each conflicting
    // term.
    const probes: Record<string, number> = { a: 2, b: 2, c: 1, d: 1, e: 2, f: 2 };
    for (const [name, terms] of Object.entries(followers)) {
      const cluster = createCluster({
        nodes: ["leader", "follower", "voter"],
        disks: {
          leader: { entries: entriesOf(leader), term: asTerm(7) },
          follower: { entries: entriesOf(terms), term: asTerm(7) },
          voter: { term: asTerm(7) },
        },
      });
      let asked = 0;
      cluster.drop = ({ message, to }) => {
        const peer = nodeOf(cluster, "leader").state.leading?.peers.get(idOf("follower"));
        const isProbe =
          message.kind === "appendRequest" && nameOf(to) === "follower" && peer?.mode === "probe";
        if (isProbe) asked += 1;
        return false;
      };
      campaign(cluster, "leader");
      expect(asked, `probes of (${name})`).toBe(probes[name]);
      expect(termsOf(nodeOf(cluster, "follower")), `(${name})`).toEqual([...leader, 8]);
      const texts = (at: string): string[] => nodeOf(cluster, at).disk.entries.map(textOf);
      expect(texts("follower")).toEqual(texts("leader"));
    }
  });
});

describe("§5.4 Safety", () => {
  it("the voter denies its vote if its own log is more up-to-date than that of the candidate", () => {
    const table: [own: number[], lastTerm: number, lastIndex: number, granted: boolean][] = [
      [[1], 1, 1, true],
      [[1], 1, 2, true],
      [[1, 1], 1, 1, false], // equal terms, the longer log (liferaft#8)
      [[1], 2, 1, true],
      [[1], 2, 2, true],
      [[1, 1], 2, 1, true],
      [[2], 1, 1, false],
      [[2], 1, 2, false],
      [[2, 2], 1, 1, false],
      [[], 0, 0, true],
      [[1], 0, 0, false],
    ];
    for (const [own, lastTerm, lastIndex, granted] of table) {
      for (const kind of ["voteRequest", "preVoteRequest"] as const) {
        const cluster = createCluster({ nodes: ["a", "b", "c"], disks: { a: { entries: entriesOf(own) } } });
        receive(cluster, "a", "b", { ...voteRequest(3, lastTerm, lastIndex), kind } as Message);
        const answer = cluster.queue.at(-1)?.message;
        expect(answer, `${own} ${lastTerm}/${lastIndex}`).toMatchObject({ granted });
      }
    }
  });

  it("RequestVote carries the last entry's index and term", () => {
    const cluster = createCluster({ nodes: ["a", "b"], disks: { a: { entries: entriesOf([1, 1, 3]) } } });
    timeOut(cluster, "a");
    receive(cluster, "a", "b", { kind: "preVoteResponse", term: asTerm(4), granted: true });
    expect(queued(cluster, "voteRequest")).toEqual([
      { kind: "voteRequest", term: 4, lastIndex: 3, lastTerm: 3, transfer: false },
    ]);
  });

  // Figure 8, with one more column for the end. Terms of the entries at index 1, 2, 3:
  //
  //        (a)      (b)      (c)       (d)      (e)
  //   S1   1 2*     1 2      1 2 4*    1 3      1 2 4
  //   S2   1 2      1 2      1 2       1 3      1 2 4
  //   S3   1        1        1 2       1 3      1 2 4
  //   S4   1        1        1         1 3      1
  //   S5   1        1 3*     1 3       1 3*     1 3
  const servers = ["s1", "s2", "s3", "s4", "s5"];

  /**
   * Figure 8 (c): S1 leads term 4 and has brought entry 2 of term 2 to a majority, but no entry of its own.
   */
  function figure8c(): Cluster {
    const cluster = createCluster({
      nodes: servers,
      disks: {
        s1: { entries: entriesOf([1, 2]), term: asTerm(3) },
        s2: { entries: entriesOf([1, 2]), term: asTerm(3) },
        s3: { entries: entriesOf([1]), term: asTerm(3) },
        s4: { entries: entriesOf([1]), term: asTerm(3) },
        s5: { entries: entriesOf([1, 3]), term: asTerm(3) },
      },
    });
    partition(cluster, ["s1", "s2", "s3"]);
    cluster.slowDisks.add("s1");
    timeOut(cluster, "s1");
    settle(cluster);
    finishWrite(cluster, "s1");
    // The old entry is replicated; the no-op of term 4 is kept back.
    const withoutNoop = (message: Message): Message =>
      message.kind === "appendRequest"
        ? { ...message, entries: message.entries.filter((entry) => entry.term < 4) }
        : message;
    for (let count = 0; cluster.queue.length > 0 && count < 100; count += 1) {
      const flight = cluster.queue.shift()!;
      deliver(cluster, { ...flight, message: withoutNoop(flight.message) });
    }
    expect(servers.slice(0, 3).map((name) => termsOf(nodeOf(cluster, name)).slice(0, 2))).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
    return cluster;
  }

  it("Figure 8 (c), (d): an entry of an older term on a majority is not committed, and may be overwritten", () => {
    const cluster = figure8c();
    for (const name of servers) expect(commitOf(cluster, name)).toBe(0);
    crash(cluster, "s1");
    heal(cluster);
    cluster.queue = [];
    for (let round = 0; round < 5 && leaderOf(cluster)?.id !== idOf("s5"); round += 1)
      campaign(cluster, "s5");
    advance(cluster, 100);
    for (const name of servers.slice(1)) expect(termsOf(nodeOf(cluster, name)).slice(0, 2)).toEqual([1, 3]);
  });

  it("Figure 8 (e): once an entry of its own term is on a majority, what came before is committed with it", () => {
    const cluster = figure8c();
    finishWrite(cluster, "s1");
    cluster.slowDisks.clear();
    propose(cluster, "s1", "of term 4");
    advance(cluster, 200);
    expect(commitOf(cluster, "s1")).toBe(4);
    crash(cluster, "s1");
    heal(cluster);
    for (let round = 0; round < 5; round += 1) campaign(cluster, "s5");
    expect(nodeOf(cluster, "s5").state.role, "it can no longer win").not.toBe("leader");
    restart(cluster, "s1");
    advance(cluster, 2000);
    expect(termsOf(leaderOf(cluster)!).slice(0, 3)).toEqual([1, 2, 4]);
  });
});
