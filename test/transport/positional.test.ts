/** Positional values: what goes in comes out, and nothing of another kind gets to the decoder. */
import { isPositional, maxFrameDepth, pack, unpack } from "@quorate/transport/internal";
import fc from "fast-check";
import { pack as packAnything } from "msgpackr";
import { describe, expect, it } from "vitest";

describe("positional values", () => {
  it("come back as they were.", () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, false),
        fc.integer(),
        fc.maxSafeInteger(),
        fc.double({ noNaN: true }).map((number) => number + 0 || 0), // -0 becomes 0
        fc.string({ unit: "binary" }).filter((text) => !/\p{Surrogate}/u.test(text)),
        fc.uint8Array(),
        fc.array(tie("value")),
      ),
    }));
    fc.assert(
      fc.property(value, (any) => {
        expect(plain(unpack(pack(any)))).toEqual(plain(any));
      }),
      { numRuns: 1_000 },
    );
  });

  const hostile: Record<string, unknown> = {
    "a map": { a: 1 },
    "a map in an array": [[{ __proto__: 1 }]],
    "a date": [new Date(0)],
    undefined: [undefined],
    "an error": [new Error("no")],
  };
  for (const [name, value] of Object.entries(hostile)) {
    it(`do not include ${name}.`, () => {
      expect(unpack(packAnything(value))).toBeUndefined();
    });
  }

  it("do not include record definitions, extensions or unused tokens, whatever is behind them.", () => {
    for (const bytes of [
      [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 0x01], // a record definition of msgpackr
      [0x91, 0xd4, 0x72, 0x40],
      [0xc7, 1, 0x73, 0xc0],
      [0xd6, 0xff, 0, 0, 0, 0], // a timestamp
      [0xc1],
      [0x81, 0xa1, 0x61, 0x01],
      [0xde, 0, 0],
      [0xdf, 0, 0, 0, 0],
    ]) {
      expect(isPositional(Uint8Array.from(bytes))).toBe(false);
      expect(unpack(Uint8Array.from(bytes))).toBeUndefined();
    }
  });

  it("are not deeper than they may be.", () => {
    const nested = (depth: number): Uint8Array => Uint8Array.from([...Array(depth).fill(0x91), 0x01]);
    expect(unpack(nested(maxFrameDepth))).toBeDefined();
    expect(unpack(nested(maxFrameDepth + 1))).toBeUndefined();
    expect(unpack(nested(1_000_000))).toBeUndefined();
  });

  it("do not make memory of a header that promises more than there is.", () => {
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 1_000; i += 1) {
      expect(unpack(Uint8Array.of(0xdd, 0x01, 0xff, 0xff, 0xff, 0))).toBeUndefined();
      expect(unpack(Uint8Array.of(0xc6, 0x7f, 0xff, 0xff, 0xff, 0))).toBeUndefined();
    }
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6);
    expect(
      unpack(new Uint8Array(3_000_000).fill(1).map((_, i) => [0xdd, 0, 0x2d, 0xc6, 0xbb][i] ?? 1)),
    ).toBeUndefined();
  });
});

/** Byte strings of any class, as arrays. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: [...value] };
  return Array.isArray(value) ? value.map(plain) : value;
}
