/** Pairs of the store as positional arrays, checked field by field (requestCodec.ts). */
import type { Format } from "./commands.ts";
import { maxValueBytes } from "./limits.ts";
import type { StoredPair } from "./requests.ts";
import { copyOf, isBytes, isInteger, isTuple, isWireKey, wordAt } from "./wireFields.ts";

const formats: readonly Format[] = ["bytes", "text", "json"];

export function pairToWire(pair: StoredPair): unknown[] {
  const { key, value, createRevision, modRevision, version } = pair;
  const fields = [key, value, formats.indexOf(pair.format), createRevision, modRevision, version];
  return pair.session === undefined ? fields : [...fields, pair.session];
}

export function pairFromWire(value: unknown): StoredPair | undefined {
  if (!isTuple(value, 6) && !isTuple(value, 7)) return undefined;
  const [key, bytes, , createRevision, modRevision, version, session] = value;
  const format = wordAt(formats, value[2]);
  if (!isWireKey(key) || !isBytes(bytes, maxValueBytes) || format === undefined) return undefined;
  if (!isInteger(createRevision, 1) || !isInteger(modRevision, 1) || !isInteger(version, 1)) return undefined;
  const pair = { key, value: copyOf(bytes), format, createRevision, modRevision, version };
  if (value.length === 6) return pair;
  return isInteger(session, 1) ? { ...pair, session } : undefined;
}

export function optionalPairToWire(pair: StoredPair | undefined): unknown {
  return pair === undefined ? null : pairToWire(pair);
}

export function optionalPairFromWire(value: unknown): StoredPair | undefined | "wrong" {
  return value === null || value === undefined ? undefined : (pairFromWire(value) ?? "wrong");
}
