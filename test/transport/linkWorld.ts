/** Members with transports on a network in memory, in virtual time. */
import type { Channel, DialOptions, Listener, Network, NodeId, PeerHello, Refusal } from "@quorate/raft";
import {
  createTransport,
  memoryNetwork,
  type PeerTransport,
  peerVersions,
  writePeerHello,
} from "@quorate/transport/internal";
import {
  type LogLine,
  member,
  nodeSide,
  recordingLogger,
  type Seen,
  seededRandom,
  type VirtualClock,
  virtualClock,
} from "./world.ts";

export interface World {
  readonly network: Network;
  readonly clock: VirtualClock;
  /** Every address that was dialled, and when. */
  readonly dials: { address: string; atMs: number }[];
}

export function world(): World {
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

export interface Node {
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

export const clusterId = "0123456789abcdef0123456789abcdef";

export async function node(at: World, name: string, port = 1, incarnation = 1): Promise<Node> {
  const hello = {
    member: member(name, incarnation),
    clusterId,
    start: "5".repeat(16),
    boot: 1,
    sequence: 10,
    address: `ws://${name}:${port}`,
    priority: 1,
    machine: 1,
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

export function link(from: Node, to: string, ...addresses: string[]): void {
  from.transport.setPeers([{ nodeId: to as NodeId, addresses }]);
}

/** Connects as the node's peer would, without a transport of its own. */
export async function connectAs(at: World, peer: PeerHello, to: Node): Promise<Channel> {
  const hello = writePeerHello(peer, peerVersions, to.name as NodeId);
  const { channel } = await at.network.dial(to.hello.address, hello, forLong);
  return channel;
}

export const forLong: DialOptions = { signal: new AbortController().signal, timeoutMs: 1_000 };

export function recorder(channel: Channel): { frames: Uint8Array[]; ends: string[] } {
  const frames: Uint8Array[] = [];
  const ends: string[] = [];
  channel.open({
    frame: (bytes) => frames.push(bytes),
    closed: (cause, reason) => ends.push(`${cause}: ${reason}`),
  });
  return { frames, ends };
}

export const warnings = (from: Node): string[] =>
  from.lines.filter(({ level }) => level === "warn").map((l) => l.message);
