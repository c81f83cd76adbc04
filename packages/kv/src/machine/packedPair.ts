/**
 * One pair as bytes in a slab. A million pairs as objects, each with its array and buffer, cost the garbage collector
 * pauses of hundreds of milliseconds and more memory than they hold; as bytes they cost it nothing.
 *
 *   createRevision, modRevision, version    8 bytes each, as doubles
 *   length of the value 24 bits, format 4 bits, attached 4 bits; length of the key 4 bytes
 *   session (8 bytes, where it is attached), key, value, and up to the next multiple of 8 nothing
 */
import { type ByteString, byteStringOf, type Format, type StoredPair } from "@quorate/client/protocol";

/** A piece of memory that pairs are packed into, in two ways to look at it. */
export interface Slab {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** By their numbers in a slab. */
const formats: readonly Format[] = ["bytes", "text", "json"];

const headerBytes = 32;
const sessionBytes = 8;
const formatUnit = 0x100_0000;
const attachedUnit = 0x1000_0000;

export function createSlab(length: number): Slab {
  const bytes = new Uint8Array(length);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** What it takes: a multiple of 8. */
export function packedBytes(key: ByteString, value: Uint8Array, session: number | undefined): number {
  const length = headerBytes + (session === undefined ? 0 : sessionBytes) + key.length + value.length;
  return Math.ceil(length / 8) * 8;
}

/** `at` is a multiple of 8, and there is room. */
export function packPair({ bytes, view }: Slab, at: number, pair: StoredPair): void {
  const { key, value, format, createRevision, modRevision, version, session } = pair;
  const attached = session === undefined ? 0 : attachedUnit;
  view.setFloat64(at, createRevision);
  view.setFloat64(at + 8, modRevision);
  view.setFloat64(at + 16, version);
  view.setUint32(at + 24, value.length + formats.indexOf(format) * formatUnit + attached);
  view.setUint32(at + 28, key.length);
  let to = at + headerBytes;
  if (session !== undefined) {
    view.setFloat64(to, session);
    to += sessionBytes;
  }
  for (let n = 0; n < key.length; n += 1) bytes[to + n] = key.charCodeAt(n);
  bytes.set(value, to + key.length);
}

function valueBytesAt(view: DataView, at: number): number {
  return view.getUint32(at + 24) % formatUnit;
}

function isAttachedAt(view: DataView, at: number): boolean {
  return view.getUint32(at + 24) >= attachedUnit;
}

/** Where its key begins. */
export function keyFrom({ view }: Slab, at: number): number {
  return at + headerBytes + (isAttachedAt(view, at) ? sessionBytes : 0);
}

export function keyBytesAt({ view }: Slab, at: number): number {
  return view.getUint32(at + 28);
}

export function packedBytesAt(slab: Slab, at: number): number {
  const length = keyFrom(slab, at) - at + keyBytesAt(slab, at) + valueBytesAt(slab.view, at);
  return Math.ceil(length / 8) * 8;
}

export function modRevisionAt({ view }: Slab, at: number): number {
  return view.getFloat64(at + 8);
}

/** Of its key and value. */
export function contentBytesAt(slab: Slab, at: number): number {
  return keyBytesAt(slab, at) + valueBytesAt(slab.view, at);
}

export function packedKeyAt(slab: Slab, at: number): ByteString {
  const from = keyFrom(slab, at);
  return byteStringOf(slab.bytes, from, from + keyBytesAt(slab, at));
}

export function hasKeyAt(slab: Slab, at: number, key: ByteString): boolean {
  if (keyBytesAt(slab, at) !== key.length) return false;
  const { bytes } = slab;
  const from = keyFrom(slab, at);
  // From its end: keys that lie together differ there.
  for (let n = key.length - 1; n >= 0; n -= 1) if (bytes[from + n] !== key.charCodeAt(n)) return false;
  return true;
}

/** Its value is a view of the slab, which is never written to there again. */
export function unpackPair(slab: Slab, at: number, key: ByteString): StoredPair {
  const { bytes, view } = slab;
  const valueFrom = keyFrom(slab, at) + key.length;
  const pair = {
    key,
    value: bytes.subarray(valueFrom, valueFrom + valueBytesAt(view, at)),
    format: formats[Math.floor(view.getUint32(at + 24) / formatUnit) % 16] as Format,
    createRevision: view.getFloat64(at),
    modRevision: view.getFloat64(at + 8),
    version: view.getFloat64(at + 16),
  };
  return isAttachedAt(view, at) ? { ...pair, session: view.getFloat64(at + headerBytes) } : pair;
}
