/**
 * The connections that other members dialled to us, and over which we receive from them. Nothing is sent
 * here.
 *
 * Who may connect is decided on its hello alone. After that a frame that cannot be read closes its
 * connection, with a line in the log and nothing more: neither this node nor any other peer notices.
 */
import {
  type Answer,
  type Channel,
  type CloseCause,
  type Hello,
  type MemberId,
  nodeIdOf,
  type PeerHello,
  type Refusal,
} from "@quorate/raft";
import { FrameDecoder } from "../codec/repeatedFrames.ts";
import { maxIncomingPeers } from "../limits.ts";
import type { LinkWorld } from "./outgoingLink.ts";
import { readPeerHello, writePeerHello } from "./peerHello.ts";
import { negotiate } from "./versions.ts";

interface Incoming {
  readonly channel: Channel;
  /** Rises with each hello that was accepted: of two connections of a member the later one stays. */
  readonly order: number;
}

export class IncomingLinks {
  readonly #world: LinkWorld;
  readonly #appeared: (peer: PeerHello) => void;
  readonly #current = new Map<MemberId, Incoming>();
  #accepted = 0;
  #isClosed = false;

  /** `appeared` is called for each peer whose connection was opened. */
  constructor(world: LinkWorld, appeared: (peer: PeerHello) => void) {
    this.#world = world;
    this.#appeared = appeared;
  }

  accept(hello: Hello): Answer {
    const peer = this.#judge(hello);
    if ("kind" in peer) {
      this.#world.logger.info({ code: peer.code, node: hello.node }, `Refused a peer: ${peer.reason}`);
      return peer;
    }
    this.#accepted += 1;
    const order = this.#accepted;
    return {
      kind: "accept",
      hello: writePeerHello(this.#world.handlers.hello(), this.#world.versions),
      opened: (channel) => this.#opened(channel, peer, order),
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const { channel } of [...this.#current.values()]) channel.close("this node is closing");
  }

  #judge(hello: Hello): PeerHello | Refusal {
    if (this.#isClosed) return refuse("CLOSING", "This node is closing.");
    // Versions first: a later protocol may have another hello.
    const agreed = negotiate(this.#world.versions, hello.protocol);
    if (agreed.kind === "refuse") return agreed;
    const peer = readPeerHello(hello);
    if (typeof peer === "string") return refuse("HELLO", peer);
    const self = nodeIdOf(this.#world.handlers.hello().member);
    if (hello.to !== self) {
      return refuse("WRONG_NODE", `You look for node ${hello.to ?? "(none)"}, and this is node ${self}.`);
    }
    const refusal = this.#world.handlers.admit(peer);
    if (refusal !== undefined) return refusal;
    if (this.#current.size >= maxIncomingPeers && !this.#current.has(peer.member)) {
      return refuse("BUSY", `This node holds ${maxIncomingPeers} connections of members, and takes no more.`);
    }
    return peer;
  }

  #opened(channel: Channel, peer: PeerHello, order: number): void {
    const older = this.#current.get(peer.member);
    if (this.#isClosed || (older !== undefined && older.order > order)) {
      channel.close(this.#isClosed ? "this node is closing" : "there is a newer connection of yours");
      return;
    }
    this.#current.set(peer.member, { channel, order });
    older?.channel.close("there is a newer connection of yours");
    const decoder = new FrameDecoder();
    this.#world.channels.open(channel, {
      frame: (bytes) => this.#received(channel, peer.member, decoder, bytes),
      closed: (cause, reason) => this.#ended(channel, peer.member, cause, reason),
    });
    this.#world.logger.debug({ peer: peer.member, address: peer.address }, `${peer.member} has connected.`);
    this.#appeared(peer);
  }

  #received(channel: Channel, member: MemberId, decoder: FrameDecoder, bytes: Uint8Array): void {
    const frame = decoder.decode(bytes);
    if (frame === undefined) {
      const fields = { peer: member, bytes: bytes.length };
      this.#world.logger.warn(
        fields,
        `Closing the connection of ${member}: it sent a frame that cannot be read.`,
      );
      channel.close("a frame of yours could not be read");
      return;
    }
    this.#world.handlers.received(member, frame.sequence, frame.messages);
  }

  #ended(channel: Channel, member: MemberId, cause: CloseCause, reason: string): void {
    if (this.#current.get(member)?.channel === channel) this.#current.delete(member);
    this.#world.logger.debug({ peer: member, cause, reason }, `The connection of ${member} ended.`);
    this.#world.handlers.lost(member, cause);
  }
}

function refuse(code: string, reason: string): Refusal {
  return { kind: "refuse", code, reason };
}
