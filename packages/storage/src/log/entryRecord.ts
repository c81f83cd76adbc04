/**
 * An entry as it is stored: a fixed header, then the raw payload.
 *
 *   0  checksum   CRC-32 of everything after it; this entry's chain value
 *   4  previous   the predecessor's chain value
 *   8  length     of the payload
 *  12  kind       1 byte, then 3 zero bytes
 *  16  term       8 bytes
 *  24  index      8 bytes
 *  32  payload
 *
 * Because each checksum covers the one before it, equal chain values at one index mean equal logs up to
 * there. Nothing that comes from a store is used before `decodeEntry` has verified it.
 */
import { crc32 } from "node:zlib";
import { asIndex, asTerm, type Entry, type EntryKind, unreachable } from "@quorate/raft";
import { getUint32, getUint53, putUint32, putUint53 } from "./bytes.ts";

export const entryHeaderBytes = 32;

export interface StoredEntry {
  readonly entry: Entry;
  /** Chain value of the predecessor, as this entry's checksum covers it. */
  readonly previous: number;
  readonly chain: number;
}

export interface EncodedEntry {
  readonly bytes: Uint8Array;
  readonly chain: number;
}

export function encodeEntry(entry: Entry, previous: number): EncodedEntry {
  const { data } = entry;
  const bytes = Buffer.allocUnsafe(entryHeaderBytes + data.length);
  putUint32(bytes, 4, previous);
  putUint32(bytes, 8, data.length);
  putUint32(bytes, 12, codeOf(entry.kind) * 0x100_0000);
  putUint53(bytes, 16, entry.term);
  putUint53(bytes, 24, entry.index);
  bytes.set(data, entryHeaderBytes);
  const chain = crc32(bytes.subarray(4));
  putUint32(bytes, 0, chain);
  return { bytes, chain };
}

/** Undefined unless length, checksum and kind are all right. The data aliases `bytes`. */
export function decodeEntry(bytes: Uint8Array): StoredEntry | undefined {
  if (bytes.length < entryHeaderBytes) return undefined;
  if (getUint32(bytes, 8) !== bytes.length - entryHeaderBytes) return undefined;
  const chain = getUint32(bytes, 0);
  if (crc32(bytes.subarray(4)) !== chain) return undefined;
  const kind = kindOf(bytes[12]!);
  if (kind === undefined) return undefined;
  const term = asTerm(getUint53(bytes, 16));
  const index = asIndex(getUint53(bytes, 24));
  const data = bytes.subarray(entryHeaderBytes);
  return { entry: { term, index, kind, data }, previous: getUint32(bytes, 4), chain };
}

function codeOf(kind: EntryKind): number {
  switch (kind) {
    case "noop":
      return 0;
    case "command":
      return 1;
    case "configuration":
      return 2;
    default:
      return unreachable(kind);
  }
}

const kinds: readonly EntryKind[] = ["noop", "command", "configuration"];

function kindOf(code: number): EntryKind | undefined {
  return kinds[code];
}
