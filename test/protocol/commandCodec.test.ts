/** Proposals as bytes: there and back, one encoding each, and a reason for all that is refused. */
import {
  type Command,
  decodeProposal,
  encodeProposal,
  maxKeyBytes,
  maxRequestBytes,
  maxValueBytes,
  type Proposal,
  peekCommandKind,
} from "@quorate/client/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { proposals } from "./arbitraries.ts";

const anonymous = { kind: "anonymous" } as const;

function put(key: string, value: Uint8Array): Proposal {
  return {
    origin: anonymous,
    command: { kind: "put", key, value, format: "bytes", condition: { kind: "none" } },
  };
}

/** One of each layout. */
const numbers: readonly (readonly [Command, readonly number[]])[] = [
  [{ kind: "delete", key: "k", condition: { kind: "absent" } }, [1, 1, 0, 1, 1, 107]],
  [{ kind: "openSession", ttlMs: 1_200 }, [1, 2, 0, 0xb0, 0x09]],
  [{ kind: "openSession", ttlMs: Number.POSITIVE_INFINITY }, [1, 2, 0, 0]],
  [{ kind: "closeSession", session: 5 }, [1, 3, 0, 5]],
  [{ kind: "expireSession", session: 5, term: 2 }, [1, 4, 0, 5, 2]],
  [
    { kind: "delete", key: "k", condition: { kind: "none" }, fence: { name: "x", term: 7 } },
    [1, 6, 0, 1, 120, 7, 0, 1, 107],
  ],
  [{ kind: "expireSessions", office: 2, sessions: [{ session: 5, renewals: 1 }] }, [1, 7, 0, 2, 1, 5, 1]],
  [{ kind: "markSilence", office: 2, sessions: [{ session: 5, renewals: 0 }] }, [1, 8, 0, 2, 1, 5, 0]],
  [{ kind: "renewSessions", sessions: [5, 6] }, [1, 9, 0, 2, 5, 6]],
  [{ kind: "endGrace", office: 2 }, [1, 21, 0, 2]],
  [{ kind: "raiseVersion", office: 2, version: 3 }, [1, 22, 0, 2, 3]],
  [{ kind: "grantAtOnce" }, [1, 23, 0]],
  [
    { kind: "leasesDue", office: 2, due: [{ what: "finish", name: "x", term: 7 }] },
    [1, 10, 0, 2, 1, 2, 1, 120, 7],
  ],
  [
    {
      kind: "acquireLease",
      names: ["x", "y"],
      wait: true,
      priority: -3,
      asksHandover: true,
      holder: "me",
      format: "text",
      data: Uint8Array.of(9),
      lockDelayMs: 500,
    },
    [1, 11, 0, 3, 2, 1, 120, 1, 121, 5, 2, 109, 101, 1, 1, 9, 0xf4, 0x03],
  ],
  [
    {
      kind: "acquireLease",
      names: ["x"],
      wait: true,
      priority: 0,
      asksHandover: false,
      preempts: true,
      candidate: { preference: 2, version: "1", zone: "eu" },
      holder: "",
      format: "bytes",
      data: new Uint8Array(0),
      lockDelayMs: 0,
    },
    [1, 11, 0, 13, 1, 1, 120, 0, 0, 0, 0, 0, 2, 1, 49, 2, 101, 117],
  ],
  [{ kind: "cancelAcquire", sequence: 4 }, [1, 12, 0, 4]],
  [{ kind: "claimLease", lease: { name: "x", term: 7 } }, [1, 13, 0, 1, 120, 7]],
  [{ kind: "releaseLease", lease: { name: "x", term: 7 } }, [1, 14, 0, 1, 120, 7]],
  [{ kind: "loseLease", lease: { name: "x", term: 7 } }, [1, 24, 0, 1, 120, 7]],
  [
    { kind: "describeLease", lease: { name: "x", term: 7 }, format: "json", data: Uint8Array.of(9) },
    [1, 15, 0, 1, 120, 7, 2, 1, 9],
  ],
  [{ kind: "breakLease", name: "x", afterMs: 5, force: true }, [1, 16, 0, 1, 5, 1, 120]],
  [{ kind: "requestHandover", name: "x" }, [1, 17, 0, 1, 120]],
];

function reasonFor(bytes: readonly number[]): string {
  const decoded = decodeProposal(Uint8Array.from(bytes));
  return decoded.kind === "malformed" ? decoded.reason : "none";
}

describe("an encoded proposal", () => {
  it("decodes to the proposal that was encoded", () => {
    fc.assert(
      fc.property(proposals, (proposal) => {
        const bytes = encodeProposal(proposal);
        expect(decodeProposal(bytes)).toEqual({ kind: "proposal", proposal });
        expect(peekCommandKind(bytes)).toBe(proposal.command.kind);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is refused when a byte is missing or added", () => {
    fc.assert(
      fc.property(proposals, fc.nat(), fc.integer({ min: 0, max: 255 }), (proposal, cut, added) => {
        const bytes = encodeProposal(proposal);
        expect(decodeProposal(bytes.subarray(0, cut % bytes.length)).kind).toBe("malformed");
        expect(decodeProposal(Uint8Array.from([...bytes, added])).kind).toBe("malformed");
      }),
      { numRuns: 500 },
    );
  });

  it("is the only encoding of its proposal: whatever decodes encodes to the same bytes", () => {
    const mutated = fc
      .tuple(proposals, fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }))
      .map(([proposal, changes]) => {
        const bytes = encodeProposal(proposal);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        return bytes;
      });
    const random = fc.uint8Array({ maxLength: 24 }).map((bytes) => Uint8Array.from([1, ...bytes]));
    let decodable = 0;
    fc.assert(
      fc.property(fc.oneof(mutated, random), (bytes) => {
        const decoded = decodeProposal(bytes);
        if (decoded.kind === "malformed") return;
        decodable += 1;
        expect(encodeProposal(decoded.proposal)).toEqual(bytes);
      }),
      { numRuns: 5_000 },
    );
    expect(decodable).toBeGreaterThan(100);
  });

  it("gives an answer to any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(["proposal", "malformed"]).toContain(decodeProposal(bytes).kind);
        peekCommandKind(bytes);
      }),
      { numRuns: 2_000 },
    );
  });

  it("keeps its layout: old entries stay in logs", () => {
    const proposal: Proposal = {
      origin: { kind: "session", session: 7, sequence: 300, ackedBelow: 299 },
      command: {
        kind: "put",
        key: "a\u00ff",
        value: Uint8Array.of(9, 8),
        format: "json",
        condition: { kind: "revision", revision: 2 ** 53 - 1 },
      },
    };
    const max = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
    expect([...encodeProposal(proposal)]).toEqual([
      1,
      0,
      1,
      7,
      0xac,
      0x02,
      0xab,
      0x02,
      2,
      2,
      ...max,
      2,
      97,
      255,
      2,
      9,
      8,
    ]);
    for (const [command, bytes] of numbers) {
      expect([...encodeProposal({ origin: anonymous, command })]).toEqual(bytes);
    }
  });

  it.each([
    ["nothing", [], "The command is malformed: it ends before its version."],
    ["another version", [2, 3, 0, 5], "its version is 2, not 1"],
    ["an unknown command", [1, 99, 0, 5], "its command is unknown"],
    ["an unknown origin", [1, 3, 2, 5], "its origin is unknown"],
    ["a longer varint than needed", [1, 3, 0, 0x85, 0], "its session is not of the fewest bytes"],
    [
      "a varint of 2^53",
      [1, 3, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10],
      "its session is above 2^53 - 1",
    ],
    ["a varint without an end", [1, 3, 0, ...Array<number>(20).fill(0xff)], "its session is above 2^53 - 1"],
    ["session 0", [1, 3, 0, 0], "its session is no integer from 1"],
    ["an empty key", [1, 1, 0, 0, 0], "its key is not 1 to 4096 bytes"],
    ["a key that is not all there", [1, 1, 0, 0, 3, 97], "it ends before its key"],
    [
      "a key of 4,097 bytes",
      [1, 1, 0, 0, 0x81, 0x20, ...Array<number>(4_097).fill(97)],
      "longer than 4096 bytes",
    ],
    ["trailing bytes", [1, 3, 0, 5, 0], "it has bytes after its end"],
    ["flags that nobody knows", [1, 5, 0, 4, 0, 0, 1, 97, 0], "its flags are unknown"],
    ["no flags where there are some", [1, 5, 0, 0, 0, 0, 1, 97, 0], "its flags are unknown"],
    ["a term of 0", [1, 13, 0, 1, 120, 0], "its term is no integer from 1"],
    ["a lease without a name", [1, 17, 0, 0], "its name is not 1 to 512 bytes"],
    ["a lease named twice", [1, 11, 0, 0, 2, 1, 120, 1, 120, 0, 0, 0, 0, 0], "it names a lease twice"],
    ["too many names", [1, 11, 0, 0, 33], "it has more than 32 names"],
    ["an empty batch", [1, 9, 0, 0], "it has not 1 to 1024 items"],
    [
      "a TTL above a day",
      [1, 2, 0, 129, 184, 153, 41],
      "its time to live is not from 1 to 86400000 milliseconds",
    ],
  ])("of %s is refused with the reason", (_what, bytes, reason) => {
    expect(reasonFor(bytes)).toContain(reason);
  });

  it("holds of the buffer that it came in the value that is to be stored, and nothing else", () => {
    const frame = encodeProposal(put("k", Uint8Array.of(1, 2, 3)));
    const decoded = decodeProposal(frame);
    frame.fill(0xee);
    expect(decoded).toEqual({ kind: "proposal", proposal: put("k", Uint8Array.of(0xee, 0xee, 0xee)) });
  });

  it("takes the longest key and value, within the largest request, and refuses one byte more", () => {
    const largest = put("\u00ff".repeat(maxKeyBytes), new Uint8Array(maxValueBytes).fill(7));
    const bytes = encodeProposal(largest);
    expect(bytes.length).toBeLessThan(maxRequestBytes);
    expect(decodeProposal(bytes).kind).toBe("proposal");
    expect(() => encodeProposal(put("k".repeat(maxKeyBytes + 1), new Uint8Array()))).toThrow(RangeError);
    expect(() => encodeProposal(put("k", new Uint8Array(maxValueBytes + 1)))).toThrow(RangeError);
    expect(() => encodeProposal(put("\u0100", new Uint8Array()))).toThrow(RangeError);
    expect(() => encodeProposal(put("", new Uint8Array()))).toThrow(RangeError);
  });
});
