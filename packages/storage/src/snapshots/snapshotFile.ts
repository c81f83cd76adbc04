/**
 * A snapshot as a file: 16 bytes that say what it is, the content, and a trailer, which only a whole file
 * has.
 *
 *   "quorate snapshot"            16 bytes
 *   content                       as many bytes as the trailer says
 *   checksum, length, JSON        CRC-32 of length and JSON, 4 bytes each; the JSON in UTF-8
 *   length of the three above     4 bytes
 *
 * The header is at the end because it is known only when the content was written, and files only grow.
 */
import { crc32 } from "node:zlib";
import {
  asIndex,
  asTerm,
  type ConfigurationAt,
  decodeConfiguration,
  encodeConfiguration,
  type SnapshotHeader,
} from "@quorate/raft";
import { getUint32, putUint32 } from "../log/bytes.ts";
import { isCount, isMembership, isObject, type Membership, newerFormat, parse } from "../log/stateRecord.ts";

export const snapshotFormat = 1;

/** The first bytes of every snapshot file. */
export const preamble: Uint8Array = Buffer.from("quorate snapshot", "latin1");

/** Bytes at the very end that say how long the rest of the trailer is. */
export const footerBytes = 4;

/** A configuration of hundreds of members, and more than enough. */
export const maxTrailerBytes = 1_048_576;

export interface DescribedSnapshot {
  readonly header: SnapshotHeader;
  /** Whose it is: a snapshot of another cluster is none. */
  readonly membership: Membership;
}

export function encodeTrailer({ header, membership }: DescribedSnapshot): Uint8Array {
  const { configuration, ...rest } = header;
  const members = Buffer.from(encodeConfiguration(configuration.configuration)).toString("base64");
  const json = JSON.stringify({
    format: snapshotFormat,
    ...rest,
    configurationIndex: configuration.index,
    configuration: members,
    membership,
  });
  const length = Buffer.byteLength(json, "utf8");
  const bytes = Buffer.allocUnsafe(8 + length + footerBytes);
  putUint32(bytes, 4, length);
  bytes.write(json, 8, "utf8");
  putUint32(bytes, 0, crc32(bytes.subarray(4, 8 + length)));
  putUint32(bytes, 8 + length, 8 + length);
  return bytes;
}

/** `bytes`: the trailer without its footer. Undefined where it is damaged; throws for a newer format. */
export function decodeTrailer(bytes: Uint8Array): DescribedSnapshot | undefined {
  if (bytes.length < 8 || getUint32(bytes, 4) !== bytes.length - 8) return undefined;
  if (crc32(bytes.subarray(4)) !== getUint32(bytes, 0)) return undefined;
  const value = parse(Buffer.from(bytes.subarray(8)).toString("utf8"));
  if (!isObject(value)) return undefined;
  if (value.format !== snapshotFormat) throw newerFormat(value.format, snapshotFormat);
  const { boundary, chain, bytes: length, checksum, membership } = value;
  const configuration = configurationOf(value.configurationIndex, value.configuration);
  if (!isObject(boundary) || !isCount(boundary.index) || !isCount(boundary.term)) return undefined;
  if (!isCount(chain) || !isCount(length) || !isCount(checksum)) return undefined;
  if (configuration === undefined || !isMembership(membership)) return undefined;
  return {
    header: {
      boundary: { index: asIndex(boundary.index), term: asTerm(boundary.term) },
      chain,
      configuration,
      bytes: length,
      checksum,
    },
    membership,
  };
}

function configurationOf(index: unknown, members: unknown): ConfigurationAt | undefined {
  if (!isCount(index) || typeof members !== "string") return undefined;
  const configuration = decodeConfiguration(Buffer.from(members, "base64"));
  return configuration && { index: asIndex(index), configuration };
}

const suffix = ".snapshot";

/** Sorts by index. Snapshots of one boundary whose content differs have different names. */
export function fileNameOf({ boundary, checksum }: SnapshotHeader): string {
  const index = String(boundary.index).padStart(16, "0");
  return `${index}-${boundary.term}-${checksum.toString(16).padStart(8, "0")}${suffix}`;
}

export function isSnapshotName(name: string): boolean {
  return name.endsWith(suffix);
}

export function sameSnapshot(one: SnapshotHeader, other: SnapshotHeader): boolean {
  return (
    one.boundary.index === other.boundary.index &&
    one.boundary.term === other.boundary.term &&
    one.chain === other.chain &&
    one.bytes === other.bytes &&
    one.checksum === other.checksum
  );
}
