/**
 * The checks of single fields that both protocols use, the peers' and the clients'.
 *
 * Each takes whatever was decoded and answers whether it is what it should be: shape, range and length. They
 * never throw, never convert, and know nothing of any message.
 */
import { isMemberId, isNodeId, type MemberId, type NodeId } from "@quorate/raft";
import { maxAddressLength } from "../limits.ts";

/** An integer in [0, 2^53). */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** An integer in [`min`, `max`]. */
export function isWithin(value: unknown, min: number, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

export function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

export function isBytes(value: unknown, maxLength: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length <= maxLength;
}

/** A string of at most `maxLength` UTF-16 units, without lone surrogates. */
export function isString(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value.length <= maxLength && !loneSurrogate.test(value);
}

const loneSurrogate = /\p{Surrogate}/u;

/** Printable ASCII, spaces included. */
export function isText(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value.length <= maxLength && printable.test(value);
}

const printable = /^[\x20-\x7e]*$/;

/** What is left of a sentence when only what `isText` takes may go out. */
export function asText(value: string, maxLength: number): string {
  return value.slice(0, maxLength).replace(/[^\x20-\x7e]/g, "?");
}

/** An array of exactly `length` items. */
export function isTuple(value: unknown, length: number): value is readonly unknown[] {
  return Array.isArray(value) && value.length === length;
}

/** An array of at most `maxLength` items that all pass `check`. */
export function isListOf<Item>(
  value: unknown,
  maxLength: number,
  check: (item: unknown) => item is Item,
): value is readonly Item[] {
  return Array.isArray(value) && value.length <= maxLength && value.every(check);
}

export function isNode(value: unknown): value is NodeId {
  return typeof value === "string" && isNodeId(value);
}

export function isMember(value: unknown): value is MemberId {
  return typeof value === "string" && value.length <= 80 && isMemberId(value);
}

/** 32 hexadecimal digits. */
export function isClusterId(value: unknown): value is string {
  return typeof value === "string" && clusterId.test(value);
}

const clusterId = /^[0-9a-f]{32}$/;

/** Printable ASCII without spaces. Whether anything can be reached there, the network finds out. */
export function isAddress(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxAddressLength && address.test(value);
}

const address = /^[\x21-\x7e]+$/;
