/**
 * What peers have shown of themselves, as it is stored: JSON of [member, start, boot, sequence], the
 * longest unchanged first.
 *
 * The state record holds its checksum. It is a second line of defence (a peer that shows less than before
 * was wiped or rolled back), so where it is damaged the node forgets it, says so, and goes on.
 */
import { crc32 } from "node:zlib";
import { isMemberId, type MemberId, type Seen } from "@quorate/raft";

/** Members that ever spoke to us; past it, the one unchanged for longest is forgotten. */
export const maxSeenMembers = 256;

export interface EncodedSeen {
  readonly bytes: Uint8Array;
  readonly checksum: number;
}

export function encodeSeen(seen: ReadonlyMap<MemberId, Seen>): EncodedSeen {
  const rows = [...seen].map(([member, { start, boot, sequence }]) => [member, start, boot, sequence]);
  const bytes = Buffer.from(JSON.stringify(rows), "latin1");
  return { bytes, checksum: crc32(bytes) };
}

/** Undefined where it is not what `checksum` says. A checksum of 0 stands for nothing seen. */
export function decodeSeen(bytes: Uint8Array | undefined, checksum: number): Map<MemberId, Seen> | undefined {
  if (checksum === 0) return new Map();
  if (bytes === undefined || crc32(bytes) !== checksum) return undefined;
  const rows: unknown = JSON.parse(Buffer.from(bytes).toString("latin1"));
  if (!Array.isArray(rows)) return undefined;
  const seen = new Map<MemberId, Seen>();
  for (const row of rows as readonly unknown[]) {
    if (!Array.isArray(row)) return undefined;
    const [member, start, boot, sequence] = row as readonly unknown[];
    if (typeof member !== "string" || !isMemberId(member)) return undefined;
    if (typeof start !== "string" || typeof boot !== "number" || typeof sequence !== "number")
      return undefined;
    seen.set(member, { start, boot, sequence });
  }
  return seen;
}
