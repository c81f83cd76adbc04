/**
 * Checks of single fields of a decoded frame. Nothing that came over a network is what its type says before one of
 * these has said so.
 */
import type { ByteString } from "./commands.ts";
import { isByteString, isKey, maxRangeBoundBytes } from "./limits.ts";

/** An array of exactly `length` fields. */
export function isTuple(value: unknown, length: number): value is readonly unknown[] {
  return Array.isArray(value) && value.length === length;
}

/** An integer from `min` to `max`. */
export function isInteger(
  value: unknown,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max;
}

export function isText(value: unknown, maxChars: number): value is string {
  return typeof value === "string" && value.length <= maxChars;
}

export function isBoolean(value: unknown): value is boolean {
  return value === true || value === false;
}

export function isBytes(value: unknown, maxBytes: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length <= maxBytes;
}

export function isWireKey(value: unknown): value is ByteString {
  return typeof value === "string" && isKey(value);
}

/** Bytes that travel as a string of one character each. */
export function isByteText(value: unknown, maxBytes: number): value is ByteString {
  return isText(value, maxBytes) && isByteString(value);
}

/** A bound of a range; empty where there is none. */
export function isRangeBound(value: unknown): value is ByteString {
  return isText(value, maxRangeBoundBytes) && isByteString(value);
}

/** Integers from `min`; undefined where one is not, or where it is no array or has more than `maxLength`. */
export function integersFrom(value: unknown, min: number, maxLength: number): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length > maxLength) return undefined;
  for (const each of value as readonly unknown[]) if (!isInteger(each, min)) return undefined;
  return value as readonly number[];
}

/** The word with that number, or undefined. */
export function wordAt<Word extends string>(words: readonly Word[], value: unknown): Word | undefined {
  return typeof value === "number" ? words[value] : undefined;
}

/** Every item decoded; undefined where one is wrong, or where it is no array or has more than `maxLength`. */
export function everyItem<Item>(
  value: unknown,
  maxLength: number,
  decode: (item: unknown) => Item | undefined,
): Item[] | undefined {
  if (!Array.isArray(value) || value.length > maxLength) return undefined;
  const items: Item[] = [];
  for (const each of value as readonly unknown[]) {
    const item = decode(each);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

/** A plain array of its own: bytes out of a frame are a view that would keep the whole frame alive. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy;
}
