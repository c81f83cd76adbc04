/**
 * A frame between members: the sender's last witnessed write and all its messages of one turn,
 *
 *     [sequence, [tag, field, field, …], [tag, …], …]
 *
 * Decoding checks every field and then copies the entries' data once, so that nothing refers to the receive
 * buffer afterwards. It never throws and never gives out a message of another shape than `PeerMessage` says.
 */
import type { PeerMessage } from "@quorate/raft";
import { isCount } from "./fields.ts";
import { type Keep, readMessage, writeMessage } from "./messages.ts";
import { pack, unpack } from "./positional.ts";

export interface Frame {
  readonly sequence: number;
  readonly messages: readonly PeerMessage[];
}

export function encodeFrame(sequence: number, messages: readonly PeerMessage[]): Uint8Array {
  const fields: unknown[] = [sequence];
  for (const message of messages) fields.push(writeMessage(message));
  return pack(fields);
}

/** Undefined for anything but a whole, well-formed frame. */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  const fields = unpack(bytes);
  if (!Array.isArray(fields)) return undefined;
  const sequence: unknown = fields[0];
  if (!isCount(sequence)) return undefined;
  const keep = copier(bytes.length);
  const messages: PeerMessage[] = [];
  for (let at = 1; at < fields.length; at += 1) {
    const message = readMessage(fields[at], keep);
    if (message === undefined) return undefined;
    messages.push(message);
  }
  return { sequence, messages };
}

/**
 * Copies byte strings of one frame, one after the other, into one buffer that is made for the first of them.
 */
function copier(frameBytes: number): Keep {
  let buffer: Uint8Array | undefined;
  let used = 0;
  return (bytes) => {
    buffer ??= new Uint8Array(frameBytes);
    const copy = buffer.subarray(used, used + bytes.length);
    copy.set(bytes);
    used += bytes.length;
    return copy;
  };
}
