/**
 * UTF-8, byte strings and ranges of keys, in plain arithmetic: the pure layers have no TextEncoder.
 *
 * Encoding refuses what is no Unicode text, since two different keys must never become the same bytes. Decoding
 * replaces what is no UTF-8 by U+FFFD as the WHATWG Encoding Standard does ("maximal subpart"), and keeps a byte
 * order mark.
 */
import type { ByteString } from "./commands.ts";
import type { KeyRange } from "./requests.ts";

/** Arguments of one call of `String.fromCharCode`; far below any engine's limit. */
const chunkBytes = 8_192;

const replacement = 0xfffd;

/** Undefined where `text` has a lone surrogate. */
export function encodeUtf8(text: string): Uint8Array | undefined {
  const key = utf8ByteString(text);
  return key === undefined ? undefined : bytesOf(key);
}

/** Never fails; `isUtf8` tells whether anything was replaced. */
export function decodeUtf8(bytes: Uint8Array): string {
  return textOfByteString(byteStringOf(bytes));
}

/** The UTF-8 of `text`, one character a byte. ASCII comes back as it is. Undefined at a lone surrogate. */
export function utf8ByteString(text: string): ByteString | undefined {
  if (!/[\u0080-\uffff]/.test(text)) return text;
  const units: number[] = [];
  let result = "";
  for (let at = 0; at < text.length; at += 1) {
    const point = text.codePointAt(at) ?? 0;
    if (point >= 0xd800 && point <= 0xdfff) return undefined;
    if (point > 0xffff) at += 1;
    pushUtf8(units, point);
    if (units.length >= chunkBytes) {
      result += fromUnits(units);
      units.length = 0;
    }
  }
  return result + fromUnits(units);
}

function pushUtf8(units: number[], point: number): void {
  if (point < 0x80) {
    units.push(point);
  } else if (point < 0x800) {
    units.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    units.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
  } else {
    units.push(
      0xf0 | (point >> 18),
      0x80 | ((point >> 12) & 0x3f),
      0x80 | ((point >> 6) & 0x3f),
      0x80 | (point & 0x3f),
    );
  }
}

function fromUnits(units: number[]): string {
  return String.fromCharCode.apply(null, units);
}

/** The text that a byte string is the UTF-8 of; U+FFFD stands for each part that is none. */
export function textOfByteString(key: ByteString): string {
  if (!/[\u0080-\u00ff]/.test(key)) return key;
  const units: number[] = [];
  let result = "";
  for (let at = 0; at < key.length; ) {
    const { point, length } = sequenceAt(key, at);
    at += length;
    if (point > 0xffff) {
      units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    } else {
      units.push(point);
    }
    if (units.length >= chunkBytes) {
      result += fromUnits(units);
      units.length = 0;
    }
  }
  return result + fromUnits(units);
}

/** Does decoding these bytes lose nothing? */
export function isUtf8(key: ByteString): boolean {
  if (!/[\u0080-\u00ff]/.test(key)) return true;
  for (let at = 0; at < key.length; ) {
    const { point, length } = sequenceAt(key, at);
    if (point === replacement && (length !== 3 || key.slice(at, at + 3) !== "\u00ef\u00bf\u00bd"))
      return false;
    at += length;
  }
  return true;
}

interface Sequence {
  readonly point: number;
  readonly length: number;
}

/** The code point that begins at `at`, or U+FFFD for the longest prefix of one that is there (one byte at least). */
function sequenceAt(key: ByteString, at: number): Sequence {
  const lead = key.charCodeAt(at);
  if (lead < 0x80) return { point: lead, length: 1 };
  const needed =
    lead >= 0xc2 && lead <= 0xdf
      ? 1
      : lead >= 0xe0 && lead <= 0xef
        ? 2
        : lead >= 0xf0 && lead <= 0xf4
          ? 3
          : 0;
  if (needed === 0) return { point: replacement, length: 1 };
  let point = lead & (0x3f >> needed);
  for (let n = 1; n <= needed; n += 1) {
    const next = at + n < key.length ? key.charCodeAt(at + n) : 0;
    const [low, high] = n === 1 ? secondByteRange(lead) : anyContinuation;
    if (next < low || next > high) return { point: replacement, length: n };
    point = (point << 6) | (next & 0x3f);
  }
  return { point, length: needed + 1 };
}

type ByteRange = readonly [low: number, high: number];

const anyContinuation: ByteRange = [0x80, 0xbf];

/** Unicode, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF. */
function secondByteRange(lead: number): ByteRange {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  if (lead === 0xf4) return [0x80, 0x8f];
  return anyContinuation;
}

/** The bytes from `from` to before `to`, one character a byte: a flat string, which holds nothing of `bytes`. */
export function byteStringOf(bytes: Uint8Array, from: number = 0, to: number = bytes.length): ByteString {
  let result = "";
  for (let at = from; at < to; at += chunkBytes) {
    // As a list of just that length, which the engine makes arguments of much faster than of bytes of an array.
    const units = new Array<number>(Math.min(chunkBytes, to - at));
    for (let n = 0; n < units.length; n += 1) units[n] = bytes[at + n] as number;
    result += fromUnits(units);
  }
  return result;
}

/** A new array. Characters above U+00FF are not checked for: see `isByteString`. */
export function bytesOf(key: ByteString): Uint8Array {
  const bytes = new Uint8Array(key.length);
  writeByteString(bytes, 0, key);
  return bytes;
}

export function writeByteString(target: Uint8Array, at: number, key: ByteString): void {
  for (let n = 0; n < key.length; n += 1) target[at + n] = key.charCodeAt(n);
}

/** All keys that begin with `prefix`. A prefix that is empty, or all 0xff, has no upper bound. */
export function prefixRange(prefix: ByteString): KeyRange {
  let end = prefix.length;
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xff) end -= 1;
  if (end === 0) return { from: prefix, to: "" };
  return { from: prefix, to: prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1) };
}

/** The one key. */
export function singleKeyRange(key: ByteString): KeyRange {
  return { from: key, to: keyAfter(key) };
}

/** The first possible key after `key`: where the page after it begins. */
export function keyAfter(key: ByteString): ByteString {
  return `${key}\0`;
}
