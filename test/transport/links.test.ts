/** Links between members on a network in memory and in virtual time: who may connect, and what is tried when. */
import {
  type Channel,
  ConnectionRefusedError,
  type Hello,
  type Listener,
  type Network,
  type NodeId,
  type PeerHello,
  QuorateError,
  type Refusal,
} from "@quorate/raft";
import {
  createTransport,
  encodeFrame,
  memoryNetwork,
  type PeerTransport,
  writePeerHello,
} from "@quorate/transport/internal";
import { describe, expect, it } from "vitest";
import {
  heartbeat,
  type LogLine,
  member,
  nodeSide,
  recordingLogger,
  type Seen,
  seededRandom,
  settle,
  type VirtualClock,
  virtualClock,
} from "./world.ts";

interface World {
  readonly network: Network;
  readonly clock: VirtualClock;
  /** Every address that was dialled, and when. */
  readonly dials: { address: string; atMs: number }[];
}

function world(): World {
  const clock = virtualClock();
  const dials: World["dials"] = [];
  const memory = memoryNetwork();
  const network: Network = {
    dial(address, hello, options) {
      dials.push({ address, atMs: clock.nowMs() });
      return memory.dial(address, hello, options);
    },
    listen: (address, accept) => memory.listen(address, accept),
  };
  return { network, clock, dials };
}

interface Node {
  readonly name: string;
  readonly hello: { -readonly [Key in keyof PeerHello]: PeerHello[Key] };
  readonly transport: PeerTransport;
  readonly seen: Seen;
  readonly lines: LogLine[];
  readonly listener: Listener;
  /** Whom it does not let in. */
  readonly unwanted: Map<string, Refusal>;
  /** As a process that is killed: its connections close, and nothing listens. */
  stop(): Promise<void>;
}

const clusterId = "0123456789abcdef0123456789abcdef";

async function node(at: World, name: string, port = 1, incarnation = 1): Promise<Node> {
  const hello = {
    member: member(name, incarnation),
    clusterId,
    start: "5".repeat(16),
    boot: 1,
    sequence: 10,
    address: `ws://${name}:${port}`,
  };
  const unwanted = new Map<string, Refusal>();
  const side = nodeSide(
    () => ({ ...hello }),
    (peer) => unwanted.get(peer.member),
  );
  const { logger, lines } = recordingLogger();
  const transport = createTransport({
    network: at.network,
    clock: at.clock,
    random: seededRandom(port),
    logger,
  });
  transport.start(side.handlers);
  const listener = await at.network.listen(hello.address, (shown) => transport.accept(shown));
  return {
    name,
    hello,
    transport,
    seen: side.seen,
    lines,
    listener,
    unwanted,
    async stop() {
      await Promise.all([listener.close(), transport.close()]);
    },
  };
}

function link(from: Node, to: string, ...addresses: string[]): void {
  from.transport.setPeers([{ nodeId: to as NodeId, addresses }]);
}

/** Connects as the node's peer would, without a transport of its own. */
async function connectAs(at: World, peer: PeerHello, to: Node): Promise<Channel> {
  const hello = writePeerHello(peer, to.name as NodeId);
  const { channel } = await at.network.dial(to.hello.address, hello, forLong);
  return channel;
}

const forLong = { signal: new AbortController().signal, timeoutMs: 1_000 };

function recorder(channel: Channel): { frames: Uint8Array[]; ends: string[] } {
  const frames: Uint8Array[] = [];
  const ends: string[] = [];
  channel.open({
    frame: (bytes) => frames.push(bytes),
    closed: (cause, reason) => ends.push(`${cause}: ${reason}`),
  });
  return { frames, ends };
}

const warnings = (from: Node): string[] =>
  from.lines.filter(({ level }) => level === "warn").map((l) => l.message);

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

  it("send nothing to an incarnation other than the one they are linked to, and nothing without a link.", async () => {
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
    const impostor = { member: member("c"), clusterId, start: "5".repeat(16), boot: 1, sequence: 1, address: "ws://x:1" };
    let ends: string[] = [];
    const listener = await at.network.listen("ws://x:1", () => ({
      kind: "accept",
      hello: writePeerHello(impostor),
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

describe("reconnecting", () => {
  it("begins after 10 to 20 ms and slows down to once in half a second to a second.", async () => {
    const at = world();
    const a = await node(at, "a");
    link(a, "b", "ws://b:1");
    await at.clock.pass(60_000);
    const gaps = at.dials.slice(1).map(({ atMs }, i) => atMs - (at.dials[i]?.atMs ?? 0));
    expect(gaps[0]).toBeGreaterThanOrEqual(10);
    expect(gaps[0]).toBeLessThanOrEqual(20);
    const late = gaps.slice(8);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...late)).toBeLessThanOrEqual(1_000);
    expect(new Set(late).size).toBeGreaterThan(late.length / 2); // jittered
    expect(a.lines.filter(({ level }) => level !== "debug")).toHaveLength(1); // said once
    await a.stop();
  });

  it("happens at once when the peer connects to us.", async () => {
    const at = world();
    const a = await node(at, "a");
    link(a, "b", "ws://b:1");
    await at.clock.pass(20_000);
    const b = await node(at, "b");
    link(b, "a", a.hello.address);
    await settle(); // and no time passes
    expect(a.seen.linked).toEqual([b.hello.member]);
    await Promise.all([a.stop(), b.stop()]);
  });

  it("starts soon again after a link that stood, and not after one that ended at once.", async () => {
    const at = world();
    const a = await node(at, "a");
    const peer = { member: member("b"), clusterId, start: "5".repeat(16), boot: 1, sequence: 1, address: "ws://b:1" };
    const channels: Channel[] = [];
    const listener = await at.network.listen("ws://b:1", () => ({
      kind: "accept",
      hello: writePeerHello(peer),
      opened: (channel) => {
        channels.push(channel);
        recorder(channel);
      },
    }));
    link(a, "b", "ws://b:1");
    await settle();
    const redial = async (standsMs: number): Promise<number> => {
      await at.clock.pass(standsMs);
      const endedMs = at.clock.nowMs();
      const dialled = at.dials.length;
      channels.at(-1)?.close("go");
      await settle();
      while (at.dials.length === dialled) await at.clock.pass(1);
      return at.clock.nowMs() - endedMs;
    };
    expect(await redial(5_000)).toBeLessThanOrEqual(21);
    for (let i = 0; i < 6; i += 1) await redial(0);
    expect(await redial(0)).toBeGreaterThan(500);
    expect(await redial(5_000)).toBeLessThanOrEqual(21);
    await Promise.all([a.stop(), listener.close()]);
  });

  it("leaves a connection to a peer's earlier life as soon as the peer appears again.", async () => {
    const at = world();
    const a = await node(at, "a");
    const peer = { member: member("b"), clusterId, start: "5".repeat(16), boot: 1, sequence: 1, address: "ws://b:1" };
    const hellos: Hello[] = [];
    const listener = await at.network.listen("ws://b:1", (hello) => {
      hellos.push(hello);
      return { kind: "accept", hello: writePeerHello(peer), opened: (channel) => void recorder(channel) };
    });
    link(a, "b", "ws://b:1");
    await settle();
    peer.boot = 2; // a power cut: the old connection never said that it ended
    recorder(await connectAs(at, peer, a));
    await settle();
    expect(hellos).toHaveLength(2);
    expect(a.seen.linked).toEqual([peer.member, peer.member]);
    // A second connection of the same life changes nothing.
    recorder(await connectAs(at, peer, a));
    await settle();
    expect(hellos).toHaveLength(2);
    await Promise.all([a.stop(), listener.close()]);
  });
});

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
      () => ({ member: member("b"), clusterId, start: "5".repeat(16), boot: 1, sequence: 1, address: "ws://b:1" }),
      () => undefined,
    );
    starting.start(b.handlers);
    await at.clock.pass(20);
    expect(a.seen.linked).toEqual([member("b")]);
    await Promise.all([a.stop(), listener.close(), starting.close()]);
  });

  const peer: PeerHello = { member: member("z"), clusterId, start: "5".repeat(16), boot: 3, sequence: 4, address: "ws://z:1" };
  const wrong: Record<string, [Hello, string, RegExp]> = {
    "an unknown protocol version": [
      { protocol: "7-9" },
      "VERSION",
      /versions 7-9 of the protocol, and this node speaks versions 1-1/,
    ],
    "a version that cannot be read": [{ protocol: "one" }, "VERSION", /no version that can be read/],
    "a range that is upside down": [{ protocol: "9-1" }, "VERSION", /no version that can be read/],
    "another role": [{ role: "client" }, "HELLO", /field role of the hello is "client"/],
    "a node id that is none": [{ node: "../a" }, "HELLO", /field node/],
    "an incarnation of 15 digits": [{ incarnation: "0".repeat(15) }, "HELLO", /field incarnation/],
    "a cluster id that is none": [{ cluster: "mine" }, "HELLO", /field cluster/],
    "a boot count that is none": [{ boot: "1e3" }, "HELLO", /field boot/],
    "a sequence beyond the safe integers": [{ sequence: "9999999999999999" }, "HELLO", /field sequence/],
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
      const hello = { ...writePeerHello(peer, "a" as NodeId), ...fields };
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
  it("is closed by a frame that cannot be read, with a line in the log, and nobody else notices.", async () => {
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
    const peer = { member: member("b"), clusterId, start: "5".repeat(16), boot: 1, sequence: 1, address: "ws://b:1" };
    const listener = await at.network.listen("ws://b:1", () => ({
      kind: "accept",
      hello: writePeerHello(peer),
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

describe("a peer that takes less than it is sent", () => {
  const mark = 8 * 1024 * 1024;

  async function jammed() {
    const clock = virtualClock();
    const channel = { bufferedBytes: 0, sent: 0, closedWith: "" };
    let closed: () => void = () => {};
    const peer = { member: member("b"), clusterId, start: "5".repeat(16), boot: 1, sequence: 1, address: "ws://b:1" };
    const network: Network = {
      dial: async () => ({
        hello: writePeerHello(peer),
        channel: {
          open: (handlers) => {
            closed = () => handlers.closed("local", "closed");
          },
          send: () => {
            channel.sent += 1;
          },
          get bufferedBytes() {
            return channel.bufferedBytes;
          },
          close: (reason) => {
            channel.closedWith = reason;
            closed();
          },
        },
      }),
      listen: () => Promise.reject(new Error("not here")),
    };
    const side = nodeSide(
      () => ({ ...peer, member: member("a") }),
      () => undefined,
    );
    const { logger, lines } = recordingLogger();
    const transport = createTransport({ network, clock, random: seededRandom(1), logger });
    transport.start(side.handlers);
    transport.setPeers([{ nodeId: "b" as NodeId, addresses: ["ws://b:1"] }]);
    await settle();
    const send = (): void => transport.send(peer.member, [heartbeat(1)]);
    return { clock, channel, send, side, transport, lines };
  }

  it("loses messages, and its link after five seconds.", async () => {
    const { clock, channel, send, side, transport, lines } = await jammed();
    send();
    channel.bufferedBytes = mark + 1;
    send();
    expect(channel.sent).toBe(1);
    await clock.pass(4_999);
    send();
    expect(channel.closedWith).toBe("");
    await clock.pass(1);
    expect(channel.closedWith).toBe("you take less than you are sent");
    expect(side.seen.lost).toEqual([{ peer: member("b"), cause: "local" }]);
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    await transport.close();
  });

  it("keeps its link when it catches up in time, and the time counts anew.", async () => {
    const { clock, channel, send, transport } = await jammed();
    channel.bufferedBytes = mark + 1;
    send();
    await clock.pass(4_000);
    channel.bufferedBytes = mark;
    send();
    expect(channel.sent).toBe(1);
    channel.bufferedBytes = mark + 1;
    send();
    await clock.pass(4_000);
    expect(channel.closedWith).toBe("");
    channel.bufferedBytes = 0; // and nothing is sent to notice it
    await clock.pass(10_000);
    expect(channel.closedWith).toBe("");
    await transport.close();
    expect(clock.timers).toBe(0);
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
    expect(a.transport.accept(writePeerHello(b.hello, "a" as NodeId))).toMatchObject({ code: "CLOSING" });
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
      () => ({ member: member("a"), clusterId, start: "5".repeat(16), boot: 1, sequence: 1, address: "ws://a:1" }),
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
