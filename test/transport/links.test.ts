/** Links between members: who is linked, what arrives, and how it ends. */
import { type Network, type NodeId, QuorateError } from "@quorate/raft";
import { createTransport, peerVersions, writePeerHello } from "@quorate/transport/internal";
import { describe, expect, it } from "vitest";
import { clusterId, link, type Node, node, recorder, world } from "./linkWorld.ts";
import { heartbeat, member, nodeSide, seededRandom, settle, virtualClock } from "./world.ts";

describe("two members", () => {
  it("link both ways, and each receives with the other's sequence what the other sent.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b")];
    link(a, "b", b.hello.address);
    link(b, "a", a.hello.address);
    await settle();
    expect([a.seen.linked, b.seen.linked]).toEqual([[b.hello.member], [a.hello.member]]);
    a.hello.sequence = 77;
    a.transport.send(b.hello.member, [heartbeat(1), heartbeat(2)]);
    b.transport.send(a.hello.member, [heartbeat(3)]);
    await settle();
    expect(b.seen.received).toEqual([
      { from: a.hello.member, sequence: 77, messages: [heartbeat(1), heartbeat(2)] },
    ]);
    expect(a.seen.received).toEqual([{ from: b.hello.member, sequence: 10, messages: [heartbeat(3)] }]);
    await Promise.all([a.stop(), b.stop()]);
  });

  it("learn of the other's death from both connections.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b")];
    link(a, "b", b.hello.address);
    link(b, "a", a.hello.address);
    await settle();
    await b.stop();
    await settle();
    expect(a.seen.lost).toEqual([
      { peer: b.hello.member, cause: "remote" },
      { peer: b.hello.member, cause: "remote" },
    ]);
    await a.stop();
  });

  it("send nothing without a link, and nothing to another incarnation than the linked one.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b")];
    a.transport.send(b.hello.member, [heartbeat(1)]);
    link(a, "b", b.hello.address);
    a.transport.send(b.hello.member, [heartbeat(2)]);
    await settle();
    a.transport.send(member("b", 2), [heartbeat(3)]);
    a.transport.send(b.hello.member, []);
    a.transport.send(b.hello.member, [heartbeat(4)]);
    await settle();
    expect(b.seen.received.map(({ messages }) => messages)).toEqual([[heartbeat(4)]]);
    await Promise.all([a.stop(), b.stop()]);
  });

  it("split a turn with many entries into frames that stay far from the limit.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b")];
    link(a, "b", b.hello.address);
    await settle();
    const data = new Uint8Array(1_500_000);
    const messages = Array.from({ length: 6 }, (_, i) => ({
      ...{ kind: "appendRequest", term: 1, session: 1, prevIndex: i, prevTerm: 1, commitIndex: 0 },
      entries: [{ term: 1, index: i + 1, kind: "command", data }],
    }));
    a.transport.send(b.hello.member, messages as never);
    await settle();
    expect(b.seen.received.map((frame) => frame.messages.length)).toEqual([2, 2, 2]);
    const entries = b.seen.received.flatMap((frame) => frame.messages as never as typeof messages);
    expect(entries.map(({ entries: [entry] }) => [entry?.index, entry?.data.length])).toEqual(
      messages.map((_, i) => [i + 1, data.length]),
    );
    await Promise.all([a.stop(), b.stop()]);
  });
});

describe("the addresses of a peer", () => {
  it("are tried in turn without a delay, and a wrong node at one of them is passed over.", async () => {
    const at = world();
    const [a, b, c] = [await node(at, "a"), await node(at, "b"), await node(at, "c")];
    link(a, "b", "ws://nobody:1", c.hello.address, b.hello.address);
    await settle();
    expect(a.seen.linked).toEqual([b.hello.member]);
    expect(at.dials.map(({ address }) => address)).toEqual([
      "ws://nobody:1",
      c.hello.address,
      b.hello.address,
    ]);
    expect(at.dials.every(({ atMs }) => atMs === 1_000)).toBe(true);
    expect(c.seen).toEqual({ linked: [], received: [], lost: [], refusedBy: [] });
    expect(a.seen.refusedBy).toEqual([]);
    expect(a.lines.map((line) => line.message).join("\n")).toContain(
      "You look for node b, and this is node c.",
    );
    await Promise.all([a.stop(), b.stop(), c.stop()]);
  });

  it("are left as soon as a node that says nothing of whom it is shows itself as another.", async () => {
    const at = world();
    const a = await node(at, "a");
    const impostor = {
      member: member("c"),
      clusterId,
      start: "5".repeat(16),
      boot: 1,
      sequence: 1,
      address: "ws://x:1",
      priority: 1,
      machine: 1,
    };
    let ends: string[] = [];
    const listener = await at.network.listen("ws://x:1", () => ({
      kind: "accept",
      hello: writePeerHello(impostor, peerVersions),
      opened: (channel) => {
        ends = recorder(channel).ends;
      },
    }));
    link(a, "b", "ws://x:1");
    await settle();
    expect(a.seen.linked).toEqual([]);
    expect(ends).toEqual(["remote: There is c, where b should be."]);
    await Promise.all([a.stop(), listener.close()]);
  });

  it("include the one that the peer shows when it dials us.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b", 9)];
    link(a, "b", "ws://b:1");
    link(b, "a", a.hello.address);
    await settle();
    expect(a.seen.linked).toEqual([b.hello.member]);
    await Promise.all([a.stop(), b.stop()]);
  });

  it("are tried at once when they are new.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b")];
    link(a, "b", "ws://nobody:1");
    await at.clock.pass(10_000);
    const beforeMs = at.clock.nowMs();
    link(a, "b", "ws://nobody:1", b.hello.address);
    await settle();
    expect(a.seen.linked).toEqual([b.hello.member]);
    expect(at.dials.at(-1)?.atMs).toBe(beforeMs);
    await Promise.all([a.stop(), b.stop()]);
  });
});

describe("the set of peers", () => {
  it("loses its link to a node that is taken out, and keeps the others.", async () => {
    const at = world();
    const [a, b, c] = [await node(at, "a"), await node(at, "b"), await node(at, "c")];
    const target = (of: Node) => ({ nodeId: of.name as NodeId, addresses: [of.hello.address] });
    a.transport.setPeers([target(a), target(b), target(c)]);
    await settle();
    expect([...a.seen.linked].sort()).toEqual([b.hello.member, c.hello.member]);
    a.transport.setPeers([target(a), target(c)]);
    await settle();
    expect(a.seen.lost).toEqual([{ peer: b.hello.member, cause: "local" }]);
    expect(b.seen.lost).toEqual([{ peer: a.hello.member, cause: "remote" }]);
    await at.clock.pass(30_000);
    expect(at.dials).toHaveLength(2);
    await Promise.all([a.stop(), b.stop(), c.stop()]);
  });
});

describe("closing", () => {
  it("ends every link, timer and attempt, and tells the node nothing more.", async () => {
    const at = world();
    const [a, b, c] = [await node(at, "a"), await node(at, "b"), await node(at, "c")];
    const targets = [b, c, { name: "d", hello: { address: "ws://d:1" } }].map((each) => ({
      nodeId: each.name as NodeId,
      addresses: [each.hello.address],
    }));
    a.transport.setPeers(targets);
    link(b, "a", a.hello.address);
    await settle();
    const before = structuredClone(a.seen);
    const first = a.transport.close();
    await Promise.all([first, a.transport.close()]);
    await settle();
    expect(a.seen).toEqual(before);
    expect(b.seen.lost.map(({ cause }) => cause)).toEqual(["remote", "remote"]);
    const dials = at.dials.length;
    await Promise.all([b.stop(), c.stop()]);
    await at.clock.pass(30_000);
    expect(at.dials.length).toBe(dials);
    expect(at.clock.timers).toBe(0);
    a.transport.send(b.hello.member, [heartbeat(1)]);
    a.transport.setPeers(targets);
    await settle();
    expect(at.dials.length).toBe(dials);
    expect(a.transport.accept(writePeerHello(b.hello, peerVersions, "a" as NodeId))).toMatchObject({
      code: "CLOSING",
    });
    await a.listener.close();
  });

  it("gives up a connection that is being made.", async () => {
    const clock = virtualClock();
    let given: AbortSignal | undefined;
    const network: Network = {
      dial: (_address, _hello, { signal }) =>
        new Promise((_, reject) => {
          given = signal;
          signal.addEventListener("abort", () => reject(new QuorateError("ABORTED", "Given up.")));
        }),
      listen: () => Promise.reject(new Error("not here")),
    };
    const side = nodeSide(
      () => ({
        member: member("a"),
        clusterId,
        start: "5".repeat(16),
        boot: 1,
        sequence: 1,
        address: "ws://a:1",
        priority: 1,
        machine: 1,
      }),
      () => undefined,
    );
    const transport = createTransport({ network, clock, random: seededRandom(1) });
    transport.start(side.handlers);
    transport.setPeers([{ nodeId: "b" as NodeId, addresses: ["ws://b:1"] }]);
    await settle();
    await transport.close();
    expect(given?.aborted).toBe(true);
    await settle();
    expect(clock.timers).toBe(0);
  });
});
