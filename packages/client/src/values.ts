/**
 * Keys and values between JavaScript and the store's bytes. Everything is checked here, before anything is sent, and
 * what is refused is refused with a sentence.
 */
import { QuorateError } from "@quorate/raft";
import type { Key, KeyValue, Value } from "./cluster.ts";
import {
  type ByteString,
  byteStringOf,
  bytesOf,
  type Format,
  maxKeyBytes,
  maxValueBytes,
  type StoredPair,
  textOfByteString,
  utf8ByteString,
} from "./protocol/index.ts";

/** Values are large, and the engine's own coders are much faster than the pure ones that keys take. */
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** `what` names the argument in the message. A key has one byte at least; a bound of a range may be empty. */
export function keyBytes(key: Key, what: string, minBytes: 0 | 1 = 1): ByteString {
  const bytes = typeof key === "string" ? utf8ByteString(key) : bytesOfKey(key, what);
  if (bytes === undefined) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `The ${what} ${JSON.stringify(key)} has a lone surrogate, which has no UTF-8. Pass the bytes instead.`,
    );
  }
  if (bytes.length < minBytes) {
    throw new QuorateError("INVALID_ARGUMENT", `The ${what} is empty; it has 1 to ${maxKeyBytes} bytes.`);
  }
  if (bytes.length > maxKeyBytes) {
    throw new QuorateError(
      "TOO_LARGE",
      `The ${what} has ${bytes.length} bytes; at most ${maxKeyBytes} are taken.`,
    );
  }
  return bytes;
}

/** A key as it is shown in messages. */
export function shown(key: ByteString): string {
  const text = textOfByteString(key);
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

export interface EncodedValue {
  readonly bytes: Uint8Array;
  readonly format: Format;
}

export function encodeValue(value: Value): EncodedValue {
  const encoded = encode(value);
  if (encoded.bytes.length > maxValueBytes) {
    throw new QuorateError(
      "TOO_LARGE",
      `The value has ${encoded.bytes.length} bytes; at most ${maxValueBytes} are taken. Store a reference instead.`,
    );
  }
  return encoded;
}

export function keyValueOf(pair: StoredPair, keysOnly: boolean): KeyValue {
  const { createRevision, modRevision, version, format } = pair;
  return {
    key: textOfByteString(pair.key),
    keyBytes: bytesOf(pair.key),
    value: keysOnly ? undefined : decodeValue(pair),
    bytes: pair.value,
    format,
    createRevision,
    modRevision,
    version,
    session: pair.session ?? null,
  };
}

function bytesOfKey(key: unknown, what: string): ByteString {
  if (key instanceof Uint8Array) return byteStringOf(key);
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The ${what} is of type ${typeof key}; pass a string or a Uint8Array.`,
  );
}

function encode(value: Value): EncodedValue {
  if (value instanceof Uint8Array) return { bytes: value.slice(), format: "bytes" };
  if (typeof value !== "string") return { bytes: encoder.encode(jsonOf(value)), format: "json" };
  if (/\p{Surrogate}/u.test(value)) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      "The value is text with a lone surrogate, which has no UTF-8. Pass the bytes instead.",
    );
  }
  return { bytes: encoder.encode(value), format: "text" };
}

/** `JSON.stringify` writes lone surrogates as escapes, so its text always has UTF-8. */
function jsonOf(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new QuorateError("INVALID_ARGUMENT", `The value cannot be written as JSON: ${String(error)}.`, {
      cause: error,
    });
  }
  if (text !== undefined) return text;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The value is of type ${typeof value}, which JSON does not have.`,
  );
}

/** JSON that was written by others and is none is given as its text. */
export function decodeValue({ value, format }: Pick<StoredPair, "value" | "format">): unknown {
  if (format === "bytes") return value;
  const text = decoder.decode(value);
  if (format === "text") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
