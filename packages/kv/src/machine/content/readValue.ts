/** Reads back what `ContentWriter.value` wrote. */
import { type ByteReader, maxRequestBytes, textOfByteString, unreachable } from "@quorate/client/protocol";
import { type ValueKind, valueKinds } from "./contentWriter.ts";

/** Lists within lists; what the machine keeps has four. */
const maxDepth = 8;
const maxBytes: number = 16 * maxRequestBytes;

/** What is wrong is told to `input`: then nothing that it gave is to be used. */
export function readValue(input: ByteReader, depth = 0): unknown {
  const kind = valueKinds[input.byte("value")];
  if (kind === undefined || depth > maxDepth) {
    input.fail("a value in it is of no known kind");
    return undefined;
  }
  return readKind(input, kind, depth);
}

function readKind(input: ByteReader, kind: ValueKind, depth: number): unknown {
  switch (kind) {
    case "nothing":
      return undefined;
    case "false":
      return false;
    case "true":
      return true;
    case "count":
      return input.varint("count");
    case "number":
      return Number(input.byteString("number", 32));
    case "text":
      return textOfByteString(input.byteString("text", maxBytes));
    case "units":
      return String.fromCharCode(...readList(input, () => input.varint("unit")));
    case "bytes":
      return input.run("bytes", maxBytes);
    case "list":
      return readList(input, () => readValue(input, depth + 1));
    default:
      return unreachable(kind);
  }
}

/** Ends at the first problem, so that no made-up length keeps it busy. */
function readList<Item>(input: ByteReader, read: () => Item): Item[] {
  const length = input.varint("list's length");
  const items: Item[] = [];
  while (items.length < length && input.problem === undefined) items.push(read());
  return items;
}
