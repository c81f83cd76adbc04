/** Messages between members. Loss, delay, repetition and reordering are allowed; corruption and forgery are not. */

import type { Message } from "../core/messages.ts";
import type { MemberId, NodeId } from "../core/types.ts";
import type { BirthMessage } from "./birthMessages.ts";
import type { CloseCause, Refusal } from "./network.ts";

/** Raft's messages, and those by which a cluster is born. */
export type PeerMessage = Message | BirthMessage;

/** What a peer shows of itself when a link is made (rule 32). */
export interface PeerHello {
  readonly member: MemberId;
  /** Undefined while it is unborn. */
  readonly clusterId: string | undefined;
  /** 16 random hexadecimal digits, drawn at each start of the process: tells a late hello from a rolled-back node. */
  readonly start: string;
  readonly boot: number;
  readonly sequence: number;
  /** Where it says that it can be reached. */
  readonly address: string;
  /** How much it is preferred as the leader; see `RaftOptions.priority`. */
  readonly priority: number;
  /** The newest version of the machine that it knows; see `MachineVersions`. */
  readonly machine: number;
}

/** A node to keep a link to, and where it may be found; an address is tried only as long as the right node answers. */
export interface PeerTarget {
  readonly nodeId: NodeId;
  readonly addresses: readonly string[];
}

export interface TransportHandlers {
  /** What this node shows now. */
  hello(): PeerHello;
  /** The sequence in it, by itself: every frame carries it. */
  sequence(): number;
  /** Judges a peer before anything of it is decoded, on either side of a link. */
  admit(peer: PeerHello): Refusal | undefined;
  /** A link **to** this peer stands: what is sent to it now has a way. */
  linked(peer: PeerHello): void;
  /** The link to this peer stands no longer; `lost` follows. */
  unlinked(peer: MemberId): void;
  /** `sequence` is the sender's last witnessed write at the time of sending. */
  received(from: MemberId, sequence: number, messages: readonly PeerMessage[]): void;
  /** A connection with this peer, in either direction, ended. `remote`: its process closed it, or died. */
  lost(peer: MemberId, cause: CloseCause): void;
  /** A peer refused us. */
  refusedBy(node: NodeId, refusal: Refusal): void;
}

export interface Transport {
  /** Called once, before anything else. */
  start(handlers: TransportHandlers): void;
  /** Replaces the set of nodes to keep links to. */
  setPeers(peers: readonly PeerTarget[]): void;
  /** One frame. Drops it where no link stands or too much is buffered: Raft sends again what matters. */
  send(to: MemberId, messages: readonly PeerMessage[]): void;
  close(): Promise<void>;
}
