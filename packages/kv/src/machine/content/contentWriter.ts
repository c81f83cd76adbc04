/**
 * Collects the items of one frame of a snapshot's content: numbers, byte strings and runs as in commands, in a buffer
 * that grows, and the values that results are made of.
 */
import { utf8ByteString, writeByteString } from "@quorate/client/protocol";

/** The tag of its section, and in four bytes, the highest first, the length of what follows. */
export const frameHeaderBytes = 5;

/** By their numbers in the content: only ever add at the end. */
export const valueKinds = [
  "nothing",
  "false",
  "true",
  "count",
  "number",
  "text",
  "units",
  "bytes",
  "list",
] as const;

export type ValueKind = (typeof valueKinds)[number];

export class ContentWriter {
  private bytes: Uint8Array = new Uint8Array(0x1_4000);
  private at: number = frameHeaderBytes;

  /** Bytes of items in the frame so far. */
  get length(): number {
    return this.at - frameHeaderBytes;
  }

  /** The frame as an array of its own; what is written next goes into another. */
  takeFrame(tag: number): Uint8Array {
    const { length } = this;
    const frame = new Uint8Array(this.at);
    frame.set(this.bytes.subarray(0, this.at));
    frame[0] = tag;
    for (let at = 1; at < frameHeaderBytes; at += 1) {
      frame[at] = length >>> (8 * (frameHeaderBytes - 1 - at));
    }
    this.at = frameHeaderBytes;
    return frame;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.at] = value;
    this.at += 1;
  }

  /** An integer from 0 to 2^53 - 1. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.at] = (rest % 0x80) | 0x80;
      this.at += 1;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.at] = rest;
    this.at += 1;
  }

  byteString(value: string): void {
    this.varint(value.length);
    this.reserve(value.length);
    writeByteString(this.bytes, this.at, value);
    this.at += value.length;
  }

  run(value: Uint8Array): void {
    this.varint(value.length);
    this.reserve(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }

  /** A field of a result as it stands on the wire: nothing, a boolean, a number, text, bytes, or a list of such. */
  value(value: unknown): void {
    if (value === undefined || value === null) this.kind("nothing");
    else if (typeof value === "boolean") this.kind(value ? "true" : "false");
    else if (typeof value === "number") this.number(value);
    else if (typeof value === "string") this.text(value);
    else if (value instanceof Uint8Array) {
      this.kind("bytes");
      this.run(value);
    } else if (Array.isArray(value)) {
      this.kind("list");
      this.varint(value.length);
      for (const each of value as readonly unknown[]) this.value(each);
    } else throw new TypeError(`A ${typeof value} has no place in a snapshot.`);
  }

  private kind(kind: ValueKind): void {
    this.byte(valueKinds.indexOf(kind));
  }

  private number(value: number): void {
    if (Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)) {
      this.kind("count");
      this.varint(value);
    } else {
      this.kind("number");
      this.byteString(Object.is(value, -0) ? "-0" : String(value));
    }
  }

  /** As UTF-8; as its code units where it is no Unicode text. */
  private text(value: string): void {
    const encoded = utf8ByteString(value);
    if (encoded !== undefined) {
      this.kind("text");
      this.byteString(encoded);
      return;
    }
    this.kind("units");
    this.varint(value.length);
    for (let at = 0; at < value.length; at += 1) this.varint(value.charCodeAt(at));
  }

  private reserve(length: number): void {
    const needed = this.at + length;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }
}
