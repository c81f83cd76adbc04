/** The length and the CRC-32 of a snapshot's content, added up piece by piece. */
import { crc32 } from "node:zlib";

export interface Checksum {
  readonly bytes: number;
  readonly value: number;
  add(piece: Uint8Array): void;
}

export function checksumOf(pieces: Iterable<Uint8Array> = []): Checksum {
  let bytes = 0;
  let value = 0;
  const sum: Checksum = {
    get bytes() {
      return bytes;
    },
    get value() {
      return value;
    },
    add(piece) {
      bytes += piece.length;
      value = crc32(piece, value);
    },
  };
  for (const piece of pieces) sum.add(piece);
  return sum;
}
