/**
 * Transactions as bytes: three lists, each its length and then its items (commandCodec.ts has the rules that hold for
 * all commands).
 */
import type { ByteReader, ByteSink } from "./byteStreams.ts";
import type { Format } from "./commands.ts";
import { readLeaseAt, writeLeaseAt } from "./leaseCommandCodec.ts";
import { maxKeyBytes, maxRangeBoundBytes, maxTransactionOps, maxValueBytes } from "./limits.ts";
import type { KeyRange } from "./requests.ts";
import type { Compare, CompareOperator, Transaction, TransactionOp } from "./transactions.ts";
import { unreachable } from "./unreachable.ts";

/** All by their numbers on disk: only ever add at the end. */
const compareKinds = ["version", "createRevision", "modRevision", "session", "value", "holds"] as const;
const operators: readonly CompareOperator[] = ["=", "!=", "<", ">"];
const opKinds = ["put", "delete", "deleteRange", "get", "list", "attachedPut"] as const;
const formats: readonly Format[] = ["bytes", "text", "json"];

/** What a list takes with it in one byte. */
const reverseBit = 1;
const keysOnlyBit = 2;

export function writeTransaction(sink: ByteSink, { compares, onSuccess, onFailure }: Transaction): void {
  sink.varint(compares.length);
  for (const compare of compares) writeCompare(sink, compare);
  for (const ops of [onSuccess, onFailure]) {
    sink.varint(ops.length);
    for (const op of ops) writeOp(sink, op);
  }
}

export function readTransaction(reader: ByteReader): Transaction {
  return {
    kind: "transaction",
    compares: readItems(reader, "compares", readCompare),
    onSuccess: readItems(reader, "operations", readOp),
    onFailure: readItems(reader, "operations", readOp),
  };
}

function readItems<Item>(reader: ByteReader, what: string, read: (reader: ByteReader) => Item): Item[] {
  const count = reader.varint(`number of ${what}`);
  if (count > maxTransactionOps) reader.fail(`it has more than ${maxTransactionOps} ${what}`);
  const items: Item[] = [];
  while (items.length < count && reader.problem === undefined) items.push(read(reader));
  return items;
}

function writeCompare(sink: ByteSink, compare: Compare): void {
  sink.byte(compareKinds.indexOf(compare.kind));
  if (compare.kind === "holds") {
    writeLeaseAt(sink, compare.lease);
    return;
  }
  sink.byte(operators.indexOf(compare.operator));
  sink.byteString(compare.key);
  if (compare.kind === "value") sink.run(compare.value);
  else sink.varint(compare.number);
}

function readCompare(reader: ByteReader): Compare {
  const kind = compareKinds[reader.byte("compare")];
  if (kind === undefined) reader.fail("its compare is unknown");
  if (kind === "holds") return { kind, lease: readLeaseAt(reader) };
  const operator = operators[reader.byte("operator")];
  if (operator === undefined) reader.fail("its operator is unknown");
  const key = reader.byteString("key", maxKeyBytes);
  const known = { key, operator: operator ?? "=" } as const;
  if (kind === "value") return { kind, ...known, value: reader.run("value", maxValueBytes) };
  return { kind: kind ?? "version", ...known, number: reader.varint("number") };
}

function writeOp(sink: ByteSink, op: TransactionOp): void {
  sink.byte(opKinds.indexOf(op.kind === "put" && op.attached === true ? "attachedPut" : op.kind));
  switch (op.kind) {
    case "put":
      sink.byte(formats.indexOf(op.format));
      sink.byteString(op.key);
      sink.run(op.value);
      return;
    case "delete":
    case "get":
      sink.byteString(op.key);
      return;
    case "deleteRange":
      writeRange(sink, op.range);
      return;
    case "list":
      sink.byte((op.reverse ? reverseBit : 0) | (op.keysOnly ? keysOnlyBit : 0));
      writeRange(sink, op.range);
      sink.varint(op.limit);
      return;
    default:
      unreachable(op);
  }
}

function readOp(reader: ByteReader): TransactionOp {
  const kind = opKinds[reader.byte("operation")];
  switch (kind) {
    case undefined:
      reader.fail("its operation is unknown");
      return { kind: "get", key: "" };
    case "put":
    case "attachedPut": {
      const format = formats[reader.byte("format")];
      if (format === undefined) reader.fail("its format is unknown");
      const key = reader.byteString("key", maxKeyBytes);
      const value = reader.view("value", maxValueBytes);
      const attached = kind === "attachedPut" ? ({ attached: true } as const) : {};
      return { kind: "put", format: format ?? "bytes", key, value, ...attached };
    }
    case "delete":
    case "get":
      return { kind, key: reader.byteString("key", maxKeyBytes) };
    case "deleteRange":
      return { kind, range: readRange(reader) };
    case "list": {
      const flags = reader.byte("flags");
      if (flags > (reverseBit | keysOnlyBit)) reader.fail("its flags are unknown");
      const [reverse, keysOnly] = [(flags & reverseBit) !== 0, (flags & keysOnlyBit) !== 0];
      return { kind, range: readRange(reader), limit: reader.varint("limit"), reverse, keysOnly };
    }
    default:
      return unreachable(kind);
  }
}

function writeRange(sink: ByteSink, { from, to }: KeyRange): void {
  sink.byteString(from);
  sink.byteString(to);
}

function readRange(reader: ByteReader): KeyRange {
  const from = reader.byteString("range", maxRangeBoundBytes);
  return { from, to: reader.byteString("range", maxRangeBoundBytes) };
}
