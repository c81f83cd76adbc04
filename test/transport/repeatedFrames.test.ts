/** What is remembered of a link's last frame saves work and changes nothing: neither bytes nor messages. */
import { asIndex, asTerm, type PeerMessage } from "@quorate/raft";
import { decodeFrame, encodeFrame, FrameDecoder, FrameEncoder } from "@quorate/transport/internal";
import { describe, expect, it } from "vitest";

const base = { kind: "heartbeat", term: asTerm(3), session: 1, commitIndex: asIndex(9), token: 4 } as const;
const answer = { kind: "heartbeatResponse", term: asTerm(3), session: 1, token: 4 } as const;

/** Each differs from the one before in one thing alone. */
const talk: readonly (readonly [sequence: number, messages: readonly PeerMessage[]])[] = [
  [7, [base]],
  [8, [base]],
  [8, [{ ...base, term: asTerm(4) }]],
  [8, [{ ...base, term: asTerm(4), session: 2 }]],
  [8, [{ ...base, term: asTerm(4), session: 2, commitIndex: asIndex(10) }]],
  [8, [{ ...base, term: asTerm(4), session: 2, commitIndex: asIndex(10), token: 5 }]],
  [8, [answer]],
  [8, [base]],
  [8, [base, answer]],
  [8, [answer]],
  [8, [{ kind: "voteResponse", term: asTerm(3), granted: true }]],
  [8, [{ kind: "voteResponse", term: asTerm(3), granted: false }]],
  [8, [{ ...answer, term: asTerm(2 ** 52), session: 2 ** 52, token: 2 ** 52 }]],
];

describe("a link that remembers its last frame", () => {
  it("sends the bytes that it would send without, whatever changed since the last frame", () => {
    const encoder = new FrameEncoder();
    for (const [sequence, messages] of talk) {
      const expected = [...encodeFrame(sequence, messages)];
      expect([...encoder.encode(sequence, messages)]).toEqual(expected);
      expect([...encoder.encode(sequence, messages)]).toEqual(expected);
    }
  });

  it("makes the frame of an idle link once", () => {
    const encoder = new FrameEncoder();
    expect(encoder.encode(7, [{ ...base }])).toBe(encoder.encode(7, [{ ...base }]));
    const bytes = encodeFrame(7, [base]);
    const decoder = new FrameDecoder();
    expect(decoder.decode(bytes)).toBe(decoder.decode(bytes.slice()));
  });

  it("reads what it would read without, whatever changed since the last frame", () => {
    const decoder = new FrameDecoder();
    for (const [sequence, messages] of talk) {
      expect(decoder.decode(encodeFrame(sequence, messages))).toEqual({ sequence, messages });
      expect(decoder.decode(encodeFrame(sequence, messages))).toEqual({ sequence, messages });
    }
  });

  it("reads every frame that differs in one byte as if it were the first", () => {
    const bytes = encodeFrame(7, [base]);
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const other = Uint8Array.from(bytes);
        other[at] = (bytes[at] as number) ^ (1 << bit);
        const decoder = new FrameDecoder();
        decoder.decode(bytes);
        expect(decoder.decode(other)).toEqual(decodeFrame(other));
        expect(decoder.decode(bytes)).toEqual({ sequence: 7, messages: [base] });
      }
    }
  });

  it("keeps nothing of the buffer that a frame arrived in", () => {
    const decoder = new FrameDecoder();
    const buffer = Buffer.from(encodeFrame(7, [base]));
    decoder.decode(buffer);
    buffer.set(encodeFrame(7, [{ ...base, token: 5 }]));
    expect(decoder.decode(buffer)?.messages).toEqual([{ ...base, token: 5 }]);
  });
});
