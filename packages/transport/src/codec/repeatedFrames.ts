/**
 * Encoding and decoding for one link, which remember the last frame: a link without news carries the same few bytes
 * twenty times a second, and neither side needs to make the same thing of them again.
 *
 * Only the messages of an idle cluster are remembered, so nothing large is kept and nothing is compared under load.
 */
import type { PeerMessage } from "@quorate/raft";
import { decodeFrame, encodeFrame, type Frame } from "./frame.ts";

/** A frame with one heartbeat has at most 48: five numbers of nine bytes, and what frames them. */
const maxRememberedBytes = 64;

type IdleTalk = Extract<PeerMessage, { kind: "heartbeat" | "heartbeatResponse" }>;

export class FrameEncoder {
  #sequence = -1;
  #message: IdleTalk | undefined;
  #bytes: Uint8Array | undefined;

  /** The bytes are read alone: they may go out again. */
  encode(sequence: number, messages: readonly PeerMessage[]): Uint8Array {
    const message = messages.length === 1 ? messages[0] : undefined;
    if (message === undefined || !isIdleTalk(message)) return encodeFrame(sequence, messages);
    if (this.#bytes === undefined || sequence !== this.#sequence || !isSame(message, this.#message)) {
      this.#bytes = encodeFrame(sequence, messages);
      this.#sequence = sequence;
      this.#message = message;
    }
    return this.#bytes;
  }
}

export class FrameDecoder {
  #bytes: Uint8Array | undefined;
  #frame: Frame | undefined;

  /** As `decodeFrame`; the same bytes as last time give the same frame. */
  decode(bytes: Uint8Array): Frame | undefined {
    if (bytes.length > maxRememberedBytes) return decodeFrame(bytes);
    if (this.#bytes !== undefined && areEqual(bytes, this.#bytes)) return this.#frame;
    const frame = decodeFrame(bytes);
    const message = frame?.messages.length === 1 ? frame.messages[0] : undefined;
    if (message !== undefined && isIdleTalk(message)) {
      this.#bytes = new Uint8Array(bytes); // a Buffer's `slice` is no copy
      this.#frame = frame;
    }
    return frame;
  }
}

function isIdleTalk(message: PeerMessage): message is IdleTalk {
  return message.kind === "heartbeat" || message.kind === "heartbeatResponse";
}

function isSame(a: IdleTalk, b: IdleTalk | undefined): boolean {
  if (b === undefined || a.term !== b.term || a.session !== b.session || a.token !== b.token) return false;
  if (a.kind === "heartbeat") return b.kind === "heartbeat" && a.commitIndex === b.commitIndex;
  return a.kind === b.kind;
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}
