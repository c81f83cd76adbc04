/** How a client finds nodes, leaves those that do not serve it, and never asks in a hot loop. In virtual time. */
import { afterEach, describe, expect, it } from "vitest";
import { settle } from "../transport/world.ts";
import { errorFrom, FakeCluster, failed, passing } from "./fakeCluster.ts";

let nodes: FakeCluster;

afterEach(() => {
  expect(nodes.clock.timers).toBe(0);
});

function requests(): number {
  return nodes.nodes.reduce((sum, node) => sum + node.asked.length, 0);
}

describe("a client", () => {
  it("finds the leader through an endpoint of a follower, and learns the others from it", async () => {
    nodes = await FakeCluster.start(3);
    nodes.elect("c");
    await using cluster = nodes.connect({ endpoints: [nodes.node("a").endpoint] });
    await cluster.kv.put("n", 1);
    expect(nodes.node("c").commands("put")).toBe(1);
    await nodes.node("a").stop();
    nodes.elect("b");
    await passing(nodes.clock, 1_000, cluster.kv.put("n", 2));
    expect(nodes.node("b").commands("put")).toBe(1);
  });

  it("opens a connection to each member when it has lived for a second, and keeps it", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    for (let n = 0; n < 10; n += 1) {
      await cluster.kv.put("n", n);
      await cluster.kv.get("n");
    }
    await settle();
    expect(nodes.nodes.some((node) => node.connections === 0)).toBe(true);
    await nodes.clock.pass(1_100);
    expect(nodes.nodes.map((node) => node.connections)).toEqual([1, 1, 1]);
    await nodes.node("c").stop();
    await settle();
    expect(nodes.node("c").connections).toBe(0);
    await nodes.node("c").start();
    await nodes.clock.pass(10_000);
    expect(nodes.nodes.map((node) => node.connections)).toEqual([1, 1, 1]);
  });

  it("is back at a member that restarts within a fraction of a second, also while another one is away for long", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    await nodes.clock.pass(1_100);
    await nodes.node("b").stop();
    await nodes.clock.pass(600_000);
    expect(nodes.node("b").dials, "tries at one that is away become rare").toBeLessThan(100);
    await nodes.node("c").stop();
    await nodes.clock.pass(500);
    await nodes.node("c").start();
    await nodes.clock.pass(300);
    expect(nodes.nodes.map((node) => node.connections)).toEqual([1, 0, 1]);
  });

  it("needs no new connection when the leader that it used hands over", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    await nodes.clock.pass(1_100);
    const dials = nodes.nodes.map((node) => node.dials);
    nodes.elect("b");
    await passing(nodes.clock, 1_000, cluster.kv.put("n", 1));
    expect(nodes.node("b").commands("put")).toBe(1);
    expect(nodes.nodes.map((node) => node.dials)).toEqual(dials);
  });

  it("sends all requests of a turn in one frame", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    const seenAt: number[] = [];
    let turn = 0;
    const count = (): void => {
      turn += 1;
      if (turn < 50) setImmediate(count);
    };
    count();
    nodes.node("a").behave = (_request, honest) => {
      seenAt.push(turn);
      return honest();
    };
    await Promise.all(Array.from({ length: 100 }, (_, n) => cluster.kv.put(`key/${n}`, n)));
    expect(seenAt).toHaveLength(100);
    expect(new Set(seenAt).size).toBe(1);
  });

  it("looks for a new leader once, however many writes wait for it", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.elect("");
    await nodes.node("a").stop();
    const before = requests();
    const writes = Promise.all(Array.from({ length: 500 }, (_, n) => cluster.kv.put(`key/${n}`, n)));
    await nodes.clock.pass(1_000);
    expect(requests() - before).toBeLessThan(60);
    nodes.elect("b");
    await passing(nodes.clock, 1_000, writes);
    expect(nodes.node("b").commands("put")).toBe(500);
  });

  it.each(["candidate", "preCandidate"] as const)(
    "sends what is pending to a %s, which keeps it until it leads",
    async (role) => {
      nodes = await FakeCluster.start(3);
      await using cluster = nodes.connect();
      await cluster.kv.put("n", 0);
      await nodes.clock.pass(1_100);
      nodes.elect("");
      nodes.node("c").role = role;
      nodes.node("c").behave = (request, honest) =>
        request.body.kind === "execute" && nodes.leader === "" ? "silence" : honest();
      await nodes.node("a").stop();
      const write = cluster.kv.put("n", 1);
      await nodes.clock.pass(20);
      expect(nodes.node("c").commands("put")).toBe(1);
      expect(nodes.node("b").commands("put")).toBe(0);
      nodes.node("c").behave = (_request, honest) => honest();
      nodes.elect("c");
      await nodes.node("c").stop(); // what it kept is lost, and sent again
      nodes.elect("b");
      await passing(nodes.clock, 1_000, write);
      expect(nodes.node("b").commands("put")).toBe(1);
    },
  );

  it("sends what is pending to whom a node names, without asking that one first", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    await nodes.clock.pass(1_100);
    const { endpoint } = nodes.node("b");
    nodes.node("b").role = "candidate";
    nodes.node("b").behave = (request, honest) => (request.body.kind === "status" ? "silence" : honest());
    nodes.node("a").behave = (request, honest) => {
      if (request.body.kind !== "execute") return honest();
      nodes.elect("b");
      return failed("NOT_LEADER", { retryable: true, leaderEndpoint: endpoint });
    };
    await cluster.kv.put("n", 1);
    expect(nodes.node("b").commands("put")).toBe(1);
    await nodes.clock.pass(5_000);
  });

  it("finds a leader soon after it was elected", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.elect("");
    await nodes.node("a").stop();
    const write = cluster.kv.put("n", 1);
    await nodes.clock.pass(300);
    nodes.elect("b");
    await passing(nodes.clock, 120, write);
    expect(nodes.node("b").commands("put")).toBe(1);
  });

  // The order in which nodes are asked is drawn: both ways, and in several rounds.
  it.each(["bc", "cb"].flatMap((names) => [30, 36, 42].map((afterMs) => [names, afterMs] as const)))(
    "asks all that it is connected to at once: of %s the first stands still %i ms on",
    async (names, afterMs) => {
      nodes = await FakeCluster.start(3);
      await using cluster = nodes.connect();
      await cluster.kv.put("n", 0);
      nodes.elect("");
      await nodes.node("a").stop();
      const write = cluster.kv.put("n", 1);
      await nodes.clock.pass(afterMs);
      const [silent, leader] = [names.slice(0, 1), names.slice(1)];
      nodes.node(silent).behave = () => "silence";
      nodes.elect(leader);
      await passing(nodes.clock, 20, write);
      expect(nodes.node(leader).commands("put")).toBe(1);
    },
  );

  it("never asks in a hot loop, not even a node that claims to lead and denies it", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    nodes.node("a").behave = (request, honest) =>
      request.body.kind === "execute" ? failed("NOT_LEADER", { retryable: true }) : honest();
    const error = await errorFrom(passing(nodes.clock, 6_000, cluster.kv.put("n", 1)));
    expect(error).toMatchObject({ code: "TIMED_OUT", outcome: "none" });
    expect(requests()).toBeLessThan(80);
  });

  it("gives up a connection that is silent though answers are due, and asks another node", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = () => "silence";
    nodes.elect("b");
    const both = Promise.all([cluster.kv.put("n", 1), cluster.kv.get("n")]);
    await passing(nodes.clock, 2_500, both);
    expect(nodes.node("b").commands("put")).toBe(1);
  });

  it("leaves a leader that stands still as soon as another node leads, and not before", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = () => "silence";
    const put = cluster.kv.put("n", 1);
    await nodes.clock.pass(250);
    expect(nodes.node("a").connections).toBe(1);
    nodes.elect("b");
    await passing(nodes.clock, 150, put);
    expect(nodes.node("b").commands("put")).toBe(1);
    expect(nodes.node("a").connections).toBe(0);
  });

  it("does not leave a late leader for one of an older term, and asks the others ever less often", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    for (const id of ["b", "c"]) {
      nodes.node(id).behave = (request, honest) => {
        const answer = honest();
        if (request.body.kind !== "status" || answer.kind !== "status") return answer;
        return { kind: "status", status: { ...answer.status, role: "leader", term: 1 } };
      };
    }
    nodes.node("a").behave = (request, honest) => (request.body.kind === "execute" ? "silence" : honest());
    const before = nodes.node("b").asked.length;
    const put = errorFrom(cluster.kv.put("n", 1));
    await nodes.clock.pass(3_000);
    expect(nodes.node("a").connections).toBe(1);
    expect(nodes.node("b").commands("put")).toBe(0);
    expect(nodes.node("b").asked.length - before).toBeLessThan(30);
    await nodes.clock.pass(2_100);
    expect(await put).toMatchObject({ code: "TIMED_OUT" });
    nodes.node("a").behave = (_request, honest) => honest();
  });

  it("waits for a slow answer as long as the node gives signs of life", async () => {
    nodes = await FakeCluster.start(1);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 0);
    nodes.node("a").behave = (request, honest) => (request.body.kind === "execute" ? "silence" : honest());
    const put = errorFrom(cluster.kv.put("n", 1));
    await nodes.clock.pass(4_900);
    expect(nodes.node("a").connections).toBe(1);
    expect(nodes.node("a").commands("put")).toBe(2);
    await nodes.clock.pass(200);
    expect(await put).toMatchObject({ code: "TIMED_OUT", outcome: "unknown" });
    nodes.node("a").behave = (_request, honest) => honest();
  });

  it("reads from another node when its own cannot serve it", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 1);
    for (const node of nodes.nodes) {
      node.behave = (request, honest) =>
        request.body.kind === "get" && node.id !== "c"
          ? failed("UNAVAILABLE", { retryable: true })
          : honest();
    }
    expect(await passing(nodes.clock, 1_000, cluster.kv.get("n"))).toMatchObject({ value: 1 });
  });

  it("returns to the node that it prefers soon after that can serve reads again", async () => {
    nodes = await FakeCluster.start(3);
    const own = nodes.node("b");
    await using cluster = nodes.connect({ preferredEndpoint: own.endpoint });
    const reads = (): number => own.asked.filter((body) => body.kind === "get").length;
    await cluster.kv.get("n");
    expect(reads()).toBe(1);
    own.behave = (request, honest) =>
      request.body.kind === "get" ? failed("NOT_LEADER", { retryable: true }) : honest();
    for (let n = 0; n < 5; n += 1) await passing(nodes.clock, 100, cluster.kv.get("n"));
    expect(reads()).toBe(2);
    own.behave = (_request, honest) => honest();
    await nodes.clock.pass(2_000);
    await cluster.kv.get("n");
    expect(reads()).toBe(3);
  });

  it("makes at most 16,384 calls at once", async () => {
    nodes = await FakeCluster.start(1);
    const cluster = nodes.connect();
    await cluster.kv.get("n");
    nodes.node("a").behave = () => "silence";
    const reads = Array.from({ length: 16_385 }, () => errorFrom(cluster.kv.get("n")));
    expect(await reads.at(-1)).toMatchObject({ code: "OVERLOADED", outcome: "none", retryable: true });
    await cluster.close();
    expect(await reads[0]).toMatchObject({ code: "CLOSED" });
  });

  it("is refused by a node of another version with both versions in the message", async () => {
    nodes = await FakeCluster.start(1);
    nodes.node("a").answerHello = () => ({
      kind: "accept",
      hello: { role: "node", node: "a", protocol: "7-9" },
      opened: (channel) => channel.open({ frame: () => {}, closed: () => {} }),
    });
    await using cluster = nodes.connect();
    const error = await errorFrom(passing(nodes.clock, 6_000, cluster.kv.get("n")));
    expect(error.message).toMatch(/7-9/);
    expect(error.message).toMatch(/1-3/);
  });

  it("survives a node that answers nonsense", async () => {
    nodes = await FakeCluster.start(2);
    await using cluster = nodes.connect();
    await cluster.kv.put("n", 1);
    let isBroken = true;
    nodes.node("a").behave = (request, honest) => {
      if (request.body.kind === "status" || !isBroken) return honest();
      isBroken = false;
      return { kind: "executed", result: { kind: "put", revision: -1 } };
    };
    expect(await passing(nodes.clock, 1_000, cluster.kv.get("n"))).toMatchObject({ value: 1 });
  });
});

describe("status", () => {
  it("asks every node that any of them knows, and reports those that are silent", async () => {
    nodes = await FakeCluster.start(3);
    await using cluster = nodes.connect({ endpoints: [nodes.node("b").endpoint] });
    await cluster.kv.put("n", 1);
    await nodes.node("c").stop();
    const status = await passing(nodes.clock, 1_200, cluster.status());
    expect(status).toMatchObject({ leader: "a", term: 1, revision: 1 });
    expect(status.nodes.map(({ id, role }) => [id, role])).toEqual([
      ["a", "leader"],
      ["b", "follower"],
      ["c", "unreachable"],
    ]);
    expect(status.nodes[2]).toMatchObject({ pid: null, endpoint: nodes.node("c").endpoint });
    expect(status.nodes[2]?.complaints[0]).toContain("Nobody listens");
  });

  it("resolves within its time though nobody answers", async () => {
    nodes = await FakeCluster.start(2);
    for (const node of nodes.nodes) node.behave = () => "silence";
    await using cluster = nodes.connect();
    const status = await passing(nodes.clock, 1_100, cluster.status());
    expect(status).toMatchObject({ clusterId: null, leader: null, term: 0, revision: 0 });
    expect(status.nodes.map((node) => node.role)).toEqual(["unreachable", "unreachable"]);
  });
});
