/**
 * Sets of keys as ranges, and cursors: where the next page of a range begins.
 *
 * A cursor is opaque to its user: a version, the order, and the last key of the page before, in base64url. It holds no
 * state of any node, so any node serves the next page.
 */
import { QuorateError, refuseUnknownOptions } from "@quorate/raft";
import type { Key, KeySet } from "./cluster.ts";
import {
  type ByteString,
  byteStringOf,
  bytesOf,
  isKey,
  type KeyRange,
  keyAfter,
  prefixRange,
  singleKeyRange,
} from "./protocol/index.ts";
import { keyBytes } from "./values.ts";

export type Order = "ascending" | "descending";

const ascendingMark = "\x01a";
const descendingMark = "\x01d";

const keySetNames = { prefix: true, from: true, to: true };

export function rangeOf(keys: KeySet): KeyRange {
  if (typeof keys === "string") return singleKeyRange(keyBytes(keys, "key"));
  if (typeof keys !== "object" || keys === null) throw noSet();
  const isWhole = "prefix" in keys ? !("from" in keys || "to" in keys) : "from" in keys && "to" in keys;
  if (!isWhole) throw noSet();
  refuseUnknownOptions(keys, { call: "a set of keys", names: keySetNames });
  return "prefix" in keys ? prefixRange(keyBytes(keys.prefix, "prefix", 0)) : between(keys.from, keys.to);
}

/** Of lists, alone or in a transaction: a word that is none would be taken for the other one. */
export function requireListOptions(order: unknown, keysOnly: unknown): void {
  if (order !== "ascending" && order !== "descending") {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      `The order is "ascending" or "descending", not ${JSON.stringify(order)}.`,
    );
  }
  if (typeof keysOnly === "boolean") return;
  throw new QuorateError("INVALID_ARGUMENT", `keysOnly is true or false, not ${JSON.stringify(keysOnly)}.`);
}

export function cursorAfter(lastKey: ByteString, order: Order): string {
  const mark = order === "ascending" ? ascendingMark : descendingMark;
  return Buffer.from(bytesOf(mark + lastKey)).toString("base64url");
}

/** What is left of `range` for the page that `cursor` asks for. */
export function rangeFrom(range: KeyRange, cursor: string, order: Order): KeyRange {
  const mark = order === "ascending" ? ascendingMark : descendingMark;
  const bytes = /^[A-Za-z0-9_-]+$/.test(cursor) ? byteStringOf(Buffer.from(cursor, "base64url")) : "";
  const lastKey = bytes.slice(mark.length);
  const isInRange = lastKey >= range.from && (range.to === "" || lastKey < range.to);
  if (!bytes.startsWith(mark) || !isKey(lastKey) || !isInRange) {
    throw new QuorateError(
      "INVALID_ARGUMENT",
      "The cursor is not one that a page of the same keys in the same order gave.",
    );
  }
  return order === "ascending"
    ? { from: keyAfter(lastKey), to: range.to }
    : { from: range.from, to: lastKey };
}

function between(from: Key, to: Key): KeyRange {
  const range = { from: keyBytes(from, "from", 0), to: keyBytes(to, "to") };
  if (range.from <= range.to) return range;
  throw new QuorateError("INVALID_ARGUMENT", "The range's `from` lies after its `to`: no key is in it.");
}

function noSet(): QuorateError {
  return new QuorateError(
    "INVALID_ARGUMENT",
    "A set of keys is a key, { prefix }, or { from, to } with `to` exclusive; nothing else.",
  );
}
