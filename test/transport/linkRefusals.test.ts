/** Who is turned away, with which words, and what a bad frame costs. */
import { ConnectionRefusedError, type Hello, type NodeId, type PeerHello, type Refusal } from "@quorate/raft";
import { createTransport, encodeFrame, peerVersions, writePeerHello } from "@quorate/transport/internal";
import { describe, expect, it } from "vitest";
import { clusterId, connectAs, forLong, link, node, recorder, warnings, world } from "./linkWorld.ts";
import { heartbeat, member, nodeSide, seededRandom, settle } from "./world.ts";

describe("a refusal", () => {
  const refusal: Refusal = {
    kind: "refuse",
    code: "OTHER_CLUSTER",
    reason: "This node is of another cluster.",
  };

  it("is told to the node that is refused, which does not try again in a hurry.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b")];
    b.unwanted.set(a.hello.member, refusal);
    link(a, "b", b.hello.address);
    await settle();
    expect(a.seen.refusedBy).toEqual([{ node: "b", refusal }]);
    expect(b.seen).toEqual({ linked: [], received: [], lost: [], refusedBy: [] });
    await at.clock.pass(3_700);
    expect(at.dials).toHaveLength(1);
    await at.clock.pass(60_000);
    expect(at.dials.length).toBeGreaterThanOrEqual(10);
    expect(at.dials.length).toBeLessThanOrEqual(17);
    expect(warnings(a)).toHaveLength(1);
    await Promise.all([a.stop(), b.stop()]);
  });

  it("of our own keeps an accepted connection from being used.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b")];
    a.unwanted.set(b.hello.member, refusal);
    link(a, "b", b.hello.address);
    await settle();
    expect(a.seen.linked).toEqual([]);
    expect(b.seen.lost).toEqual([{ peer: a.hello.member, cause: "remote" }]);
    await at.clock.pass(3_700);
    expect(at.dials).toHaveLength(1);
    await Promise.all([a.stop(), b.stop()]);
  });

  it("of a node that is still starting passes soon.", async () => {
    const at = world();
    const a = await node(at, "a");
    const starting = createTransport({ network: at.network, clock: at.clock, random: seededRandom(1) });
    const listener = await at.network.listen("ws://b:1", (hello) => starting.accept(hello));
    link(a, "b", "ws://b:1");
    await settle();
    expect(a.seen.refusedBy.map((each) => each.refusal.code)).toEqual(["STARTING"]);
    const b = nodeSide(
      () => ({
        member: member("b"),
        clusterId,
        start: "5".repeat(16),
        boot: 1,
        sequence: 1,
        address: "ws://b:1",
        priority: 1,
        machine: 1,
      }),
      () => undefined,
    );
    starting.start(b.handlers);
    await at.clock.pass(20);
    expect(a.seen.linked).toEqual([member("b")]);
    await Promise.all([a.stop(), listener.close(), starting.close()]);
  });

  const peer: PeerHello = {
    member: member("z"),
    clusterId,
    start: "5".repeat(16),
    boot: 3,
    sequence: 4,
    address: "ws://z:1",
    priority: 1,
    machine: 1,
  };
  const wrong: Record<string, [Hello, string, RegExp]> = {
    "an unknown protocol version": [
      { protocol: "7-9" },
      "VERSION",
      /versions 7-9 of the protocol, and this node speaks versions 1-3/,
    ],
    "a version that cannot be read": [{ protocol: "one" }, "VERSION", /no version that can be read/],
    "a range that is upside down": [{ protocol: "9-1" }, "VERSION", /no version that can be read/],
    "another role": [{ role: "client" }, "HELLO", /field role of the hello is "client"/],
    "a node id that is none": [{ node: "../a" }, "HELLO", /field node/],
    "an incarnation of 15 digits": [{ incarnation: "0".repeat(15) }, "HELLO", /field incarnation/],
    "a cluster id that is none": [{ cluster: "mine" }, "HELLO", /field cluster/],
    "a boot count that is none": [{ boot: "1e3" }, "HELLO", /field boot/],
    "a sequence beyond the safe integers": [{ sequence: "9999999999999999" }, "HELLO", /field sequence/],
    "a version of the machine that is none": [{ machine: "0" }, "HELLO", /field machine/],
    "an address with a space": [{ address: "ws: //a" }, "HELLO", /field address/],
    "someone who looks for another node": [
      { to: "q" },
      "WRONG_NODE",
      /You look for node q, and this is node a/,
    ],
  };
  for (const [name, [fields, code, sentence]] of Object.entries(wrong)) {
    it(`is what ${name} gets.`, async () => {
      const at = world();
      const a = await node(at, "a");
      const hello = { ...writePeerHello(peer, peerVersions, "a" as NodeId), ...fields };
      const error = await at.network
        .dial(a.hello.address, hello, forLong)
        .then(String, (thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConnectionRefusedError);
      expect((error as ConnectionRefusedError).refusal.code).toBe(code);
      expect((error as ConnectionRefusedError).message).toMatch(sentence);
      expect(a.seen).toEqual({ linked: [], received: [], lost: [], refusedBy: [] });
      await a.stop();
    });
  }
});

describe("a connection of a peer", () => {
  it("is closed by a frame that cannot be read, with a line in the log and nothing more.", async () => {
    const at = world();
    const [a, b, c] = [await node(at, "a"), await node(at, "b"), await node(at, "c")];
    link(c, "a", a.hello.address);
    await settle();
    const bad = await connectAs(at, b.hello, a);
    const { ends } = recorder(bad);
    bad.send(encodeFrame(1, [heartbeat(1)]));
    bad.send(Uint8Array.of(0xc1, 2, 3));
    bad.send(encodeFrame(1, [heartbeat(2)]));
    await settle();
    expect(ends).toEqual(["remote: a frame of yours could not be read"]);
    expect(a.seen.received.map(({ messages }) => messages)).toEqual([[heartbeat(1)]]);
    expect(a.seen.lost).toEqual([{ peer: b.hello.member, cause: "local" }]);
    expect(warnings(a)).toEqual([
      `Closing the connection of ${b.hello.member}: it sent a frame that cannot be read.`,
    ]);
    c.transport.send(a.hello.member, [heartbeat(3)]);
    await settle();
    expect(a.seen.received.at(-1)?.messages).toEqual([heartbeat(3)]);
    expect(c.seen.lost).toEqual([]);
    await Promise.all([a.stop(), b.stop(), c.stop()]);
  });

  it("gives way to a newer one of the same member.", async () => {
    const at = world();
    const [a, b] = [await node(at, "a"), await node(at, "b")];
    const older = await connectAs(at, b.hello, a);
    const { ends } = recorder(older);
    const newer = await connectAs(at, b.hello, a);
    recorder(newer);
    older.send(encodeFrame(1, [heartbeat(1)]));
    newer.send(encodeFrame(1, [heartbeat(2)]));
    await settle();
    expect(ends).toEqual(["remote: there is a newer connection of yours"]);
    expect(a.seen.received.at(-1)?.messages).toEqual([heartbeat(2)]);
    expect(a.seen.lost).toEqual([{ peer: b.hello.member, cause: "local" }]);
    await Promise.all([a.stop(), b.stop()]);
  });

  it("is not used to send to us over the connection that we dialled.", async () => {
    const at = world();
    const a = await node(at, "a");
    const peer = {
      member: member("b"),
      clusterId,
      start: "5".repeat(16),
      boot: 1,
      sequence: 1,
      address: "ws://b:1",
      priority: 1,
      machine: 1,
    };
    const listener = await at.network.listen("ws://b:1", () => ({
      kind: "accept",
      hello: writePeerHello(peer, peerVersions),
      opened: (channel) => {
        recorder(channel);
        channel.send(encodeFrame(1, [heartbeat(1)]));
      },
    }));
    link(a, "b", "ws://b:1");
    await settle();
    expect(a.seen.received).toEqual([]);
    expect(a.seen.lost).toEqual([{ peer: peer.member, cause: "local" }]);
    await Promise.all([a.stop(), listener.close()]);
  });
});
