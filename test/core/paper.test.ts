/**
 * The Raft paper (Ongaro and Ousterhout, ATC 2014, extended version), sentence by sentence: a title says what
 * the paper says, the test shows that a core does it.
 */
import { asIndex, asTerm, type Message } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  createCluster,
  deliver,
  entriesOf,
  idOf,
  nodeOf,
  receive,
  settle,
  timeOut,
  turn,
} from "./cluster.ts";
import { append, heartbeat, voteRequest } from "./messages.ts";
import { hold, leaderOf, queued, sentOf } from "./views.ts";

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

  it("election timeouts are chosen randomly from a fixed interval, anew each time: split votes are rare", () => {
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
