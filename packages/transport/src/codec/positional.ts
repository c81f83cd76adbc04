/**
 * Positional values as MessagePack: null, booleans, numbers, strings, bytes and arrays of these. Nothing
 * else.
 *
 * msgpackr also understands maps, record definitions, references and extension types, whatever its options
 * say, and a hostile frame may carry them. So a scan comes first: it walks over the bytes, builds nothing,
 * and lets through only what is of those six kinds, whole, bounded, and not deeper than it may be. The
 * decoder never sees anything else.
 */

import { Packr, Unpackr } from "msgpackr/index-no-eval";
import { maxFrameBytes, maxFrameDepth, maxFrameValues } from "../limits.ts";

export type Positional = null | boolean | number | string | Uint8Array | readonly Positional[];

// 64-bit integers from other encoders become numbers; field checks refuse those that are not safe.
const options = { useRecords: false, mapsAsObjects: true, int64AsType: "number" } as const;
const packr = new Packr(options);
const unpackr = new Unpackr(options);

/**
 * The bytes of a positional value. They lie in a slab that is never written there again (RATIS-2114), so that
 * a socket may hold them as long as it likes; a copy is only needed to let go of the rest of the slab.
 */
export function pack(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** The value that the bytes hold, or undefined. Byte strings alias `bytes`. Never throws. */
export function unpack(bytes: Uint8Array): Positional | undefined {
  if (!isPositional(bytes)) return undefined;
  try {
    return unpackr.unpack(bytes) as Positional;
  } catch {
    // Nothing that passes the scan is known to get here; if something does, it is a bad frame like any other.
    return undefined;
  }
}

/** Whether the bytes are exactly one positional value within the bounds. */
export function isPositional(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes.length > maxFrameBytes) return false;
  const end = bytes.length;
  const pending: number[] = [1]; // items still to come, for each array that is open
  let at = 0;
  let values = 0;
  while (pending.length > 0) {
    const depth = pending.length - 1;
    const left = pending[depth] as number;
    if (left === 0) {
      pending.pop();
      continue;
    }
    pending[depth] = left - 1;
    values += 1;
    const token = bytes[at];
    if (token === undefined || values > maxFrameValues) return false;
    at += 1;
    const items = arrayLength(bytes, token, at);
    if (items >= 0) {
      at += arrayHeaderBytes(token);
      // Each item takes at least a byte, and memory for it would be taken before it is read.
      if (items > end - at || depth + 1 > maxFrameDepth) return false;
      pending.push(items);
      continue;
    }
    const next = skipScalar(bytes, token, at);
    if (next < 0 || next > end) return false;
    at = next;
  }
  return at === end;
}

/**
 * The number of items if the token opens an array, else -1. A header that is cut off counts as more than
 * there is.
 */
function arrayLength(bytes: Uint8Array, token: number, at: number): number {
  if (token >= 0x90 && token <= 0x9f) return token & 0x0f;
  if (token === 0xdc) return unsigned(bytes, at, 2);
  if (token === 0xdd) return unsigned(bytes, at, 4);
  return -1;
}

function arrayHeaderBytes(token: number): number {
  if (token === 0xdc) return 2;
  return token === 0xdd ? 4 : 0;
}

/** Where the value that `token` opens ends, or -1 if it is of a kind that is not taken. */
function skipScalar(bytes: Uint8Array, token: number, at: number): number {
  if (token <= 0x7f || token >= 0xe0) return at; // small integers
  if (token >= 0xa0 && token <= 0xbf) return at + (token & 0x1f); // short strings
  switch (token) {
    case 0xc0: // nil
    case 0xc2: // false
    case 0xc3: // true
      return at;
    case 0xc4: // bytes
    case 0xd9: // string
      return at + 1 + unsigned(bytes, at, 1);
    case 0xc5:
    case 0xda:
      return at + 2 + unsigned(bytes, at, 2);
    case 0xc6:
    case 0xdb:
      return at + 4 + unsigned(bytes, at, 4);
    case 0xcc: // unsigned and signed integers
    case 0xd0:
      return at + 1;
    case 0xcd:
    case 0xd1:
      return at + 2;
    case 0xce:
    case 0xd2:
    case 0xca: // a number of 32 bits
      return at + 4;
    case 0xcf:
    case 0xd3:
    case 0xcb: // a number of 64 bits
      return at + 8;
    default:
      return -1; // maps, extensions, and the token that is never used
  }
}

/** A big-endian unsigned integer; more than any frame holds if the bytes end before it does. */
function unsigned(bytes: Uint8Array, at: number, width: number): number {
  if (at + width > bytes.length) return maxFrameBytes + 1;
  let value = 0;
  for (let i = at; i < at + width; i += 1) value = value * 256 + (bytes[i] as number);
  return value;
}
