/**
 * Looks through the snapshot files of a directory, and verifies what is in them. It changes nothing.
 */
import { crc32 } from "node:zlib";
import type { SnapshotFile, SnapshotFiles, SnapshotHeader } from "@quorate/raft";
import { equalBytes, getUint32 } from "../log/bytes.ts";
import type { Membership } from "../log/stateRecord.ts";
import {
  type DescribedSnapshot,
  decodeTrailer,
  footerBytes,
  isSnapshotName,
  maxTrailerBytes,
  preamble,
} from "./snapshotFile.ts";

/** Read at once. */
const pieceBytes = 1_048_576;

export interface StoredSnapshot {
  readonly header: SnapshotHeader;
  readonly name: string;
}

export interface FoundSnapshots {
  /** Of this cluster, with a whole trailer, newest first. The content is not yet verified. */
  readonly whole: readonly StoredSnapshot[];
  /** Files that have a snapshot's name and are none, or are another cluster's. */
  readonly unusable: readonly string[];
  /** Names of all files. */
  readonly names: readonly string[];
}

export async function findSnapshots(
  files: SnapshotFiles,
  membership: Membership | undefined,
): Promise<FoundSnapshots> {
  const whole: StoredSnapshot[] = [];
  const unusable: string[] = [];
  const listed = await files.list();
  for (const file of listed) {
    if (!isSnapshotName(file.name)) continue;
    const described = await describe(files, file);
    if (described !== undefined && described.membership.genesis === membership?.genesis) {
      whole.push({ header: described.header, name: file.name });
    } else {
      unusable.push(file.name);
    }
  }
  whole.sort((one, other) => newerFirst(one.header, other.header));
  unusable.sort();
  return { whole, unusable, names: listed.map(({ name }) => name).sort() };
}

function newerFirst(one: SnapshotHeader, other: SnapshotHeader): number {
  return other.boundary.index - one.boundary.index || other.boundary.term - one.boundary.term;
}

/** What its trailer says. Undefined where it has none that verifies. Throws for a newer format. */
export async function describe(
  files: SnapshotFiles,
  { name, bytes }: SnapshotFile,
): Promise<DescribedSnapshot | undefined> {
  if (bytes < preamble.length + footerBytes) return undefined;
  const footer = await files.read(name, bytes - footerBytes, footerBytes);
  const length = footer.length === footerBytes ? getUint32(footer, 0) : 0;
  const from = bytes - footerBytes - length;
  if (length > maxTrailerBytes || from < preamble.length) return undefined;
  const described = decodeTrailer(await files.read(name, from, length));
  if (described === undefined || preamble.length + described.header.bytes !== from) return undefined;
  return described;
}

/** Is the content what the header says? Reads all of it. */
export async function isIntact(files: SnapshotFiles, { header, name }: StoredSnapshot): Promise<boolean> {
  if (!equalBytes(await files.read(name, 0, preamble.length), preamble)) return false;
  let sum = 0;
  for (let offset = 0; offset < header.bytes; ) {
    const wanted = Math.min(pieceBytes, header.bytes - offset);
    const piece = await files.read(name, preamble.length + offset, wanted);
    if (piece.length !== wanted) return false;
    sum = crc32(piece, sum);
    offset += wanted;
  }
  return sum === header.checksum;
}
