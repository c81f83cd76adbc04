/**
 * Unsigned numbers in big-endian bytes, so that the byte order of keys is the order of numbers.
 *
 * Integers up to 2^53 take eight bytes. No `bigint` and no `DataView`: this runs once for every entry of a
 * log.
 */

const twoTo32 = 0x1_0000_0000;

export function putUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
}

/** The caller has checked that `offset + 4` bytes are there. */
export function getUint32(bytes: Uint8Array, offset: number): number {
  const high = bytes[offset]! * 0x100_0000;
  return high + ((bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!);
}

export function putUint53(bytes: Uint8Array, offset: number, value: number): void {
  putUint32(bytes, offset, Math.floor(value / twoTo32));
  putUint32(bytes, offset + 4, value % twoTo32);
}

/** May exceed 2^53 where the bytes are damaged: a checksum is verified first. */
export function getUint53(bytes: Uint8Array, offset: number): number {
  return getUint32(bytes, offset) * twoTo32 + getUint32(bytes, offset + 4);
}

export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && Buffer.compare(one, other) === 0;
}
