/** The pure UTF-8 against the platform's, and byte strings against the bytes that they stand for. */
import {
  byteStringOf,
  bytesOf,
  decodeUtf8,
  encodeUtf8,
  isByteString,
  isUtf8,
  keyAfter,
  prefixRange,
  textOfByteString,
  utf8ByteString,
} from "@quorate/client/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteStrings } from "./arbitraries.ts";

const referenceEncoder = new TextEncoder();
const referenceDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Bytes that are nearly UTF-8: whole sequences, torn ones, overlong ones, surrogates, and beyond the end. */
const nearlyUtf8 = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 3 }).map((text) => [...referenceEncoder.encode(text)]),
      fc.constantFrom(
        [0xc0, 0x80],
        [0xe0, 0x80, 0x80],
        [0xed, 0xa0, 0x80],
        [0xf4, 0x90, 0x80, 0x80],
        [0xf0, 0x90],
      ),
      fc.constantFrom([0xef, 0xbb, 0xbf], [0xef, 0xbf, 0xbd], [0xe2, 0x82], [0xf5], [0xff]),
      fc.array(fc.integer({ min: 0x80, max: 0xff }), { maxLength: 4 }),
    ),
    { maxLength: 8 },
  )
  .map((runs) => Uint8Array.from(runs.flat()));

function isDecodable(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

describe("UTF-8 without the platform", () => {
  it("encodes every well-formed text as TextEncoder does, and decodes it again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const bytes = encodeUtf8(text);
        expect(bytes).toEqual(referenceEncoder.encode(text));
        expect(decodeUtf8(bytes as Uint8Array)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("refuses lone surrogates, and nothing else", () => {
    const units = fc.array(fc.oneof(fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.nat(0xffff)), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes);
        const wellFormed = referenceDecoder.decode(referenceEncoder.encode(text)) === text;
        expect(encodeUtf8(text) !== undefined).toBe(wellFormed);
      }),
      { numRuns: 500 },
    );
    expect(encodeUtf8("a\ud800")).toBeUndefined();
    expect(encodeUtf8("\udc00\ud800")).toBeUndefined();
  });

  it("decodes broken bytes as TextDecoder does, and tells that they are broken", () => {
    fc.assert(
      fc.property(nearlyUtf8, (bytes) => {
        expect(decodeUtf8(bytes)).toBe(referenceDecoder.decode(bytes));
        expect(isUtf8(byteStringOf(bytes))).toBe(isDecodable(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  it("handles texts longer than one chunk", () => {
    const text = "é€😀x".repeat(20_000);
    const bytes = encodeUtf8(text) as Uint8Array;
    expect(Buffer.compare(bytes, referenceEncoder.encode(text))).toBe(0);
    expect(decodeUtf8(bytes)).toBe(text);
    expect(Buffer.compare(bytesOf(byteStringOf(bytes)), bytes)).toBe(0);
  });
});

describe("byte strings", () => {
  it("hold the same bytes, and compare as the bytes do", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (left, right) => {
        const [a, b] = [byteStringOf(left), byteStringOf(right)];
        expect(bytesOf(a)).toEqual(left);
        expect(isByteString(a)).toBe(true);
        expect(a < b ? -1 : a > b ? 1 : 0).toBe(Buffer.compare(left, right));
      }),
    );
    expect(isByteString("\u0100")).toBe(false);
  });

  it("are the text itself where it is ASCII", () => {
    expect(utf8ByteString("jobs/1")).toBe("jobs/1");
    expect(utf8ByteString("é")).toBe("\u00c3\u00a9");
    expect(textOfByteString("\u00c3\u00a9")).toBe("é");
  });

  it.each([
    ["", "", ""],
    ["a", "a", "b"],
    ["a\u00ff\u00ff", "a\u00ff\u00ff", "b"],
    ["a\u00fe", "a\u00fe", "a\u00ff"],
    ["\u00ff\u00ff", "\u00ff\u00ff", ""],
  ])("with the prefix %j are those from %j to before %j", (prefix, from, to) => {
    expect(prefixRange(prefix)).toEqual({ from, to });
  });

  it("lie in a prefix's range exactly if they begin with it", () => {
    const extreme = fc.string({ unit: fc.constantFrom("a", "b", "\u00fe", "\u00ff", "\0"), maxLength: 4 });
    fc.assert(
      fc.property(extreme, extreme, (prefix, key) => {
        const { from, to } = prefixRange(prefix);
        expect(key >= from && (to === "" || key < to)).toBe(key.startsWith(prefix));
      }),
      { numRuns: 1_000 },
    );
  });

  it("have nothing between a key and the one after it", () => {
    fc.assert(
      fc.property(byteStrings(1, 4), byteStrings(1, 5), (key, other) => {
        expect(key < keyAfter(key)).toBe(true);
        expect(other > key && other < keyAfter(key)).toBe(false);
      }),
    );
  });
});
