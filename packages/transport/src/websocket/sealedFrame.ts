/**
 * A frame with its CRC-32 in front. TCP's own sum has 16 bits and is often left to hardware: what it lets through
 * (Stone and Partridge, "When the CRC and TCP checksum disagree", SIGCOMM 2000) would enter a log unnoticed and let two
 * nodes differ for ever. A damaged frame is never handed on; its connection ends, and what matters is sent again.
 */
import { crc32 } from "node:zlib";

/** Bytes that sealing adds. */
export const sealBytes = 4;

/** A copy, since a seal and its frame are one message; that costs less than the checksum does. */
export function seal(frame: Uint8Array): Uint8Array {
  const sealed = Buffer.allocUnsafe(sealBytes + frame.length);
  sealed.writeUInt32BE(crc32(frame), 0);
  sealed.set(frame, sealBytes);
  return sealed;
}

/** The frame, which aliases `sealed`; undefined where it is not what was sent. */
export function unseal(sealed: Buffer): Uint8Array | undefined {
  if (sealed.length < sealBytes) return undefined;
  const frame = sealed.subarray(sealBytes);
  return crc32(frame) === sealed.readUInt32BE(0) ? frame : undefined;
}
