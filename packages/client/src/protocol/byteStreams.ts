/**
 * Writes and reads the numbers and byte runs of encoded commands.
 *
 * A varint is little-endian base 128, of the fewest bytes, up to 2^53 - 1. The reader is total: at the first thing
 * that is wrong it stops, remembers why, and gives zeros from then on; `problem` is looked at once, at the end.
 */
import { byteStringOf, writeByteString } from "./utf8.ts";

export function varintBytes(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1;
  return length;
}

/** What bytes are written to: a buffer, or a count of how many there would be. */
export interface ByteSink {
  byte(value: number): void;
  varint(value: number): void;
  byteString(value: string): void;
  run(value: Uint8Array): void;
}

export class ByteCounter implements ByteSink {
  length = 0;

  byte(): void {
    this.length += 1;
  }

  varint(value: number): void {
    this.length += varintBytes(value);
  }

  byteString(value: string): void {
    this.length += varintBytes(value.length) + value.length;
  }

  run(value: Uint8Array): void {
    this.length += varintBytes(value.length) + value.length;
  }
}

/** Fills a buffer whose size was computed before. */
export class ByteWriter implements ByteSink {
  readonly bytes: Uint8Array;
  private at = 0;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
  }

  byte(value: number): void {
    this.bytes[this.at] = value;
    this.at += 1;
  }

  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  byteString(value: string): void {
    this.varint(value.length);
    writeByteString(this.bytes, this.at, value);
    this.at += value.length;
  }

  run(value: Uint8Array): void {
    this.varint(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }
}

export class ByteReader {
  /** The first thing that was wrong. */
  problem: string | undefined;
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  fail(problem: string): void {
    this.problem ??= problem;
  }

  byte(what: string): number {
    const value = this.bytes[this.at];
    if (value === undefined || this.problem !== undefined) {
      this.fail(`it ends before its ${what}`);
      return 0;
    }
    this.at += 1;
    return value;
  }

  varint(what: string): number {
    let value = 0;
    let unit = 1;
    for (let length = 1; length <= 8; length += 1) {
      const next = this.byte(what);
      value += (next & 0x7f) * unit;
      unit *= 0x80;
      if (next >= 0x80) continue;
      if (next === 0 && length > 1) this.fail(`its ${what} is not of the fewest bytes`);
      else if (value <= Number.MAX_SAFE_INTEGER) return value;
      break;
    }
    this.fail(`its ${what} is above 2^53 - 1`);
    return 0;
  }

  byteString(what: string, maxLength: number): string {
    const from = this.runStart(what, maxLength);
    return byteStringOf(this.bytes, from, this.at);
  }

  /** A copy. */
  run(what: string, maxLength: number): Uint8Array {
    const from = this.runStart(what, maxLength);
    const copy = new Uint8Array(this.at - from);
    copy.set(this.bytes.subarray(from, this.at));
    return copy;
  }

  /** Not a copy: it is as good as the bytes that are read. */
  view(what: string, maxLength: number): Uint8Array {
    const from = this.runStart(what, maxLength);
    return this.bytes.subarray(from, this.at);
  }

  end(): void {
    if (this.at < this.bytes.length) this.fail("it has bytes after its end");
  }

  /** Moves past the run; on a problem the run is empty. */
  private runStart(what: string, maxLength: number): number {
    const length = this.varint(`${what}'s length`);
    const from = this.at;
    if (length > maxLength) this.fail(`its ${what} is longer than ${maxLength} bytes`);
    else if (length > this.bytes.length - from) this.fail(`it ends before its ${what}`);
    if (this.problem === undefined) this.at = from + length;
    return from;
  }
}
