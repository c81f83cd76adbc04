/**
 * Each message as a positional array: a tag and its fields, in the order in which they stand here.
 *
 * A tag is never used for another shape: a change of a message takes a new tag, or a new protocol version.
 */
import {
  asIndex,
  asTerm,
  type Entry,
  type EntryKind,
  type Index,
  type PeerMessage,
  type Term,
  unreachable,
} from "@quorate/raft";
import { maxFrameBytes } from "../limits.ts";
import { readBirthMessage, writeBirthMessage } from "./birthMessages.ts";
import { isBytes, isCount, isFlag, isTuple, isWithin } from "./fields.ts";
import {
  readSnapshotChunk,
  readSnapshotResponse,
  writeSnapshotChunk,
  writeSnapshotResponse,
} from "./snapshotMessages.ts";
import { tags } from "./tags.ts";

/** Copies bytes out of the receive buffer. */
export type Keep = (bytes: Uint8Array) => Uint8Array;

type Of<Kind extends PeerMessage["kind"]> = Extract<PeerMessage, { kind: Kind }>;

const entryKinds: readonly EntryKind[] = ["noop", "command", "configuration"];

export function writeMessage(message: PeerMessage): unknown[] {
  switch (message.kind) {
    case "preVoteRequest":
    case "timeoutNow":
      return [tags[message.kind], message.term, message.lastIndex, message.lastTerm];
    case "voteRequest": {
      const tag = message.transfer ? tags.transferVoteRequest : tags.voteRequest;
      return [tag, message.term, message.lastIndex, message.lastTerm];
    }
    case "preVoteResponse":
    case "voteResponse":
      return [tags[message.kind], message.term, message.granted];
    case "appendRequest":
      return writeAppend(message);
    case "appendResponse":
      return writeAppendResponse(message);
    case "heartbeat":
      return [tags.heartbeat, message.term, message.session, message.commitIndex, message.token];
    case "heartbeatResponse":
      return [tags.heartbeatResponse, message.term, message.session, message.token];
    case "readIndexRequest":
      return [tags.readIndexRequest, message.term, message.requestId.boot, message.requestId.counter];
    case "readIndexResponse": {
      const { term, requestId, readIndex } = message;
      return [tags.readIndexResponse, term, requestId.boot, requestId.counter, readIndex];
    }
    case "snapshotChunk":
      return writeSnapshotChunk(message);
    case "snapshotResponse":
      return writeSnapshotResponse(message);
    case "birthQuery":
    case "birthPromise":
    case "birthRefusal":
    case "birthNotice":
    case "birthAck":
      return writeBirthMessage(message);
    default:
      return unreachable(message);
  }
}

/** The entries follow the fixed fields, three fields each; their indexes follow from `prevIndex`. */
function writeAppend(message: Of<"appendRequest">): unknown[] {
  const { term, session, prevIndex, prevTerm, commitIndex } = message;
  const fields: unknown[] = [tags.appendRequest, term, session, prevIndex, prevTerm, commitIndex];
  for (const entry of message.entries) fields.push(entry.term, entryKinds.indexOf(entry.kind), entry.data);
  return fields;
}

function writeAppendResponse(message: Of<"appendResponse">): unknown[] {
  const { term, session, result } = message;
  switch (result.kind) {
    case "matched":
      return [tags.appendMatched, term, session, result.matchIndex];
    case "rejected": {
      const { rejectedIndex, hintIndex, hintTerm } = result;
      return [tags.appendRejected, term, session, rejectedIndex, hintIndex, hintTerm];
    }
    default:
      return unreachable(result);
  }
}

export function readMessage(fields: unknown, keep: Keep): PeerMessage | undefined {
  if (!Array.isArray(fields)) return undefined;
  switch (fields[0]) {
    case tags.preVoteRequest:
      return readLogEnd("preVoteRequest", fields);
    case tags.voteRequest:
      return readVoteRequest(fields, false);
    case tags.transferVoteRequest:
      return readVoteRequest(fields, true);
    case tags.timeoutNow:
      return readLogEnd("timeoutNow", fields);
    case tags.preVoteResponse:
      return readVoteResponse("preVoteResponse", fields);
    case tags.voteResponse:
      return readVoteResponse("voteResponse", fields);
    case tags.appendRequest:
      return readAppend(fields, keep);
    case tags.appendMatched:
      return readMatched(fields);
    case tags.appendRejected:
      return readRejected(fields);
    case tags.heartbeat:
      return readHeartbeat(fields);
    case tags.heartbeatResponse:
      return readHeartbeatResponse(fields);
    case tags.readIndexRequest:
      return readReadIndexRequest(fields);
    case tags.readIndexResponse:
      return readReadIndexResponse(fields);
    case tags.snapshotChunk:
      return readSnapshotChunk(fields, keep);
    case tags.snapshotResponse:
      return readSnapshotResponse(counts(fields, 6));
    default:
      return readBirthMessage(fields);
  }
}

type Fields = readonly unknown[];

/** As many of them as were asked for. */
type Counts = readonly [number, number, number, number, number, number];

/**
 * The tag and `length - 1` counts, or undefined. Fields are taken from it by position, not by iterating: this runs for
 * each heartbeat, in code that an idle node never gets compiled.
 */
function counts(fields: Fields, length: number): Counts | undefined {
  if (!isTuple(fields, length)) return undefined;
  for (let at = 0; at < length; at += 1) if (!isCount(fields[at])) return undefined;
  return fields as unknown as Counts;
}

function readVoteRequest(fields: Fields, transfer: boolean): Of<"voteRequest"> | undefined {
  const end = readLogEnd("voteRequest", fields);
  return end === undefined ? undefined : { ...end, transfer };
}

/** A term, and the last entry of the sender's log. */
function readLogEnd<Kind extends "preVoteRequest" | "voteRequest" | "timeoutNow">(
  kind: Kind,
  fields: Fields,
): { kind: Kind; term: Term; lastIndex: Index; lastTerm: Term } | undefined {
  const all = counts(fields, 4);
  if (all === undefined) return undefined;
  const { 1: term, 2: lastIndex, 3: lastTerm } = all;
  return { kind, term: asTerm(term), lastIndex: asIndex(lastIndex), lastTerm: asTerm(lastTerm) };
}

function readVoteResponse(
  kind: "preVoteResponse" | "voteResponse",
  fields: Fields,
): Of<"preVoteResponse" | "voteResponse"> | undefined {
  const [, term, granted] = fields;
  if (fields.length !== 3 || !isCount(term) || !isFlag(granted)) return undefined;
  return { kind, term: asTerm(term), granted };
}

const appendFields = 6;

function readAppend(fields: Fields, keep: Keep): Of<"appendRequest"> | undefined {
  if (fields.length < appendFields || (fields.length - appendFields) % 3 !== 0) return undefined;
  const fixed = counts(fields.slice(0, appendFields), appendFields);
  if (fixed === undefined) return undefined;
  const { 1: term, 2: session, 3: prevIndex, 4: prevTerm, 5: commitIndex } = fixed;
  const entries: Entry[] = [];
  let before = prevTerm;
  for (let at = appendFields; at < fields.length; at += 3) {
    const entryTerm = fields[at];
    const index = prevIndex + entries.length + 1;
    const kindNumber = fields[at + 1];
    const kind = isCount(kindNumber) ? entryKinds[kindNumber] : undefined;
    const data = fields[at + 2];
    // Terms never fall along a log, and a leader has no entry of a later term than its own.
    if (!isWithin(entryTerm, Math.max(before, 1), term) || !isCount(index)) return undefined;
    if (kind === undefined || !isBytes(data, maxFrameBytes)) return undefined;
    entries.push({ term: asTerm(entryTerm), index: asIndex(index), kind, data: keep(data) });
    before = entryTerm;
  }
  return {
    kind: "appendRequest",
    term: asTerm(term),
    session,
    prevIndex: asIndex(prevIndex),
    prevTerm: asTerm(prevTerm),
    commitIndex: asIndex(commitIndex),
    entries,
  };
}

function readMatched(fields: Fields): Of<"appendResponse"> | undefined {
  const all = counts(fields, 4);
  if (all === undefined) return undefined;
  const { 1: term, 2: session, 3: matchIndex } = all;
  const result = { kind: "matched", matchIndex: asIndex(matchIndex) } as const;
  return { kind: "appendResponse", term: asTerm(term), session, result };
}

function readRejected(fields: Fields): Of<"appendResponse"> | undefined {
  const all = counts(fields, 6);
  if (all === undefined) return undefined;
  const { 1: term, 2: session, 3: rejected, 4: hint, 5: hintTerm } = all;
  const result = {
    kind: "rejected",
    rejectedIndex: asIndex(rejected),
    hintIndex: asIndex(hint),
    hintTerm: asTerm(hintTerm),
  } as const;
  return { kind: "appendResponse", term: asTerm(term), session, result };
}

function readHeartbeat(fields: Fields): Of<"heartbeat"> | undefined {
  const all = counts(fields, 5);
  if (all === undefined) return undefined;
  const { 1: term, 2: session, 3: commitIndex, 4: token } = all;
  return { kind: "heartbeat", term: asTerm(term), session, commitIndex: asIndex(commitIndex), token };
}

function readHeartbeatResponse(fields: Fields): Of<"heartbeatResponse"> | undefined {
  const all = counts(fields, 4);
  if (all === undefined) return undefined;
  const { 1: term, 2: session, 3: token } = all;
  return { kind: "heartbeatResponse", term: asTerm(term), session, token };
}

function readReadIndexRequest(fields: Fields): Of<"readIndexRequest"> | undefined {
  const all = counts(fields, 4);
  if (all === undefined) return undefined;
  const { 1: term, 2: boot, 3: counter } = all;
  return { kind: "readIndexRequest", term: asTerm(term), requestId: { boot, counter } };
}

function readReadIndexResponse(fields: Fields): Of<"readIndexResponse"> | undefined {
  const readIndex = fields[4];
  const all = counts(fields.slice(0, 4), 4);
  if (all === undefined || fields.length !== 5) return undefined;
  if (!isWithin(readIndex, -1, Number.MAX_SAFE_INTEGER)) return undefined;
  const { 1: term, 2: boot, 3: counter } = all;
  return { kind: "readIndexResponse", term: asTerm(term), requestId: { boot, counter }, readIndex };
}
