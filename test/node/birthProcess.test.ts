/**
 * How a cluster is founded, at the level of its messages: fake logs, a message queue that can lose, no network.
 */
import { asIndex, asTerm, type MemberId, memberId, type NodeId, nodeIdOf } from "@quorate/raft";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterIdOf, type Node, Nursery } from "./nursery.ts";

describe("the birth of a cluster", () => {
  it("gives every node of one list the same cluster and configuration", async () => {
    const nursery = new Nursery();
    const nodes = ["a", "b", "c"].map((name) => nursery.add(name, ["a", "b", "c"]));
    nursery.linkAll();
    await nursery.deliver();
    const ids = new Set(nodes.map(clusterIdOf));
    expect(ids.size).toBe(1);
    expect([...ids][0]).toMatch(/^[0-9a-f]{32}$/);
    expect(nodes[0]?.births[0]?.configuration.voters.map((voter) => nodeIdOf(voter.id))).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  it("promises nothing to a late question while it is being born", async () => {
    const nursery = new Nursery();
    const [founder, node] = ["a", "b"].map((name) => nursery.add(name, ["a", "b"])) as [Node, Node];
    nursery.linkAll();
    const { bear, promise } = node.log;
    const asked: MemberId[] = [];
    let written = (): void => {};
    const whenWritten = new Promise<void>((resolve) => {
      written = resolve;
    });
    node.log.bear = async (birth) => {
      await whenWritten;
      return bear(birth);
    };
    node.log.promise = (to) => {
      asked.push(to);
      return promise(to);
    };
    await nursery.deliver();
    expect(asked).toEqual([founder.member]);
    const peers = ["a", "b"].map((name) => ({ nodeId: name as NodeId, address: `ws://${name}` }));
    node.process.received(founder.member, { kind: "birthQuery", peers });
    expect(asked).toHaveLength(1);
    written();
    await nursery.deliver();
    await new Promise((resolve) => setImmediate(resolve));
    expect(clusterIdOf(node)).toBe(clusterIdOf(founder));
  });

  it("founds a cluster of one at once", async () => {
    const nursery = new Nursery();
    const node = nursery.add("a", ["a"]);
    await nursery.deliver();
    await Promise.resolve();
    expect(clusterIdOf(node)).toBeDefined();
  });

  it("waits until every listed node has promised itself", async () => {
    const nursery = new Nursery();
    const a = nursery.add("a", ["a", "b", "c"]);
    const b = nursery.add("b", ["a", "b", "c"]);
    nursery.linkAll();
    await nursery.deliver();
    expect(clusterIdOf(a)).toBeUndefined();
    const c = nursery.add("c", ["a", "b", "c"]);
    nursery.linkAll();
    await nursery.deliver();
    expect(new Set([a, b, c].map(clusterIdOf)).size).toBe(1);
    expect(clusterIdOf(a)).toBeDefined();
  });

  it("says both lists when they differ, and founds nothing", async () => {
    const nursery = new Nursery();
    const a = nursery.add("a", ["a", "b", "c"]);
    nursery.add("b", ["a", "b"]);
    nursery.add("c", ["a", "b", "c"]);
    nursery.linkAll();
    await nursery.deliver();
    expect(clusterIdOf(a)).toBeUndefined();
    expect(a.complaints.join()).toContain("its list of peers is a, b, the founder's is a, b, c");
  });

  it("refuses a second founder until the directory is wiped", async () => {
    const nursery = new Nursery();
    const list = ["a", "b"];
    const b = nursery.add("b", list);
    await b.log.promise(memberId("a" as NodeId, "00000000000000aa"));
    const a = nursery.add("a", list, "00000000000000bb");
    nursery.linkAll();
    await nursery.deliver();
    expect(clusterIdOf(a)).toBeUndefined();
    expect(a.complaints.join()).toContain("it is promised to a.00000000000000aa; wipe its data directory");
  });

  it("does not let a wiped founder found again beside its living members", async () => {
    const nursery = new Nursery();
    const list = ["a", "b", "c"];
    const [a, b, c] = list.map((name) => nursery.add(name, list)) as [Node, Node, Node];
    nursery.linkAll();
    await nursery.deliver();
    nursery.nodes.delete(a.member);
    const wiped = nursery.add("a", list, "00000000000000ff");
    nursery.link(wiped, b);
    nursery.link(wiped, c);
    nursery.link(b, wiped);
    await nursery.deliver();
    await nursery.repeat();
    await nursery.deliver();
    expect(clusterIdOf(wiped)).toBeUndefined();
  });

  it("lets any member tell a node of its birth, when the founder died before it could", async () => {
    const nursery = new Nursery();
    const list = ["a", "b", "c"];
    const [a, b, c] = list.map((name) => nursery.add(name, list)) as [Node, Node, Node];
    nursery.linkAll();
    await nursery.deliver((parcel) => !(parcel.message.kind === "birthNotice" && parcel.to === c.member));
    expect(clusterIdOf(b)).toBe(clusterIdOf(a));
    expect(clusterIdOf(c)).toBeUndefined();
    nursery.nodes.delete(a.member);
    nursery.link(b, c);
    await nursery.deliver();
    expect(clusterIdOf(c)).toBe(clusterIdOf(b));
  });

  it("is told until it is acknowledged, and not a moment longer", async () => {
    const nursery = new Nursery();
    for (const name of ["a", "b", "c"]) nursery.add(name, ["a", "b", "c"]);
    nursery.linkAll();
    await nursery.deliver();
    for (let round = 0; round < 2; round++) {
      await nursery.repeat();
      await nursery.deliver();
    }
    expect(nursery.clock.timers).toBe(0);
  });

  it("refuses a question that comes while the birth, or another promise, is being written, and lives on", async () => {
    const nursery = new Nursery();
    const list = ["a", "b"];
    const [a, b] = list.map((name) => nursery.add(name, list)) as [Node, Node];
    const question = {
      kind: "birthQuery",
      peers: list.map((nodeId) => ({ nodeId: nodeId as NodeId, address: `ws://${nodeId}` })),
    } as const;
    // As a log does it: one write after the other, each judged when its turn comes.
    const { promise } = b.log;
    let turn: () => void = () => {};
    b.log.promise = (founder) => new Promise<void>((done) => (turn = done)).then(() => promise(founder));
    b.process.received(a.member, question);
    b.process.received(a.member, {
      kind: "birthNotice",
      birth: {
        clusterId: "c1",
        configuration: { voters: [{ id: b.member, address: "ws://b" }], outgoing: [], learners: [] },
      },
    });
    await Promise.resolve();
    expect(clusterIdOf(b)).toBe("c1");
    turn();
    for (let hop = 0; hop < 5; hop++) await Promise.resolve();
    expect(nursery.queue.map(({ message }) => message.kind)).toEqual(["birthRefusal"]);
  });

  it("tells a member that lost the record of its birth, and never takes its promise", async () => {
    const nursery = new Nursery();
    const list = ["a", "b"];
    const a = nursery.add("a", list);
    const b = nursery.add("b", list);
    b.log.standing = { kind: "lost", clusterId: "c1", floor: { lastIndex: asIndex(7), lastTerm: asTerm(2) } };
    nursery.linkAll();
    await nursery.deliver();
    expect(clusterIdOf(a)).toBeUndefined();
    expect(a.complaints.join()).toContain("lost the record");
  });

  it("tells its birth to a member that joined and lost the record of it, of this cluster alone", async () => {
    for (const isOwn of [true, false]) {
      const nursery = new Nursery();
      const d = memberId("d" as NodeId, "0000000000000001");
      const a = nursery.add("a", ["a"], undefined, { members: [d] });
      await nursery.deliver();
      const clusterId = clusterIdOf(a)!;
      const joined = nursery.add("d", ["d", "e"]);
      const floor = { lastIndex: asIndex(7), lastTerm: asTerm(2) };
      joined.log.standing = { kind: "lost", clusterId: isOwn ? clusterId : "another", floor };
      nursery.linkAll();
      await nursery.deliver();
      expect(clusterIdOf(joined)).toBe(isOwn ? clusterId : undefined);
    }
  });

  it("never founds two clusters of one list, whatever is lost and however often nodes link anew", async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.integer({ min: 0, max: 9 })), async (draws) => {
        const nursery = new Nursery();
        const list = ["a", "b", "c"];
        const nodes = list.map((name) => nursery.add(name, list));
        const keep = (): boolean => Number(draws.next().value) > 4;
        for (let round = 0; round < 6; round++) {
          nursery.linkAll();
          await nursery.deliver(keep);
          await nursery.repeat();
          await nursery.deliver(keep);
        }
        nursery.linkAll();
        await nursery.deliver();
        const ids = nodes.map(clusterIdOf);
        expect(new Set(ids).size).toBe(1);
        expect(ids[0]).toBeDefined();
      }),
      { numRuns: 100 },
    );
  });

  it("is told, as it was, to a node that was added to the cluster later and waits for it", async () => {
    const joiner = memberId("d" as NodeId, "0000000000000001");
    const nursery = new Nursery();
    const founder = nursery.add("a", ["a"], "0000000000000001", { members: [joiner] });
    await nursery.deliver();
    const clusterId = clusterIdOf(founder);
    const joining = nursery.add("d", ["d"], "0000000000000001", { joins: clusterId! });
    nursery.link(founder, joining);
    await nursery.deliver();
    expect(joining.births).toEqual(founder.births);
    expect(clusterIdOf(joining)).toBe(clusterId);
  });

  it("is not told to a stranger, nor taken from a cluster that the node was not added to", async () => {
    const joiner = memberId("d" as NodeId, "0000000000000001");
    const nursery = new Nursery();
    const knows = nursery.add("a", ["a"], "0000000000000001", { members: [joiner] });
    const knowsNot = nursery.add("b", ["b"]);
    await nursery.deliver();
    const joining = nursery.add("d", ["d"], "0000000000000001", { joins: clusterIdOf(knowsNot)! });
    nursery.link(knowsNot, joining);
    nursery.link(knows, joining);
    await nursery.deliver();
    expect(joining.births).toEqual([]);
  });

  it("does not happen to a node that waits to join: it founds nothing, though its list names nobody else", async () => {
    const nursery = new Nursery();
    const joining = nursery.add("d", ["d"], "0000000000000001", { joins: "f".repeat(32) });
    await nursery.deliver();
    expect(joining.births).toEqual([]);
  });

  it("is waited for by a node that was added for so long, and no longer: it may have been removed again", async () => {
    const nursery = new Nursery();
    nursery.add("d", ["d"], "0000000000000001", { joins: "f".repeat(32) });
    await nursery.clock.pass(2_999);
    expect(nursery.failures).toEqual([]);
    await nursery.clock.pass(1);
    expect(nursery.failures).toMatchObject([{ code: "TIMED_OUT", retryable: true, outcome: "none" }]);
    expect(String(nursery.failures[0])).toMatch(/can reach it at ws:.*--listen.*quorate member remove d\./);
  });

  it("ends the wait, and so does the end of the node", async () => {
    const joiner = memberId("d" as NodeId, "0000000000000001");
    const nursery = new Nursery();
    const founder = nursery.add("a", ["a"], "0000000000000001", { members: [joiner] });
    await nursery.deliver();
    const joining = nursery.add("d", ["d"], "0000000000000001", { joins: clusterIdOf(founder)! });
    const closing = nursery.add("e", ["e"], "0000000000000001", { joins: clusterIdOf(founder)! });
    nursery.link(founder, joining);
    await nursery.deliver();
    closing.process.stop();
    // Acknowledged when it is said again.
    for (let round = 0; round < 2; round += 1) {
      await nursery.repeat();
      await nursery.deliver();
    }
    expect(nursery.clock.timers).toBe(0);
  });
});
