/**
 * Links between members over any network: each node dials every peer and sends over that connection, and
 * receives over the connections that it accepts.
 *
 *            ┌── dials ──▶ b     a sends to b here
 *     node a │
 *            └◀─ accepts ─ b     and receives from b here
 *
 * It decides nothing about Raft: who may connect is asked of the node, what arrives is handed to it.
 */
import {
  type Answer,
  type Clock,
  type Hello,
  invariant,
  type Logger,
  type MemberId,
  type Network,
  type NodeId,
  nodeIdOf,
  type PeerHello,
  type PeerMessage,
  type PeerTarget,
  type Random,
  silentLogger,
  type Transport,
  type TransportHandlers,
} from "@quorate/raft";
import { frameTargetBytes } from "../limits.ts";
import { IncomingLinks } from "./incomingLinks.ts";
import { OpenChannels } from "./openChannels.ts";
import { type LinkWorld, OutgoingLink } from "./outgoingLink.ts";
import { defaultPace, type Pace } from "./pace.ts";
import { peerVersions, type VersionRange } from "./versions.ts";

export interface TransportOptions {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  /** Silent by default. */
  readonly logger?: Logger;
  readonly pace?: Partial<Pace>;
  /** Of the protocol. Default: all that this release speaks; fewer hold a node back as if it were older. */
  readonly versions?: VersionRange;
}

/**
 * A transport, and its half of the node's port. Peers and clients share one port, so whoever assembles the
 * node listens, and hands each hello with role `peer` to `accept`:
 *
 *     network.listen(address, (hello) =>
 *       hello.role === peerRole ? transport.accept(hello) : clients.accept(hello))
 */
export interface PeerTransport extends Transport {
  /** The answer to the hello of a member: judged by the node's `admit`, before anything is decoded. */
  accept(hello: Hello): Answer;
}

export function createTransport(options: TransportOptions): PeerTransport {
  return new Links(options);
}

class Links implements PeerTransport {
  readonly #options: TransportOptions;
  readonly #pace: Pace;
  readonly #channels = new OpenChannels();
  readonly #outgoing = new Map<NodeId, OutgoingLink>();
  #world: LinkWorld | undefined;
  #incoming: IncomingLinks | undefined;
  #isClosing = false;
  #closed: Promise<void> | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#pace = Object.freeze({ ...defaultPace, ...options.pace });
  }

  start(handlers: TransportHandlers): void {
    invariant(this.#world === undefined, "a transport is started once");
    const { network, clock, random, logger = silentLogger, versions = peerVersions } = this.#options;
    const heard = this.#whileOpen(handlers);
    this.#world = {
      network,
      clock,
      random,
      logger,
      versions,
      pace: this.#pace,
      handlers: heard,
      channels: this.#channels,
    };
    this.#incoming = new IncomingLinks(this.#world, (peer: PeerHello) => {
      this.#outgoing.get(nodeIdOf(peer.member))?.peerAppeared(peer);
    });
  }

  accept(hello: Hello): Answer {
    if (this.#isClosing) return { kind: "refuse", code: "CLOSING", reason: "This node is closing." };
    if (this.#incoming === undefined) {
      return { kind: "refuse", code: "STARTING", reason: "This node is starting: try again in a moment." };
    }
    return this.#incoming.accept(hello);
  }

  setPeers(peers: readonly PeerTarget[]): void {
    const world = this.#world;
    invariant(world !== undefined, "a transport is started before it is given peers");
    if (this.#isClosing) return;
    const self = nodeIdOf(world.handlers.hello().member);
    const wanted = new Map(peers.filter(({ nodeId }) => nodeId !== self).map((peer) => [peer.nodeId, peer]));
    for (const [node, link] of [...this.#outgoing]) {
      if (wanted.has(node)) continue;
      this.#outgoing.delete(node);
      link.close("you are not among the nodes that this one keeps links to");
    }
    for (const { nodeId, addresses } of wanted.values()) {
      const link = this.#outgoing.get(nodeId);
      if (link === undefined) this.#outgoing.set(nodeId, new OutgoingLink(world, nodeId, addresses));
      else link.useAddresses(addresses);
    }
  }

  send(to: MemberId, messages: readonly PeerMessage[]): void {
    const link = this.#outgoing.get(nodeIdOf(to));
    if (this.#world === undefined || link?.member !== to || !link.canSend()) return;
    const known = messages.every((message) => link.understands(message))
      ? messages
      : messages.filter((message) => link.understands(message));
    if (known.length === 0) return;
    const sequence = this.#world.handlers.sequence();
    if (known.length === 1) link.send(sequence, known);
    else for (const part of frameParts(known)) link.send(sequence, part);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    this.#incoming?.close();
    for (const link of this.#outgoing.values()) link.close("this node is closing");
    this.#outgoing.clear();
    let cancel = (): void => {};
    const tooLong = new Promise<void>((resolve) => {
      cancel = this.#options.clock.after(this.#pace.closeTimeoutMs, resolve);
    });
    await Promise.race([this.#channels.none(), tooLong]);
    cancel();
  }

  /** The node hears nothing more once it has asked to close. */
  #whileOpen(handlers: TransportHandlers): TransportHandlers {
    const isOpen = (): boolean => !this.#isClosing;
    return {
      hello: () => handlers.hello(),
      sequence: () => handlers.sequence(),
      admit: (peer) => handlers.admit(peer),
      linked: (peer) => isOpen() && handlers.linked(peer),
      received: (from, sequence, messages) => isOpen() && handlers.received(from, sequence, messages),
      unlinked: (peer) => isOpen() && handlers.unlinked(peer),
      lost: (peer, cause) => isOpen() && handlers.lost(peer, cause),
      refusedBy: (node, refusal) => isOpen() && handlers.refusedBy(node, refusal),
    };
  }
}

/**
 * One part, but for a turn with a lot of entries: a frame should neither near the limit nor block others for
 * long.
 */
function frameParts(messages: readonly PeerMessage[]): readonly (readonly PeerMessage[])[] {
  if (messages.length === 1) return [messages];
  const parts: PeerMessage[][] = [];
  let part: PeerMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = roughBytes(message);
    if (part.length > 0 && bytes + size > frameTargetBytes) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(message);
    bytes += size;
  }
  parts.push(part);
  return parts;
}

const overheadBytes = 16;

function roughBytes(message: PeerMessage): number {
  if (message.kind === "snapshotChunk") return overheadBytes + message.data.length;
  if (message.kind !== "appendRequest") return overheadBytes;
  let bytes = overheadBytes;
  for (const entry of message.entries) bytes += entry.data.length + overheadBytes;
  return bytes;
}
