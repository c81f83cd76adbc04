/**
 * Proposals as bytes: version, command, origin, then the command's fields.
 *
 * The encoding is canonical: one proposal has one encoding, and only that decodes. Decoding is total, the same on
 * every node, and reads nothing but the bytes. A layout never changes its meaning: what is new gets a new command
 * number or a new version, since old entries stay in logs.
 */
import { ByteReader, ByteWriter, varintBytes } from "./byteStreams.ts";
import type { Command, Condition, Format, Origin, Proposal } from "./commands.ts";
import { isKey, isSessionTtl, maxKeyBytes, maxSessionTtlMs, maxValueBytes } from "./limits.ts";
import { unreachable } from "./unreachable.ts";

const version = 1;

/** By their numbers on disk: only ever add at the end. */
const commandKinds = ["put", "delete", "openSession", "closeSession", "expireSession"] as const;
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
  writer.byte(commandKinds.indexOf(command.kind));
  writeOrigin(writer, origin);
  writeCommand(writer, command);
  return writer.bytes;
}

/** Copies what it takes from `bytes`: a value lives as long as its key, and must not keep a whole frame alive. */
export function decodeProposal(
  bytes: Uint8Array,
): { readonly kind: "proposal"; readonly proposal: Proposal } | Malformed {
  const reader = new ByteReader(bytes);
  const foundVersion = reader.byte("version");
  if (foundVersion !== version) reader.fail(`its version is ${foundVersion}, not ${version}`);
  const kind = commandKinds[reader.byte("command")];
  const origin = readOrigin(reader);
  const command = kind === undefined ? undefined : readCommand(reader, kind);
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
  return bytes[0] === version ? commandKinds[bytes[1] ?? commandKinds.length] : undefined;
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
  switch (command.kind) {
    case "put":
      return 1 + conditionBytes(command.condition) + runBytes(command.key) + runBytes(command.value);
    case "delete":
      return conditionBytes(command.condition) + runBytes(command.key);
    case "openSession":
      return varintBytes(command.ttlMs);
    case "closeSession":
      return varintBytes(command.session);
    case "expireSession":
      return varintBytes(command.session) + varintBytes(command.term);
    default:
      return unreachable(command);
  }
}

function runBytes(run: { readonly length: number }): number {
  return varintBytes(run.length) + run.length;
}

function writeCommand(writer: ByteWriter, command: Command): void {
  switch (command.kind) {
    case "put":
      writer.byte(formats.indexOf(command.format));
      writeCondition(writer, command.condition);
      writer.byteString(command.key);
      writer.run(command.value);
      return;
    case "delete":
      writeCondition(writer, command.condition);
      writer.byteString(command.key);
      return;
    case "openSession":
      writer.varint(command.ttlMs);
      return;
    case "closeSession":
      writer.varint(command.session);
      return;
    case "expireSession":
      writer.varint(command.session);
      writer.varint(command.term);
      return;
    default:
      unreachable(command);
  }
}

function readCommand(reader: ByteReader, kind: Command["kind"]): Command {
  switch (kind) {
    case "put": {
      const format = formats[reader.byte("format")];
      if (format === undefined) reader.fail("its format is unknown");
      return {
        kind,
        format: format ?? "bytes",
        condition: readCondition(reader),
        key: reader.byteString("key", maxKeyBytes),
        value: reader.run("value", maxValueBytes),
      };
    }
    case "delete":
      return { kind, condition: readCondition(reader), key: reader.byteString("key", maxKeyBytes) };
    case "openSession":
      return { kind, ttlMs: reader.varint("time to live") };
    case "closeSession":
      return { kind, session: reader.varint("session") };
    case "expireSession":
      return { kind, session: reader.varint("session"), term: reader.varint("term") };
    default:
      return unreachable(kind);
  }
}

function conditionBytes(condition: Condition): number {
  return condition.kind === "revision" ? 1 + varintBytes(condition.revision) : 1;
}

function writeCondition(writer: ByteWriter, condition: Condition): void {
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
      return keyProblem(command.key) ?? conditionProblem(command.condition);
    case "delete":
      return keyProblem(command.key) ?? conditionProblem(command.condition);
    case "openSession":
      return isSessionTtl(command.ttlMs)
        ? undefined
        : `its time to live is not from 1 to ${maxSessionTtlMs} milliseconds`;
    case "closeSession":
      return countProblem("session", command.session);
    case "expireSession":
      return countProblem("session", command.session) ?? countProblem("term", command.term);
    default:
      return unreachable(command);
  }
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
