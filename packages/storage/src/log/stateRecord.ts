/**
 * The record that every batch writes, and that the witness repeats after it: what this directory has
 * promised.
 *
 * A checksum and a length, then JSON in UTF-8, so that a person with an editor can read it. It names
 * everything that a lost batch could take away: hard state, the log's end, birth, promise, quarantine. It
 * fits into one slot.
 */
import { crc32 } from "node:zlib";
import {
  asIndex,
  asTerm,
  type Floor,
  type Index,
  isMemberId,
  type MemberId,
  QuorateError,
  type Term,
} from "@quorate/raft";
import { getUint32, putUint32 } from "./bytes.ts";

/**
 * The newest format that this version reads. Format 2 is format 1 with a boundary that may lie above 0: what
 * was never compacted is written as format 1, so that the version before can still open it.
 */
export const recordFormat = 2;
const firstFormat = 1;

/** A place in the log and the chain value there. */
export interface Position {
  readonly index: Index;
  readonly term: Term;
  readonly chain: number;
}

/** Which cluster a born directory belongs to. */
export interface Membership {
  readonly clusterId: string;
  /** Checksum of the birth, and the chain value of index 0: logs of two clusters never chain. */
  readonly genesis: number;
}

export interface StateRecord {
  readonly member: MemberId;
  /** Rises by one with each batch. */
  readonly k: number;
  readonly boot: number;
  readonly term: Term;
  readonly vote: MemberId | undefined;
  readonly floor: Floor | undefined;
  /** The log lies between these two, the first exclusive and the last inclusive. */
  readonly boundary: Position;
  readonly last: Position;
  /** Undefined while it is unborn. */
  readonly membership: Membership | undefined;
  readonly promisedTo: MemberId | undefined;
  /** Checksum of what is stored of peers. */
  readonly seen: number;
  readonly quarantine: string | undefined;
}

export function encodeStateRecord(record: StateRecord): Uint8Array {
  const format = record.boundary.index === 0 ? firstFormat : recordFormat;
  const json = JSON.stringify({ format, ...record });
  const length = Buffer.byteLength(json, "utf8");
  const bytes = Buffer.allocUnsafe(8 + length);
  putUint32(bytes, 4, length);
  bytes.write(json, 8, "utf8");
  putUint32(bytes, 0, crc32(bytes.subarray(4)));
  return bytes;
}

/** Undefined where the bytes are damaged; zeros after the record are ignored. Throws for a newer format. */
export function decodeStateRecord(bytes: Uint8Array): StateRecord | undefined {
  if (bytes.length < 8) return undefined;
  const end = 8 + getUint32(bytes, 4);
  if (end > bytes.length || crc32(bytes.subarray(4, end)) !== getUint32(bytes, 0)) return undefined;
  const value: unknown = parse(Buffer.from(bytes.subarray(8, end)).toString("utf8"));
  if (!isObject(value)) return undefined;
  const { format } = value;
  if (format !== firstFormat && format !== recordFormat) throw newerFormat(format, recordFormat);
  return validated(value);
}

/** This directory was written by a later version: refused before anything is changed. */
export function newerFormat(format: unknown, known: number): QuorateError {
  return new QuorateError(
    "WRONG_DIRECTORY",
    `The data are in format ${String(format)}; this version reads up to format ${known}. ` +
      "Use the version that wrote them. Nothing was changed.",
  );
}

export type Fields = Readonly<Record<string, unknown>>;

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isMember(value: unknown): value is MemberId {
  return typeof value === "string" && isMemberId(value);
}

function isPosition(value: unknown): value is Position {
  return isObject(value) && isCount(value.index) && isCount(value.term) && isCount(value.chain);
}

function isFloor(value: unknown): value is Floor {
  return isObject(value) && isCount(value.lastIndex) && isCount(value.lastTerm);
}

export function isMembership(value: unknown): value is Membership {
  return isObject(value) && typeof value.clusterId === "string" && isCount(value.genesis);
}

/** A checksum only proves that the bytes are those once written: the shape is checked all the same. */
function validated(value: Fields): StateRecord | undefined {
  const { member, k, boot, term, vote, floor, boundary, last, membership, promisedTo, seen, quarantine } =
    value;
  if (!isMember(member) || !isCount(k) || !isCount(boot) || !isCount(term) || !isCount(seen))
    return undefined;
  if (!isPosition(boundary) || !isPosition(last)) return undefined;
  if (vote !== undefined && !isMember(vote)) return undefined;
  if (floor !== undefined && !isFloor(floor)) return undefined;
  if (membership !== undefined && !isMembership(membership)) return undefined;
  if (promisedTo !== undefined && !isMember(promisedTo)) return undefined;
  if (quarantine !== undefined && typeof quarantine !== "string") return undefined;
  return {
    member,
    k,
    boot,
    term: asTerm(term),
    vote,
    floor,
    boundary,
    last,
    membership,
    promisedTo,
    seen,
    quarantine,
  };
}

export const origin: Position = { index: asIndex(0), term: asTerm(0), chain: 0 };

/** What a directory that was just made has promised: nothing. */
export function newbornRecord(member: MemberId): StateRecord {
  return {
    member,
    k: 0,
    boot: 0,
    term: asTerm(0),
    vote: undefined,
    floor: undefined,
    boundary: origin,
    last: origin,
    membership: undefined,
    promisedTo: undefined,
    seen: 0,
    quarantine: undefined,
  };
}
