/**
 * Proposals as bytes: version, command, origin, then the command's fields.
 *
 * The encoding is canonical: one proposal has one encoding, and only that decodes. Decoding is total, the same on
 * every node, and reads nothing but the bytes. A layout never changes its meaning: what is new gets a new command
 * number or a new version, since old entries stay in logs.
 */
import { ByteCounter, ByteReader, type ByteSink, ByteWriter, varintBytes } from "./byteStreams.ts";
import type { Command, Condition, Format, Origin, Proposal } from "./commands.ts";
import {
  leaseAtProblem,
  leaseCommandProblem,
  readLeaseAt,
  readLeaseCommand,
  writeLeaseAt,
  writeLeaseCommand,
} from "./leaseCommandCodec.ts";
import {
  isKey,
  isSessionTtl,
  maxIdChars,
  maxKeyBytes,
  maxSessionTtlMs,
  maxValueBytes,
  ttlFromWire,
  ttlToWire,
} from "./limits.ts";
import { versionOfCommand } from "./machineVersion.ts";
import { type StoreLimits, storeLimitNames, storeLimitProblem } from "./storeLimits.ts";
import { readTransaction, writeTransaction } from "./transactionCodec.ts";
import { transactionProblem } from "./transactions.ts";
import { unreachable } from "./unreachable.ts";

const version = 1;

/** By their numbers on disk: only ever add at the end. */
const layouts = [
  "put",
  "delete",
  "openSession",
  "closeSession",
  "expireSession",
  "guardedPut",
  "guardedDelete",
  "expireSessions",
  "markSilence",
  "renewSessions",
  "leasesDue",
  "acquireLease",
  "cancelAcquire",
  "claimLease",
  "releaseLease",
  "describeLease",
  "breakLease",
  "requestHandover",
  "transaction",
  "limitStore",
  "compareStates",
  "endGrace",
  "raiseVersion",
  "grantAtOnce",
  "loseLease",
] as const;
type Layout = (typeof layouts)[number];

const isAttached = 1;
const isFenced = 2;

const formats: readonly Format[] = ["bytes", "text", "json"];

const anonymous: Origin = { kind: "anonymous" };
const noCondition: Condition = { kind: "none" };
const ifAbsent: Condition = { kind: "absent" };

export interface Malformed {
  readonly kind: "malformed";
  readonly reason: string;
}

/** Throws a `RangeError` where a field is outside its limits: the client checks its user's arguments before. */
export function encodeProposal(proposal: Proposal): Uint8Array {
  const { origin, command } = proposal;
  const problem = commandProblem(command) ?? originProblem(origin);
  if (problem !== undefined) throw new RangeError(`A proposal cannot be encoded: ${problem}.`);
  const writer = new ByteWriter(2 + originBytes(origin) + commandBytes(command));
  writer.byte(version);
  writer.byte(layouts.indexOf(layoutOf(command)));
  writeOrigin(writer, origin);
  writeCommand(writer, command);
  return writer.bytes;
}

/** Values that are to be stored are views of `bytes`, since whoever stores one copies it; all else is copied. */
export function decodeProposal(
  bytes: Uint8Array,
): { readonly kind: "proposal"; readonly proposal: Proposal } | Malformed {
  const reader = new ByteReader(bytes);
  const foundVersion = reader.byte("version");
  if (foundVersion !== version) reader.fail(`its version is ${foundVersion}, not ${version}`);
  const layout = layouts[reader.byte("command")];
  const origin = readOrigin(reader);
  const command = layout === undefined ? undefined : readCommand(reader, layout);
  if (command === undefined) reader.fail("its command is unknown");
  reader.end();
  if (reader.problem === undefined && command !== undefined) {
    const problem = commandProblem(command) ?? originProblem(origin);
    if (problem !== undefined) reader.fail(problem);
    else return { kind: "proposal", proposal: { origin, command } };
  }
  return { kind: "malformed", reason: `The command is malformed: ${reader.problem ?? "it is empty"}.` };
}

/** The kind of an encoded proposal's command, by its second byte alone; the rest may still be malformed. */
export function peekCommandKind(bytes: Uint8Array): Command["kind"] | undefined {
  const layout = bytes[0] === version ? layouts[bytes[1] ?? layouts.length] : undefined;
  if (layout === "guardedPut") return "put";
  return layout === "guardedDelete" ? "delete" : layout;
}

/**
 * The first version of the machine that runs an encoded proposal; Infinity where its command has a number that this
 * release does not know.
 */
export function versionOfProposal(bytes: Uint8Array): number {
  const kind = peekCommandKind(bytes);
  if (kind !== undefined) return versionOfCommand(kind);
  return bytes[0] === version && (bytes[1] ?? 0) >= layouts.length ? Number.POSITIVE_INFINITY : 1;
}

/** Writes that nothing guards keep the layout that they had before there were leases. */
function layoutOf(command: Command): Layout {
  if (command.kind === "put") return guardFlags(command) === 0 ? "put" : "guardedPut";
  if (command.kind === "delete") return command.fence === undefined ? "delete" : "guardedDelete";
  return command.kind;
}

function guardFlags(command: Extract<Command, { kind: "put" }>): number {
  return (command.attached === true ? isAttached : 0) + (command.fence === undefined ? 0 : isFenced);
}

function originBytes(origin: Origin): number {
  if (origin.kind === "anonymous") return 1;
  return 1 + varintBytes(origin.session) + varintBytes(origin.sequence) + varintBytes(origin.ackedBelow);
}

function writeOrigin(writer: ByteWriter, origin: Origin): void {
  writer.byte(origin.kind === "anonymous" ? 0 : 1);
  if (origin.kind === "anonymous") return;
  writer.varint(origin.session);
  writer.varint(origin.sequence);
  writer.varint(origin.ackedBelow);
}

function readOrigin(reader: ByteReader): Origin {
  const kind = reader.byte("origin");
  if (kind === 0) return anonymous;
  if (kind !== 1) reader.fail("its origin is unknown");
  return {
    kind: "session",
    session: reader.varint("session"),
    sequence: reader.varint("sequence"),
    ackedBelow: reader.varint("acknowledged sequence"),
  };
}

function commandBytes(command: Command): number {
  const counter = new ByteCounter();
  writeCommand(counter, command);
  return counter.length;
}

function writeCommand(sink: ByteSink, command: Command): void {
  switch (command.kind) {
    case "put": {
      const flags = guardFlags(command);
      if (flags !== 0) sink.byte(flags);
      if (command.fence !== undefined) writeLeaseAt(sink, command.fence);
      sink.byte(formats.indexOf(command.format));
      writeCondition(sink, command.condition);
      sink.byteString(command.key);
      sink.run(command.value);
      return;
    }
    case "delete":
      if (command.fence !== undefined) writeLeaseAt(sink, command.fence);
      writeCondition(sink, command.condition);
      sink.byteString(command.key);
      return;
    case "openSession":
      sink.varint(ttlToWire(command.ttlMs));
      return;
    case "closeSession":
      sink.varint(command.session);
      return;
    case "expireSession":
      sink.varint(command.session);
      sink.varint(command.term);
      return;
    case "transaction":
      writeTransaction(sink, command);
      return;
    case "limitStore":
      for (const name of storeLimitNames) sink.varint(command.limits[name] ?? 0);
      return;
    case "raiseVersion":
      sink.varint(command.office);
      sink.varint(command.version);
      return;
    case "compareStates":
      sink.varint(command.index);
      for (const word of command.digest) sink.varint(word);
      sink.byteString(command.node);
      return;
    default:
      writeLeaseCommand(sink, command);
  }
}

function readCommand(reader: ByteReader, layout: Layout): Command {
  switch (layout) {
    case "put":
      return readPut(reader);
    case "guardedPut": {
      const flags = reader.byte("flags");
      if (flags < 1 || flags > (isAttached | isFenced)) reader.fail("its flags are unknown");
      const fence = (flags & isFenced) === 0 ? undefined : readLeaseAt(reader);
      return {
        ...readPut(reader),
        ...((flags & isAttached) === 0 ? {} : { attached: true }),
        ...(fence === undefined ? {} : { fence }),
      };
    }
    case "delete":
      return readDelete(reader);
    case "guardedDelete": {
      const fence = readLeaseAt(reader);
      return { ...readDelete(reader), fence };
    }
    case "openSession":
      return { kind: layout, ttlMs: ttlFromWire(reader.varint("time to live")) };
    case "closeSession":
      return { kind: layout, session: reader.varint("session") };
    case "expireSession":
      return { kind: layout, session: reader.varint("session"), term: reader.varint("term") };
    case "transaction":
      return readTransaction(reader);
    case "limitStore":
      return { kind: layout, limits: readLimits(reader) };
    case "raiseVersion":
      return { kind: layout, office: reader.varint("office"), version: reader.varint("version") };
    case "compareStates": {
      const index = reader.varint("index");
      const digest = [reader.varint("digest"), reader.varint("digest")] as const;
      return { kind: layout, index, digest, node: reader.byteString("node", maxIdChars) };
    }
    default:
      return readLeaseCommand(reader, layout);
  }
}

/** One that is not to be changed is written as 0, which is outside of every limit's bounds. */
function readLimits(reader: ByteReader): Partial<StoreLimits> {
  const limits: { -readonly [Name in keyof StoreLimits]?: number } = {};
  for (const name of storeLimitNames) {
    const value = reader.varint(name);
    if (value > 0) limits[name] = value;
  }
  return limits;
}

function readPut(reader: ByteReader): Extract<Command, { kind: "put" }> {
  const format = formats[reader.byte("format")];
  if (format === undefined) reader.fail("its format is unknown");
  return {
    kind: "put",
    format: format ?? "bytes",
    condition: readCondition(reader),
    key: reader.byteString("key", maxKeyBytes),
    value: reader.view("value", maxValueBytes),
  };
}

function readDelete(reader: ByteReader): Extract<Command, { kind: "delete" }> {
  return {
    kind: "delete",
    condition: readCondition(reader),
    key: reader.byteString("key", maxKeyBytes),
  };
}

function writeCondition(writer: ByteSink, condition: Condition): void {
  switch (condition.kind) {
    case "none":
      writer.byte(0);
      return;
    case "absent":
      writer.byte(1);
      return;
    case "revision":
      writer.byte(2);
      writer.varint(condition.revision);
      return;
    default:
      unreachable(condition);
  }
}

function readCondition(reader: ByteReader): Condition {
  const kind = reader.byte("condition");
  if (kind === 0) return noCondition;
  if (kind === 1) return ifAbsent;
  if (kind !== 2) reader.fail("its condition is unknown");
  return { kind: "revision", revision: reader.varint("revision") };
}

/** What the layout alone does not rule out; the same limits for the writer and the reader. */
function commandProblem(command: Command): string | undefined {
  switch (command.kind) {
    case "put":
      if (command.value.length > maxValueBytes) return `its value is longer than ${maxValueBytes} bytes`;
      return writeProblem(command);
    case "delete":
      return writeProblem(command);
    case "openSession":
      return isSessionTtl(command.ttlMs)
        ? undefined
        : `its time to live is not from 1 to ${maxSessionTtlMs} milliseconds`;
    case "closeSession":
      return countProblem("session", command.session);
    case "expireSession":
      return countProblem("session", command.session) ?? countProblem("term", command.term);
    case "transaction":
      return transactionProblem(command);
    case "limitStore":
      return storeLimitProblem(command.limits);
    case "raiseVersion":
      return countProblem("office", command.office) ?? countProblem("version", command.version);
    case "compareStates":
      return command.digest.every((word) => isNatural(word) && word <= 0xffffffff)
        ? countProblem("index", command.index)
        : "its digest is not two words of 32 bits";
    default:
      return leaseCommandProblem(command);
  }
}

function writeProblem({
  key,
  condition,
  fence,
}: Extract<Command, { kind: "put" | "delete" }>): string | undefined {
  return (
    keyProblem(key) ??
    conditionProblem(condition) ??
    (fence === undefined ? undefined : leaseAtProblem(fence))
  );
}

function originProblem(origin: Origin): string | undefined {
  if (origin.kind === "anonymous") return undefined;
  if (!isNatural(origin.ackedBelow)) return "its acknowledged sequence is no integer from 0";
  return countProblem("session", origin.session) ?? countProblem("sequence", origin.sequence);
}

function conditionProblem(condition: Condition): string | undefined {
  if (condition.kind !== "revision" || isNatural(condition.revision)) return undefined;
  return "its revision is no integer from 0";
}

function keyProblem(key: string): string | undefined {
  return isKey(key) ? undefined : `its key is not 1 to ${maxKeyBytes} bytes`;
}

function countProblem(what: string, value: number): string | undefined {
  return isNatural(value) && value >= 1 ? undefined : `its ${what} is no integer from 1`;
}

function isNatural(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
