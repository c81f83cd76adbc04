/**
 * Connections that carry frames. Peers and clients use the same port; who speaks is said in the hello, which each
 * side shows **before** any frame is decoded.
 */

import { QuorateError } from "../errors.ts";

/** Short ASCII facts that a side shows when a connection is made; keys are lower case. */
export type Hello = Readonly<Record<string, string>>;

/**
 * Why a connection ended: we closed it; the other side did, by a goodbye, a FIN or a RST, as the system of a process
 * that dies does for it; or it failed or went silent, which says nothing of the other process.
 */
export type CloseCause = "local" | "remote" | "failed";

export interface ChannelHandlers {
  /** One whole frame. The bytes may alias a receive buffer: copy what outlives the call. */
  frame(bytes: Uint8Array): void;
  /** Called exactly once, last. */
  closed(cause: CloseCause, reason: string): void;
}

/** A connection: frames in order, each at most once, until it is closed. */
export interface Channel {
  /** Starts delivery; nothing is delivered before. Called once, by the channel's owner. */
  open(handlers: ChannelHandlers): void;
  /** Never throws, never blocks; on a closed channel it does nothing. `frame` is not written to afterwards. */
  send(frame: Uint8Array): void;
  /** Bytes handed to `send` and not yet to the operating system. */
  readonly bufferedBytes: number;
  /** Says `reason` (at most 120 bytes) to the other side. Idempotent. */
  close(reason: string): void;
}

/** `code` is for programs and decides how soon to try again; `reason` is a sentence. */
export interface Refusal {
  readonly kind: "refuse";
  readonly code: string;
  readonly reason: string;
}

export type Answer =
  | { readonly kind: "accept"; readonly hello: Hello; readonly opened: (channel: Channel) => void }
  | Refusal;

export interface Listener {
  /** The address that it really listens at (a port of 0 was replaced by the system's choice). */
  readonly address: string;
  /** Stops listening and closes the channels that it accepted. */
  close(): Promise<void>;
}

export interface DialOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface Network {
  /**
   * Rejects with `ConnectionRefusedError` when the other side answered with a refusal, and with a `QuorateError` of
   * code `CONNECTION_FAILED` when it could not be reached.
   */
  dial(
    address: string,
    hello: Hello,
    options: DialOptions,
  ): Promise<{ readonly channel: Channel; readonly hello: Hello }>;
  /** Rejects `ADDRESS_IN_USE` when the port is taken. */
  listen(address: string, accept: (hello: Hello) => Answer): Promise<Listener>;
}

/** The other side answered, and refused us. `refusal.code` is for programs. */
export class ConnectionRefusedError extends QuorateError {
  readonly refusal: Refusal;

  constructor(address: string, refusal: Refusal) {
    super("REFUSED", `${address} refused the connection: ${refusal.reason}`);
    this.name = "ConnectionRefusedError";
    this.refusal = refusal;
  }
}
