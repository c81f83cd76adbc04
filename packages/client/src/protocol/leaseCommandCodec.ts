/**
 * The fields of commands about leases and silent sessions, as bytes, and their limits (commandCodec.ts has the frame
 * that they lie in, and its rules).
 */
import type { ByteReader, ByteSink } from "./byteStreams.ts";
import type { Format } from "./commands.ts";
import {
  type Candidacy,
  type DueKind,
  isPlainCandidacy,
  type LeaderCommand,
  type LeaseAt,
  type LeaseCommand,
  type LeaseDue,
  type SessionAt,
} from "./leaseCommands.ts";
import {
  isByteString,
  maxBatchedItems,
  maxBreakAfterMs,
  maxCandidateWordBytes,
  maxHolderBytes,
  maxLeaseDataBytes,
  maxLeaseNameBytes,
  maxLockDelayMs,
  maxNamesAtOnce,
  maxPreference,
  maxPriority,
} from "./limits.ts";
import { unreachable } from "./unreachable.ts";

type Coded = LeaderCommand | LeaseCommand;

/** By their numbers on disk: only ever add at the end. */
const dueKinds: readonly DueKind[] = ["passOn", "revoke", "finish", "endDelay", "grant"];
const formats: readonly Format[] = ["bytes", "text", "json"];

const waits = 1;
const asksHandover = 2;
const preempts = 4;
const hasCandidacy = 8;

export function writeLeaseCommand(sink: ByteSink, command: Coded): void {
  switch (command.kind) {
    case "expireSessions":
    case "markSilence":
      sink.varint(command.office);
      writeEach(sink, command.sessions, ({ session, renewals }) => {
        sink.varint(session);
        sink.varint(renewals);
      });
      return;
    case "renewSessions":
      writeEach(sink, command.sessions, (session) => sink.varint(session));
      return;
    case "leasesDue":
      sink.varint(command.office);
      writeEach(sink, command.due, (due) => {
        sink.byte(dueKinds.indexOf(due.what));
        writeLeaseAt(sink, due);
      });
      return;
    case "endGrace":
      sink.varint(command.office);
      return;
    case "acquireLease":
      writeAcquire(sink, command);
      return;
    case "cancelAcquire":
      sink.varint(command.sequence);
      return;
    case "claimLease":
    case "releaseLease":
    case "loseLease":
      writeLeaseAt(sink, command.lease);
      return;
    case "describeLease":
      writeLeaseAt(sink, command.lease);
      sink.byte(formats.indexOf(command.format));
      sink.run(command.data);
      return;
    case "breakLease":
      sink.byte(command.force ? 1 : 0);
      sink.varint(command.afterMs);
      sink.byteString(command.name);
      return;
    case "requestHandover":
      sink.byteString(command.name);
      return;
    case "grantAtOnce":
      return;
    default:
      unreachable(command);
  }
}

export function readLeaseCommand(reader: ByteReader, kind: Coded["kind"]): Coded {
  switch (kind) {
    case "expireSessions":
    case "markSilence":
      return {
        kind,
        office: reader.varint("office"),
        sessions: readEach(reader, "sessions", maxBatchedItems, () => readSessionAt(reader)),
      };
    case "renewSessions":
      return {
        kind,
        sessions: readEach(reader, "sessions", maxBatchedItems, () => reader.varint("session")),
      };
    case "leasesDue":
      return {
        kind,
        office: reader.varint("office"),
        due: readEach(reader, "leases", maxBatchedItems, () => readDue(reader)),
      };
    case "endGrace":
      return { kind, office: reader.varint("office") };
    case "acquireLease":
      return readAcquire(reader);
    case "cancelAcquire":
      return { kind, sequence: reader.varint("sequence") };
    case "claimLease":
    case "releaseLease":
    case "loseLease":
      return { kind, lease: readLeaseAt(reader) };
    case "describeLease":
      return {
        kind,
        lease: readLeaseAt(reader),
        format: readWord(reader, formats, "format") ?? "bytes",
        data: reader.run("data", maxLeaseDataBytes),
      };
    case "breakLease":
      return {
        kind,
        force: readFlags(reader, 1) === 1,
        afterMs: reader.varint("delay"),
        name: reader.byteString("name", maxLeaseNameBytes),
      };
    case "grantAtOnce":
      return { kind };
    case "requestHandover":
      return { kind, name: reader.byteString("name", maxLeaseNameBytes) };
    default:
      return unreachable(kind);
  }
}

/** What the layout alone does not rule out; the same limits for the writer and the reader. */
export function leaseCommandProblem(command: Coded): string | undefined {
  switch (command.kind) {
    case "expireSessions":
    case "markSilence":
      return (
        batchProblem(command.sessions) ??
        positiveProblem("office", command.office) ??
        firstProblem(command.sessions, sessionAtProblem)
      );
    case "renewSessions":
      return (
        batchProblem(command.sessions) ??
        firstProblem(command.sessions, (session) => positiveProblem("session", session))
      );
    case "endGrace":
      return positiveProblem("office", command.office);
    case "leasesDue":
      return (
        batchProblem(command.due) ??
        positiveProblem("office", command.office) ??
        firstProblem(command.due, leaseAtProblem)
      );
    case "acquireLease":
      return acquireProblem(command);
    case "cancelAcquire":
      return positiveProblem("sequence", command.sequence);
    case "claimLease":
    case "releaseLease":
    case "loseLease":
      return leaseAtProblem(command.lease);
    case "describeLease":
      if (command.data.length > maxLeaseDataBytes)
        return `its data is longer than ${maxLeaseDataBytes} bytes`;
      return leaseAtProblem(command.lease);
    case "breakLease":
      return nameProblem(command.name) ?? rangeProblem("delay", command.afterMs, 0, maxBreakAfterMs);
    case "grantAtOnce":
      return undefined;
    case "requestHandover":
      return nameProblem(command.name);
    default:
      return unreachable(command);
  }
}

export function writeLeaseAt(sink: ByteSink, { name, term }: LeaseAt): void {
  sink.byteString(name);
  sink.varint(term);
}

export function readLeaseAt(reader: ByteReader): LeaseAt {
  return { name: reader.byteString("name", maxLeaseNameBytes), term: reader.varint("term") };
}

export function leaseAtProblem({ name, term }: LeaseAt): string | undefined {
  return nameProblem(name) ?? positiveProblem("term", term);
}

type Acquire = Extract<LeaseCommand, { kind: "acquireLease" }>;

function writeAcquire(sink: ByteSink, command: Acquire): void {
  const { candidate } = command;
  sink.byte(
    (command.wait ? waits : 0) +
      (command.asksHandover ? asksHandover : 0) +
      (command.preempts ? preempts : 0) +
      (candidate === undefined ? 0 : hasCandidacy),
  );
  writeEach(sink, command.names, (name) => sink.byteString(name));
  // Zigzag: small numbers of either sign are short.
  sink.varint(command.priority >= 0 ? 2 * command.priority : -2 * command.priority - 1);
  sink.byteString(command.holder);
  sink.byte(formats.indexOf(command.format));
  sink.run(command.data);
  sink.varint(command.lockDelayMs);
  if (candidate === undefined) return;
  sink.varint(candidate.preference);
  sink.byteString(candidate.version);
  sink.byteString(candidate.zone);
}

function readAcquire(reader: ByteReader): Acquire {
  const flags = readFlags(reader, waits | asksHandover | preempts | hasCandidacy);
  const names = readEach(reader, "names", maxNamesAtOnce, () => reader.byteString("name", maxLeaseNameBytes));
  const zigzag = reader.varint("priority");
  const acquire: Acquire = {
    kind: "acquireLease",
    names,
    wait: (flags & waits) !== 0,
    asksHandover: (flags & asksHandover) !== 0,
    priority: zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2,
    holder: reader.byteString("holder", maxHolderBytes),
    format: readWord(reader, formats, "format") ?? "bytes",
    data: reader.run("data", maxLeaseDataBytes),
    lockDelayMs: reader.varint("lock delay"),
    ...((flags & preempts) === 0 ? {} : { preempts: true }),
  };
  return (flags & hasCandidacy) === 0 ? acquire : { ...acquire, candidate: readCandidacy(reader) };
}

function readCandidacy(reader: ByteReader): Candidacy {
  return {
    preference: reader.varint("preference"),
    version: reader.byteString("version", maxCandidateWordBytes),
    zone: reader.byteString("zone", maxCandidateWordBytes),
  };
}

function candidacyProblem(candidacy: Candidacy): string | undefined {
  const { preference, version, zone } = candidacy;
  if (isPlainCandidacy(candidacy)) return "its candidacy says nothing";
  if (![version, zone].every((word) => word.length <= maxCandidateWordBytes && isByteString(word))) {
    return `its version or its zone is not at most ${maxCandidateWordBytes} bytes`;
  }
  return rangeProblem("preference", preference, 0, maxPreference);
}

function acquireProblem(command: Acquire): string | undefined {
  const { names, holder, data, priority, lockDelayMs, candidate } = command;
  if (names.length < 1 || names.length > maxNamesAtOnce) return `it names not 1 to ${maxNamesAtOnce} leases`;
  if (new Set(names).size < names.length) return "it names a lease twice";
  if (holder.length > maxHolderBytes || !isByteString(holder)) {
    return `its holder is not at most ${maxHolderBytes} bytes`;
  }
  if (data.length > maxLeaseDataBytes) return `its data is longer than ${maxLeaseDataBytes} bytes`;
  return (
    firstProblem(names, nameProblem) ??
    rangeProblem("priority", priority, -maxPriority, maxPriority) ??
    rangeProblem("lock delay", lockDelayMs, 0, maxLockDelayMs) ??
    (candidate === undefined ? undefined : candidacyProblem(candidate))
  );
}

function readDue(reader: ByteReader): LeaseDue {
  const what = readWord(reader, dueKinds, "timer") ?? "passOn";
  return { what, ...readLeaseAt(reader) };
}

function readSessionAt(reader: ByteReader): SessionAt {
  return { session: reader.varint("session"), renewals: reader.varint("renewals") };
}

function sessionAtProblem({ session, renewals }: SessionAt): string | undefined {
  if (!Number.isSafeInteger(renewals) || renewals < 0) return "its renewals are no integer from 0";
  return positiveProblem("session", session);
}

function nameProblem(name: string): string | undefined {
  if (name.length >= 1 && name.length <= maxLeaseNameBytes && isByteString(name)) return undefined;
  return `its name is not 1 to ${maxLeaseNameBytes} bytes`;
}

function positiveProblem(what: string, value: number): string | undefined {
  return rangeProblem(what, value, 1, Number.MAX_SAFE_INTEGER);
}

function rangeProblem(what: string, value: number, min: number, max: number): string | undefined {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return undefined;
  return `its ${what} is no integer from ${min} to ${max}`;
}

function batchProblem(items: readonly unknown[]): string | undefined {
  return items.length >= 1 && items.length <= maxBatchedItems
    ? undefined
    : `it has not 1 to ${maxBatchedItems} items`;
}

function firstProblem<Item>(
  items: readonly Item[],
  problemOf: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function writeEach<Item>(sink: ByteSink, items: readonly Item[], write: (item: Item) => void): void {
  sink.varint(items.length);
  for (const item of items) write(item);
}

function readEach<Item>(reader: ByteReader, what: string, maxCount: number, read: () => Item): Item[] {
  const count = reader.varint(`number of ${what}`);
  if (count > maxCount) reader.fail(`it has more than ${maxCount} ${what}`);
  const items: Item[] = [];
  while (items.length < count && reader.problem === undefined) items.push(read());
  return items;
}

function readWord<Word extends string>(
  reader: ByteReader,
  words: readonly Word[],
  what: string,
): Word | undefined {
  const word = words[reader.byte(what)];
  if (word === undefined) reader.fail(`its ${what} is unknown`);
  return word;
}

function readFlags(reader: ByteReader, known: number): number {
  const flags = reader.byte("flags");
  if ((flags | known) !== known) reader.fail("its flags are unknown");
  return flags;
}
