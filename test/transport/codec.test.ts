/** Frames between members: what goes in comes out, and nothing else ever comes out. */
import {
  asIndex,
  asTerm,
  type Entry,
  type EntryKind,
  isMemberId,
  isNodeId,
  type NodeId,
  type PeerMessage,
  votersOnly,
} from "@quorate/raft";
import { decodeFrame, encodeFrame, pack } from "@quorate/transport/internal";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunks, isChunkInShape } from "./snapshotChunks.ts";
import { heartbeat, member } from "./world.ts";

const count = fc.oneof(fc.nat(300), fc.nat(), fc.maxSafeNat());
const term = count.map(asTerm);
const index = count.map(asIndex);
const flag = fc.boolean();
const node = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/).map((text) => text as NodeId);
const address = fc.stringMatching(/^[\x21-\x7e]{1,255}$/);
const memberIds = fc.tuple(node, fc.nat()).map(([name, incarnation]) => member(name, incarnation));
const peers = fc.uniqueArray(fc.record({ nodeId: node, address }), {
  selector: ({ nodeId }) => nodeId,
  maxLength: 9,
});
const requestId = fc.record({ boot: count, counter: count });

function of<Kind extends string, Fields extends object>(kind: Kind, fields: fc.Arbitrary<Fields>) {
  return fields.map((rest) => ({ kind, ...rest }) as unknown as PeerMessage);
}

const entryParts = fc.record({
  rise: fc.nat(3),
  kind: fc.constantFrom<EntryKind>("noop", "command", "configuration"),
  data: fc.uint8Array({ maxLength: 300 }),
});

const append = fc
  .record({
    session: count,
    prevIndex: fc.nat(),
    prevTerm: fc.integer({ min: 1, max: 1_000_000 }),
    commitIndex: index,
    parts: fc.array(entryParts, { maxLength: 20 }),
    above: fc.nat(5),
  })
  .map(({ session, prevIndex, prevTerm, commitIndex, parts, above }): PeerMessage => {
    let last = prevTerm;
    const entries = parts.map(({ rise, kind, data }, i): Entry => {
      last += rise;
      return { term: asTerm(last), index: asIndex(prevIndex + i + 1), kind, data };
    });
    return {
      kind: "appendRequest",
      term: asTerm(last + above),
      session,
      prevIndex: asIndex(prevIndex),
      prevTerm: asTerm(prevTerm),
      commitIndex,
      entries,
    };
  });

const result = fc.oneof(
  fc.record({ kind: fc.constant("matched"), matchIndex: index }),
  fc.record({ kind: fc.constant("rejected"), rejectedIndex: index, hintIndex: index, hintTerm: term }),
);
const voters = fc
  .uniqueArray(fc.record({ id: memberIds, address }), {
    selector: ({ id }) => id,
    minLength: 1,
    maxLength: 9,
  })
  .map(votersOnly);
const clusterId = fc.stringMatching(/^[0-9a-f]{32}$/);

const messages: Record<PeerMessage["kind"], fc.Arbitrary<PeerMessage>> = {
  preVoteRequest: of("preVoteRequest", fc.record({ term, lastIndex: index, lastTerm: term })),
  preVoteResponse: of("preVoteResponse", fc.record({ term, granted: flag })),
  voteRequest: of("voteRequest", fc.record({ term, lastIndex: index, lastTerm: term, transfer: flag })),
  voteResponse: of("voteResponse", fc.record({ term, granted: flag })),
  appendRequest: append,
  appendResponse: of("appendResponse", fc.record({ term, session: count, result })),
  heartbeat: of("heartbeat", fc.record({ term, session: count, commitIndex: index, token: count })),
  heartbeatResponse: of("heartbeatResponse", fc.record({ term, session: count, token: count })),
  timeoutNow: of("timeoutNow", fc.record({ term, lastIndex: index, lastTerm: term })),
  readIndexRequest: of("readIndexRequest", fc.record({ term, requestId })),
  readIndexResponse: of(
    "readIndexResponse",
    fc.record({ term, requestId, readIndex: fc.oneof(count, fc.constant(-1)) }),
  ),
  snapshotChunk: chunks(term, count, voters),
  snapshotResponse: of(
    "snapshotResponse",
    fc.record({ term, session: count, index, answers: count, offset: count }),
  ),
  birthQuery: of("birthQuery", fc.record({ peers })),
  birthPromise: of("birthPromise", fc.record({ founder: memberIds, peers })),
  birthRefusal: of("birthRefusal", fc.record({ reason: fc.stringMatching(/^[\x20-\x7e]{0,500}$/) })),
  birthNotice: of("birthNotice", fc.record({ birth: fc.record({ clusterId, configuration: voters }) })),
  birthAck: of("birthAck", fc.record({ clusterId })),
};
const frame = fc.tuple(count, fc.array(fc.oneof(...Object.values(messages)), { maxLength: 6 }));

/** What the type says, checked without any help of the code under test. */
function isInShape(message: PeerMessage): boolean {
  const isInt = (value: unknown, min = 0): boolean => Number.isSafeInteger(value) && (value as number) >= min;
  const isPeers = (list: readonly { nodeId: string; address: string }[]): boolean =>
    list.every((each) => isNodeId(each.nodeId) && each.address.length > 0 && each.address.length <= 255);
  const ids = (id: { boot: number; counter: number }): boolean => isInt(id.boot) && isInt(id.counter);
  switch (message.kind) {
    case "voteRequest":
      if (typeof message.transfer !== "boolean") return false;
      return isInt(message.term) && isInt(message.lastIndex) && isInt(message.lastTerm);
    case "preVoteRequest":
    case "timeoutNow":
      return isInt(message.term) && isInt(message.lastIndex) && isInt(message.lastTerm);
    case "preVoteResponse":
    case "voteResponse":
      return isInt(message.term) && typeof message.granted === "boolean";
    case "appendRequest":
      return (
        [message.term, message.session, message.prevIndex, message.prevTerm, message.commitIndex].every((v) =>
          isInt(v),
        ) &&
        message.entries.every(
          (entry, i) =>
            isInt(entry.term, 1) &&
            entry.index === message.prevIndex + 1 + i &&
            ["noop", "command", "configuration"].includes(entry.kind) &&
            entry.data instanceof Uint8Array,
        )
      );
    case "appendResponse":
      return isInt(message.term) && isInt(message.session) && isResultInShape(message.result);
    case "heartbeat":
      return [message.term, message.session, message.commitIndex, message.token].every((v) => isInt(v));
    case "heartbeatResponse":
      return [message.term, message.session, message.token].every((v) => isInt(v));
    case "readIndexRequest":
      return isInt(message.term) && ids(message.requestId);
    case "readIndexResponse":
      return isInt(message.term) && ids(message.requestId) && isInt(message.readIndex, -1);
    case "snapshotChunk":
      return isChunkInShape(message);
    case "snapshotResponse":
      return [message.session, message.index, message.answers, message.offset].every((v) => isInt(v));
    case "birthQuery":
      return isPeers(message.peers);
    case "birthPromise":
      return isMemberId(message.founder) && isPeers(message.peers);
    case "birthRefusal":
      return /^[\x20-\x7e]{0,500}$/.test(message.reason);
    case "birthNotice": {
      const { clusterId: id, configuration } = message.birth;
      return (
        /^[0-9a-f]{32}$/.test(id) &&
        configuration.voters.length > 0 &&
        configuration.voters.every((v) => isMemberId(v.id))
      );
    }
    case "birthAck":
      return /^[0-9a-f]{32}$/.test(message.clusterId);
  }
}

function isResultInShape(value: Extract<PeerMessage, { kind: "appendResponse" }>["result"]): boolean {
  const numbers =
    value.kind === "matched" ? [value.matchIndex] : [value.rejectedIndex, value.hintIndex, value.hintTerm];
  return numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
}

function expectBadOrInShape(bytes: Uint8Array): void {
  const decoded = decodeFrame(bytes);
  if (decoded === undefined) return;
  expect(Number.isSafeInteger(decoded.sequence) && decoded.sequence >= 0).toBe(true);
  for (const message of decoded.messages) expect(isInShape(message), JSON.stringify(message)).toBe(true);
}

const seven = asTerm(7);

describe("a frame", () => {
  for (const [kind, arbitrary] of Object.entries(messages)) {
    it(`brings every ${kind} back as it was.`, () => {
      fc.assert(
        fc.property(count, arbitrary, (sequence, message) => {
          expect(decodeFrame(encodeFrame(sequence, [message]))).toEqual({ sequence, messages: [message] });
        }),
        { numRuns: 200 },
      );
    });
  }

  it("brings all the messages of a turn back in order.", () => {
    fc.assert(
      fc.property(frame, ([sequence, list]) => {
        expect(decodeFrame(encodeFrame(sequence, list))).toEqual({ sequence, messages: list });
      }),
    );
  });

  it("with a heartbeat has at most 21 bytes after a million writes.", () => {
    const message: PeerMessage = {
      ...(heartbeat(900_000) as object),
      commitIndex: 1_000_000,
      term: 200,
    } as never;
    expect(encodeFrame(1_000_000, [message]).length).toBeLessThanOrEqual(21);
  });

  it("keeps nothing of the receive buffer.", () => {
    const data = Uint8Array.of(1, 2, 3);
    const entry: Entry = { term: seven, index: asIndex(1), kind: "command", data };
    const message: PeerMessage = {
      kind: "appendRequest",
      term: seven,
      session: 0,
      prevIndex: asIndex(0),
      prevTerm: asTerm(0),
      commitIndex: asIndex(0),
      entries: [entry, { ...entry, index: asIndex(2), data: Uint8Array.of(9) }],
    };
    const bytes = Uint8Array.from(encodeFrame(1, [message]));
    const decoded = decodeFrame(bytes);
    bytes.fill(0xff);
    expect(decoded?.messages).toEqual([message]);
  });

  it("is not written to again by the frames that follow.", () => {
    const frames = Array.from({ length: 2_000 }, (_, i) => encodeFrame(i, [heartbeat(i)]));
    frames.forEach((bytes, i) => {
      expect(decodeFrame(bytes)).toEqual({ sequence: i, messages: [heartbeat(i)] });
    });
  });

  it("carries a refusal's sentence in characters that anyone may print.", () => {
    const decoded = decodeFrame(encodeFrame(0, [{ kind: "birthRefusal", reason: `é${"x".repeat(900)}` }]));
    expect(decoded?.messages).toEqual([{ kind: "birthRefusal", reason: `?${"x".repeat(499)}` }]);
  });
});

describe("decoding", () => {
  it("never throws and never gives out another shape, whatever the bytes.", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), expectBadOrInShape), { numRuns: 3_000 });
  });

  it("never throws and never gives out another shape for valid frames with changed bytes.", () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(frame, changes, ([sequence, list], edits) => {
        const bytes = Uint8Array.from(encodeFrame(sequence, list));
        for (const [at, value] of edits) bytes[at % bytes.length] = value;
        expectBadOrInShape(bytes);
      }),
      { numRuns: 2_000 },
    );
  });

  it("takes no frame that was cut, and none with something behind it.", () => {
    fc.assert(
      fc.property(frame, fc.nat(), ([sequence, list], cut) => {
        const bytes = encodeFrame(sequence, list);
        expect(decodeFrame(bytes.subarray(0, cut % bytes.length))).toBeUndefined();
        expect(decodeFrame(Uint8Array.of(...bytes, 0))).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it("never gives out another shape for any positional values, however they are put together.", () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          null,
          true,
          false,
          -1,
          0,
          1,
          1.5,
          Number.NaN,
          2 ** 53,
          2 ** 60,
          "a",
          "a.00000000000000ff",
        ),
        fc.integer(),
        fc.string(),
        fc.uint8Array({ maxLength: 5 }),
        fc.array(tie("value"), { maxLength: 8 }),
      ),
    }));
    const message = fc.tuple(fc.integer({ min: 0, max: 36 }), fc.array(value, { maxLength: 9 }));
    fc.assert(
      fc.property(count, fc.array(message, { maxLength: 3 }), (sequence, list) => {
        expectBadOrInShape(pack([sequence, ...list.map(([tag, fields]) => [tag, ...fields])]));
      }),
      { numRuns: 3_000 },
    );
  });

  const append = (...fields: unknown[]): unknown[] => [5, 7, 1, 10, 3, 9, ...fields];
  const data = Uint8Array.of(1);
  const bad: Record<string, unknown> = {
    "a negative term": [1, -1, 0, 0],
    "a fraction": [1, 1.5, 0, 0],
    "an index beyond the safe integers": [1, 1, 2 ** 53, 0],
    "a vote that is neither given nor refused": [2, 1, 1],
    "a field too few": [8, 1, 1, 1],
    "a field too many": [8, 1, 1, 1, 1, 1],
    "an unknown tag": [99, 1, 1],
    "a tag that is a string": ["heartbeat", 1, 1, 1, 1],
    "no array": 7,
    "an empty message": [],
    "an entry of an unknown kind": append(3, 3, data),
    "an entry whose kind is a name": append(3, "length", data),
    "an entry without its data": append(3, 1),
    "an entry whose data is text": append(3, 1, "x"),
    "an entry of term 0": [5, 7, 1, 0, 0, 9, 0, 1, data],
    "an entry of a term before the one it follows": append(2, 1, data),
    "entries whose terms fall": append(5, 1, data, 4, 1, data),
    "an entry of a later term than its leader's": append(8, 1, data),
    "entries beyond the last index": [5, 7, 1, Number.MAX_SAFE_INTEGER, 3, 9, 3, 1, data],
    "a read index below -1": [11, 1, 1, 1, -2],
    "a founder that is no member": [33, "a", []],
    "a node that is listed twice": [
      32,
      [
        ["a", "ws://a:1"],
        ["a", "ws://b:1"],
      ],
    ],
    "a voter that is listed twice": [
      35,
      "0".repeat(32),
      [
        [member("a"), "ws://a:1"],
        [member("a"), "ws://b:1"],
      ],
    ],
    "a configuration without voters": [35, "0".repeat(32), []],
    "a cluster id of another length": [35, "0".repeat(31), [[member("a"), "ws://a:1"]]],
    "more nodes than a message may list": [32, Array.from({ length: 65 }, (_, i) => [`n${i}`, "ws://a:1"])],
    "an address of 256 characters": [32, [["a", "x".repeat(256)]]],
    "a sentence with a line break": [34, "a\nb"],
  };
  for (const [name, message] of Object.entries(bad)) {
    it(`refuses ${name}.`, () => {
      expect(decodeFrame(pack([1, message]))).toBeUndefined();
      // The whole frame is refused, not only the message.
      expect(decodeFrame(pack([1, [9, 1, 1, 1], message]))).toBeUndefined();
    });
  }

  it("refuses a frame without a sequence.", () => {
    for (const value of [[], [-1], ["1"], [[9, 1, 1, 1]], 1, null])
      expect(decodeFrame(pack(value))).toBeUndefined();
  });
});
