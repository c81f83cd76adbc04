/** What unborn nodes say to each other, and members to the unborn, so that a cluster comes into being once. */
import type { MemberId, NodeId } from "../core/types.ts";
import type { Birth } from "./logStore.ts";

/** The would-be founder asks: may I found a cluster of these nodes? */
export interface BirthQuery {
  readonly kind: "birthQuery";
  /** Every listed node's id and address, sorted by id. */
  readonly peers: readonly PeerAddress[];
}

export interface PeerAddress {
  readonly nodeId: NodeId;
  readonly address: string;
}

/** "Unborn, and promised to you", with the peer's own list; durable before it is sent. */
export interface BirthPromise {
  readonly kind: "birthPromise";
  readonly founder: MemberId;
  readonly peers: readonly PeerAddress[];
}

/** Why a node does not promise itself; `reason` is a sentence. */
export interface BirthRefusal {
  readonly kind: "birthRefusal";
  readonly reason: string;
}

/** From the founder, and then from any member, to a node that the configuration names. */
export interface BirthNotice {
  readonly kind: "birthNotice";
  readonly birth: Birth;
}

/** "I am a member of it": ends the telling. */
export interface BirthAck {
  readonly kind: "birthAck";
  readonly clusterId: string;
}

export type BirthMessage = BirthQuery | BirthPromise | BirthRefusal | BirthNotice | BirthAck;

const birthKinds: ReadonlySet<string> = new Set<BirthMessage["kind"]>([
  "birthQuery",
  "birthPromise",
  "birthRefusal",
  "birthNotice",
  "birthAck",
]);

/** By its kind, of all that peers send each other. */
export function isBirthMessage(message: { readonly kind: string }): message is BirthMessage {
  return birthKinds.has(message.kind);
}
