/** Keys as they lie in a slab, compared with others without being made strings of. */
import type { ByteString } from "@quorate/client/protocol";
import { byteStringOf } from "@quorate/client/protocol";
import { keyBytesAt, keyFrom, type Slab } from "./packedPair.ts";

/** Below 0 where the key there comes before `key`, 0 where it is that, above 0 where it comes after it. */
export function compareKeyAt(slab: Slab, at: number, key: ByteString): number {
  const length = keyBytesAt(slab, at);
  const shared = sharedWithKeyAt(slab, at, key);
  if (shared === length || shared === key.length) return length - key.length;
  return (slab.bytes[keyFrom(slab, at) + shared] as number) - key.charCodeAt(shared);
}

/** How many bytes both begin with. */
export function sharedWithKeyAt(slab: Slab, at: number, key: ByteString): number {
  const { bytes } = slab;
  const from = keyFrom(slab, at);
  const most = Math.min(keyBytesAt(slab, at), key.length);
  let shared = 0;
  while (shared < most && bytes[from + shared] === key.charCodeAt(shared)) shared += 1;
  return shared;
}

/** As `sharedWithKeyAt`, of two that lie in slabs. */
export function sharedOfKeysAt(one: Slab, oneAt: number, other: Slab, otherAt: number): number {
  const oneFrom = keyFrom(one, oneAt);
  const otherFrom = keyFrom(other, otherAt);
  const most = Math.min(keyBytesAt(one, oneAt), keyBytesAt(other, otherAt));
  let shared = 0;
  while (shared < most && one.bytes[oneFrom + shared] === other.bytes[otherFrom + shared]) shared += 1;
  return shared;
}

/** The shortest beginning of the right key that comes after the left one. The right key does. */
export function separatorAt(left: Slab, leftAt: number, right: Slab, rightAt: number): ByteString {
  const from = keyFrom(right, rightAt);
  return byteStringOf(right.bytes, from, from + sharedOfKeysAt(left, leftAt, right, rightAt) + 1);
}

/**
 * Four bytes of a key as a number that orders as they do, from `from` on; those behind its end are 0. Keys that are
 * the same before `from` order as their parts do, where these differ. It is a small integer of the engine's.
 */
export function keyPart(key: ByteString, from: number): number {
  let part = 0;
  for (let n = from; n < from + 4; n += 1) part = (part << 8) | (n < key.length ? key.charCodeAt(n) : 0);
  return part ^ signBit;
}

/** `keyPart` of the key there. */
export function keyPartAt(slab: Slab, at: number, from: number): number {
  const length = keyBytesAt(slab, at);
  const start = keyFrom(slab, at);
  let part = 0;
  for (let n = from; n < from + 4; n += 1)
    part = (part << 8) | (n < length ? (slab.bytes[start + n] as number) : 0);
  return part ^ signBit;
}

const signBit = -0x8000_0000;
