/**
 * The messages of a snapshot on its way, as positional arrays.
 *
 * Each chunk names its whole snapshot, so that the receiver needs no memory of those before it. The content is opaque.
 */
import {
  asIndex,
  asTerm,
  decodeConfiguration,
  encodeConfiguration,
  type PeerMessage,
  type SnapshotHeader,
} from "@quorate/raft";
import { maxChunkBytes, maxConfigurationBytes } from "../limits.ts";
import { isBytes, isCount, isTuple, isWithin } from "./fields.ts";
import { tags } from "./tags.ts";

type Of<Kind extends PeerMessage["kind"]> = Extract<PeerMessage, { kind: Kind }>;

const maxChecksum = 0xffff_ffff;

export function writeSnapshotChunk({ term, session, header, offset, data }: Of<"snapshotChunk">): unknown[] {
  const { boundary, chain, configuration, bytes, checksum } = header;
  const members = encodeConfiguration(configuration.configuration);
  return [
    tags.snapshotChunk,
    term,
    session,
    [boundary.index, boundary.term, chain, configuration.index, members, bytes, checksum],
    offset,
    data,
  ];
}

export function writeSnapshotResponse(message: Of<"snapshotResponse">): unknown[] {
  const { term, session, index, answers, offset } = message;
  return [tags.snapshotResponse, term, session, index, answers, offset];
}

export function readSnapshotChunk(
  fields: readonly unknown[],
  keep: (bytes: Uint8Array) => Uint8Array,
): Of<"snapshotChunk"> | undefined {
  if (!isTuple(fields, 6)) return undefined;
  const [, term, session, named, offset, data] = fields;
  const header = readHeader(named);
  if (header === undefined || !isCount(term) || !isCount(session)) return undefined;
  if (!isBytes(data, maxChunkBytes) || !isWithin(offset, 0, header.bytes - data.length)) return undefined;
  if (header.boundary.term > term) return undefined;
  return { kind: "snapshotChunk", term: asTerm(term), session, header, offset, data: keep(data) };
}

function readHeader(fields: unknown): SnapshotHeader | undefined {
  if (!isTuple(fields, 7)) return undefined;
  const [index, term, chain, at, members, bytes, checksum] = fields;
  if (!isWithin(index, 1, Number.MAX_SAFE_INTEGER) || !isCount(term) || !isWithin(at, 0, index))
    return undefined;
  if (!isWithin(chain, 0, maxChecksum) || !isCount(bytes) || !isWithin(checksum, 0, maxChecksum))
    return undefined;
  const configuration = isBytes(members, maxConfigurationBytes) ? decodeConfiguration(members) : undefined;
  if (configuration === undefined) return undefined;
  return {
    boundary: { index: asIndex(index), term: asTerm(term) },
    chain,
    configuration: { index: asIndex(at), configuration },
    bytes,
    checksum,
  };
}

/** `all`: the tag and five counts. */
export function readSnapshotResponse(
  all: readonly [number, number, number, number, number, number] | undefined,
): Of<"snapshotResponse"> | undefined {
  if (all === undefined) return undefined;
  const [, term, session, index, answers, offset] = all;
  return { kind: "snapshotResponse", term: asTerm(term), session, index: asIndex(index), answers, offset };
}
