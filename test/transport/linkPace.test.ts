/** When a link is tried again, and when it is given up. In virtual time. */
import type { Channel, Hello, Network, NodeId } from "@quorate/raft";
import { createTransport, peerVersions, writePeerHello } from "@quorate/transport/internal";
import { describe, expect, it } from "vitest";
import { clusterId, connectAs, link, node, recorder, world } from "./linkWorld.ts";
import { heartbeat, member, nodeSide, recordingLogger, seededRandom, settle, virtualClock } from "./world.ts";

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
    const channels: Channel[] = [];
    const listener = await at.network.listen("ws://b:1", () => ({
      kind: "accept",
      hello: writePeerHello(peer, peerVersions),
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
    const hellos: Hello[] = [];
    const listener = await at.network.listen("ws://b:1", (hello) => {
      hellos.push(hello);
      return {
        kind: "accept",
        hello: writePeerHello(peer, peerVersions),
        opened: (channel) => void recorder(channel),
      };
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

describe("a peer that takes less than it is sent", () => {
  const mark = 8 * 1024 * 1024;

  async function jammed() {
    const clock = virtualClock();
    const channel = { bufferedBytes: 0, sent: 0, closedWith: "" };
    let closed: () => void = () => {};
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
    const network: Network = {
      dial: async () => ({
        hello: writePeerHello(peer, peerVersions),
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
