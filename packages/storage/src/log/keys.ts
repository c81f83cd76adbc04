/**
 * Where things lie in the batch store. Entries sort by index; the few other keys come after them.
 *
 *   e<index, 8 bytes>   one entry
 *   m/birth             the birth, once the directory is a member's
 *   m/record            the state record; every batch writes it
 *   m/seen              what peers have shown
 */
import { asIndex, type BatchOperation, type Index } from "@quorate/raft";
import { getUint53, putUint53 } from "./bytes.ts";

const entryPrefix = 0x65;

export const birthKey: Uint8Array = Buffer.from("m/birth");
export const recordKey: Uint8Array = Buffer.from("m/record");
export const seenKey: Uint8Array = Buffer.from("m/seen");

export function entryKey(index: Index): Uint8Array {
  const key = new Uint8Array(9);
  key[0] = entryPrefix;
  putUint53(key, 1, index);
  return key;
}

/** After every entry's key, before every other key. */
export const entriesEnd: Uint8Array = Uint8Array.of(entryPrefix + 1);

/** Before and after every key. */
export const firstKey: Uint8Array = Uint8Array.of(0);
export const lastKey: Uint8Array = Uint8Array.of(0xff);

/** Undefined where the key has another shape, as a damaged store may show. */
export function indexOfKey(key: Uint8Array): Index | undefined {
  return key.length === 9 && key[0] === entryPrefix ? asIndex(getUint53(key, 1)) : undefined;
}

/** Deletes entries `first`..`last` (inclusive). */
export function deletions(first: number, last: number): BatchOperation[] {
  const operations: BatchOperation[] = [];
  for (let index = first; index <= last; index += 1) {
    operations.push({ kind: "delete", key: entryKey(asIndex(index)) });
  }
  return operations;
}
