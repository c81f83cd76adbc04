/**
 * The Raft paper (Ongaro and Ousterhout, ATC 2014, extended version), sentence by sentence: a title says what
 * the paper says, the test shows that a core does it.
 */
import { asIndex, asTerm, type Entry, type Message } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  bytes,
  type Cluster,
  campaign,
  commitOf,
  crash,
  createCluster,
  deliver,
  entriesOf,
  finishWrite,
  heal,
  hold,
  idOf,
  leaderOf,
  nameOf,
  nodeOf,
  partition,
  propose,
  queued,
  receive,
  restart,
  sentOf,
  settle,
  termsOf,
  textOf,
  timeOut,
  turn,
} from "./cluster.ts";

const names = ["a", "b", "c", "d", "e"];

function heartbeat(term: number, session = 1, token = 0): Message {
  return { kind: "heartbeat", term: asTerm(term), session, commitIndex: asIndex(0), token };
}

function append(
  term: number,
  prev: readonly [number, number],
  entries: readonly Entry[],
  commit = 0,
): Message {
  return {
    kind: "appendRequest",
    term: asTerm(term),
    session: 1,
    prevIndex: asIndex(prev[0]),
    prevTerm: asTerm(prev[1]),
    commitIndex: asIndex(commit),
    entries,
  };
}

function voteRequest(term: number, lastTerm: number, lastIndex: number): Message {
  return {
    kind: "voteRequest",
    term: asTerm(term),
    lastTerm: asTerm(lastTerm),
    lastIndex: asIndex(lastIndex),
  };
}

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

describe("§5.1 Raft basics", () => {
  for (const role of ["follower", "candidate", "leader"] as const) {
    it(`a ${role} whose term is smaller than another's updates its term and is a follower`, () => {
      const messages: Message[] = [
        heartbeat(9),
        append(9, [0, 0], []),
        voteRequest(9, 9, 9),
        { kind: "voteResponse", term: asTerm(9), granted: false },
        { kind: "heartbeatResponse", term: asTerm(9), session: 1, token: 0 },
      ];
      for (const message of messages) {
        const cluster = inRole(role);
        if (role === "leader" && message.kind === "voteRequest") continue; // refused: it leads, see Dissertation §4.2.3
        receive(cluster, "a", "b", message);
        expect(nodeOf(cluster, "a").state).toMatchObject({ currentTerm: 9, role: "follower" });
      }
    });
  }

  it("a server that receives a request with a stale term number rejects the request", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"], disks: { a: { term: asTerm(5) } } });
    const requests = [heartbeat(4), append(4, [0, 0], entriesOf([4])), voteRequest(4, 4, 9)];
    const answers = requests.map((message) => receive(cluster, "a", "b", message).send[0]?.message);
    expect(answers).toMatchObject([
      { kind: "heartbeatResponse", term: 5 },
      { kind: "appendResponse", term: 5, result: { kind: "rejected" } },
      { kind: "voteResponse", term: 5, granted: false },
    ]);
    expect(nodeOf(cluster, "a").state.log.lastIndex).toBe(0);
    expect(nodeOf(cluster, "a").state.leader).toBeUndefined();
  });

  it("a leader that learns from an answer that its term is out of date reverts to follower", () => {
    const cluster = inRole("leader");
    receive(cluster, "a", "c", {
      kind: "appendResponse",
      term: asTerm(7),
      session: 1,
      result: { kind: "rejected", rejectedIndex: asIndex(0), hintIndex: asIndex(0), hintTerm: asTerm(0) },
    });
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "follower", currentTerm: 7 });
  });
});

describe("§5.2 Leader election", () => {
  it("when servers start up, they begin as followers", () => {
    for (const { state } of createCluster({ nodes: names }).nodes.values())
      expect(state.role).toBe("follower");
  });

  it("leaders send periodic heartbeats to all followers", () => {
    const cluster = inRole("leader");
    settle(cluster);
    const sent: number[] = [];
    cluster.drop = ({ message, from }) => {
      if (message.kind === "heartbeat") sent.push(cluster.nowMs);
      return from === idOf("z");
    };
    advance(cluster, 500);
    expect(sent).toHaveLength(20);
  });

  it("a follower that receives no communication over the election timeout begins an election", () => {
    const cluster = createCluster({ nodes: ["a", "b", "c"] });
    const { deadlineMs } = nodeOf(cluster, "a").state.election;
    while (cluster.nowMs + 50 < deadlineMs) {
      cluster.nowMs += 50;
      expect(turn(cluster, "a", { kind: "tick" }).send).toEqual([]);
    }
    cluster.nowMs = deadlineMs;
    const asked = sentOf(turn(cluster, "a", { kind: "tick" }), "preVoteRequest");
    expect(asked).toMatchObject([{ term: 1 }, { term: 1 }]);
  });

  it("it increments its current term, votes for itself and requests votes from each of the other servers", () => {
    const cluster = inRole("follower");
    timeOut(cluster, "a");
    receive(cluster, "a", "b", { kind: "preVoteResponse", term: asTerm(1), granted: true });
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "candidate", currentTerm: 1, vote: idOf("a") });
    expect(queued(cluster, "voteRequest")).toHaveLength(2);
  });

  it("a candidate wins if it receives votes from a majority of the full cluster, in one round", () => {
    for (let count = 1; count <= 5; count += 1) {
      const cluster = createCluster({ nodes: names.slice(0, count) });
      const needed = Math.floor(count / 2) + 1;
      for (let grants = 0; grants < count; grants += 1) {
        const others = names.slice(1, count);
        const alone = createCluster({ nodes: names.slice(0, count) });
        timeOut(alone, "a");
        for (const other of others) {
          receive(alone, "a", other, { kind: "preVoteResponse", term: asTerm(1), granted: true });
        }
        for (const other of others.slice(0, grants)) {
          receive(alone, "a", other, { kind: "voteResponse", term: asTerm(1), granted: true });
        }
        const wins = grants + 1 >= needed;
        expect(nodeOf(alone, "a").state.role, `${grants + 1} of ${count}`).toBe(
          wins ? "leader" : "candidate",
        );
      }
      campaign(cluster, "a");
      expect(leaderOf(cluster)?.id).toBe(idOf("a"));
      expect(leaderOf(cluster)?.state.currentTerm).toBe(1);
    }
  });

  it("each server will vote for at most one candidate in a given term, on a first-come-first-served basis", () => {
    const cluster = inRole("follower");
    const ask = (from: string): boolean | undefined => {
      receive(cluster, "a", from, voteRequest(1, 0, 0));
      return queued(cluster, "voteResponse", from).at(-1)?.granted;
    };
    expect(ask("b")).toBe(true);
    expect(ask("c")).toBe(false);
    expect(ask("b"), "the same candidate may ask again").toBe(true);
  });

  it("a voter is counted once, and its first answer stands (coyote's Raft sample counted doubles)", () => {
    const cluster = createCluster({ nodes: names });
    timeOut(cluster, "a");
    const grant = (kind: "preVoteResponse" | "voteResponse", from: string, granted = true): void => {
      receive(cluster, "a", from, { kind, term: asTerm(1), granted });
    };
    for (const from of ["b", "b", "b"]) grant("preVoteResponse", from);
    expect(nodeOf(cluster, "a").state.role).toBe("preCandidate");
    grant("preVoteResponse", "c");
    expect(nodeOf(cluster, "a").state.role).toBe("candidate");
    grant("voteResponse", "b", false);
    for (const from of ["b", "b", "c", "c"]) grant("voteResponse", from);
    expect(nodeOf(cluster, "a").state.role).toBe("candidate");
    grant("voteResponse", "d");
    expect(nodeOf(cluster, "a").state.role).toBe("leader");
  });

  it("a candidate that hears a leader of its own term returns to follower state and keeps its vote", () => {
    for (const message of [heartbeat(1), append(1, [0, 0], [])]) {
      const cluster = inRole("candidate");
      receive(cluster, "a", "b", message);
      expect(nodeOf(cluster, "a").state).toMatchObject({
        role: "follower",
        leader: idOf("b"),
        vote: idOf("a"),
      });
    }
  });

  it("if the term in the RPC is smaller than the candidate's, it rejects and continues in candidate state", () => {
    const cluster = inRole("candidate");
    const effects = receive(cluster, "a", "b", heartbeat(0));
    expect(sentOf(effects, "heartbeatResponse")).toMatchObject([{ term: 1 }]);
    expect(nodeOf(cluster, "a").state.role).toBe("candidate");
  });

  it("each candidate that times out starts a new election in a new term", () => {
    const cluster = inRole("candidate");
    campaign(cluster, "a");
    expect(nodeOf(cluster, "a").state).toMatchObject({ role: "leader", currentTerm: 2 });
  });

  it("election timeouts are chosen randomly from a fixed interval, anew each time, so that split votes are rare", () => {
    const timeouts = new Set<number>();
    let collisions = 0;
    for (let seed = 1; seed <= 300; seed += 1) {
      const cluster = createCluster({ nodes: names, core: { seed } });
      const drawn = [...cluster.nodes.values()].map(({ state }) => state.election.deadlineMs - 1000);
      for (const timeout of drawn) {
        expect(timeout).toBeGreaterThanOrEqual(150);
        expect(timeout).toBeLessThan(300);
        timeouts.add(timeout);
      }
      const [first, second] = drawn.sort((x, y) => x - y);
      if (second! - first! < 5) collisions += 1;
    }
    expect(timeouts.size).toBeGreaterThan(140);
    expect(collisions / 300).toBeLessThan(0.3);
    const node = nodeOf(createCluster({ nodes: ["a", "b"] }), "a");
    const again = new Set<number>();
    const cluster = createCluster({ nodes: ["a", "b"] });
    for (let round = 0; round < 20; round += 1) {
      receive(cluster, "a", "b", heartbeat(1));
      again.add(nodeOf(cluster, "a").state.election.deadlineMs);
    }
    expect(again.size).toBeGreaterThan(10);
    expect(node.state.random).not.toEqual(nodeOf(cluster, "a").state.random);
  });
});

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
      { kind: "voteRequest", term: 4, lastIndex: 3, lastTerm: 3 },
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
