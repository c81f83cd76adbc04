/** Requests and responses on the wire: whole through the packer, and nothing misshapen comes in. */
import {
  FrameCopies,
  failure,
  maxListLimit,
  maxMessageChars,
  type Request,
  type Response,
  requestFromWire,
  requestsFromWire,
  requestsToWire,
  requestToWire,
  responseFromWire,
  responsesFromWire,
  responsesToWire,
  responseToWire,
} from "@quorate/client/protocol";
import fc from "fast-check";
import { Packr } from "msgpackr";
import { describe, expect, it } from "vitest";
import { requests, responses } from "./arbitraries.ts";

const packr = new Packr({ useRecords: false });

function overTheWire(value: unknown): unknown {
  return packr.unpack(packr.pack(value));
}

/** Anything that msgpack can carry. */
const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withNullPrototype: true,
  withSparseArray: true,
});

/** A wire value with one field, somewhere inside, replaced. */
function withOneFieldReplaced(wire: unknown[], path: readonly number[], by: unknown): unknown[] {
  const copy = [...wire];
  const at = (path[0] ?? 0) % Math.max(1, copy.length);
  const inner = copy[at];
  copy[at] = Array.isArray(inner) && path.length > 1 ? withOneFieldReplaced(inner, path.slice(1), by) : by;
  return copy;
}

const paths = fc.array(fc.nat(20), { minLength: 1, maxLength: 4 });

const copies = new FrameCopies(1_000);

describe("frames of requests", () => {
  it("come through the packer as they were", () => {
    fc.assert(
      fc.property(fc.array(requests, { maxLength: 5 }), (batch) => {
        expect(requestsFromWire(overTheWire(requestsToWire(batch)))).toEqual(batch);
      }),
      { numRuns: 300 },
    );
  });

  it("are undefined, or a request of the right shape, whatever arrives", () => {
    fc.assert(
      fc.property(anything, (value) => {
        const decoded = requestFromWire(value, copies);
        if (decoded !== undefined) expect(requestFromWire(requestToWire(decoded), copies)).toEqual(decoded);
      }),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(requests, paths, anything, (request, path, by) => {
        const decoded = requestFromWire(withOneFieldReplaced(requestToWire(request), path, by), copies);
        if (decoded !== undefined) expect(requestFromWire(requestToWire(decoded), copies)).toEqual(decoded);
      }),
      { numRuns: 2_000 },
    );
  });

  it("are refused whole where one request is wrong, or has a field too many or too few", () => {
    const good = requestToWire({ id: 1, timeoutMs: 100, body: { kind: "status" } });
    expect(requestsFromWire([good, good])).toHaveLength(2);
    expect(requestsFromWire([good, [...good, 0]])).toBeUndefined();
    expect(requestsFromWire([good, good.slice(0, 2)])).toBeUndefined();
    expect(requestsFromWire("frame")).toBeUndefined();
  });

  it.each<[string, unknown[]]>([
    ["a negative id", [-1, 1, 4]],
    ["an id that is no integer", [1.5, 1, 4]],
    ["an id above 2^53 - 1", [2 ** 53, 1, 4]],
    ["a timeout of 0", [1, 0, 4]],
    ["a timeout longer than a timer takes", [1, 2 ** 31, 4]],
    ["an unknown kind", [1, 1, 9]],
    ["a fractional kind", [1, 1, 0.5]],
    ["a proposal that is text", [1, 1, 0, "bytes"]],
    ["a proposal above the limit", [1, 1, 0, new Uint8Array(1_572_865)]],
    ["an empty key", [1, 1, 1, "", 0]],
    ["a key of 4,097 bytes", [1, 1, 1, "k".repeat(4_097), 0]],
    ["a key with a character above one byte", [1, 1, 1, "\u0100", 0]],
    ["an unknown consistency", [1, 1, 1, "k", 2]],
    ["a limit of 0", [1, 1, 2, "", "", 0, false, false, 0]],
    ["a limit above 10,000", [1, 1, 2, "", "", 10_001, false, false, 0]],
    ["a number for a boolean", [1, 1, 2, "", "", 1, 1, false, 0]],
    ["session 0", [1, 1, 3, 0]],
  ])("with %s are refused", (_what, wire) => {
    expect(requestFromWire(wire, copies)).toBeUndefined();
  });

  it("keep nothing of the frame's buffer", () => {
    const request: Request = {
      id: 1,
      timeoutMs: 1,
      body: { kind: "execute", proposal: Uint8Array.of(1, 2) },
    };
    const frame = Buffer.from(packr.pack(requestsToWire([request])));
    const decoded = requestsFromWire(packr.unpack(frame));
    frame.fill(0);
    expect(decoded).toEqual([request]);
  });
});

describe("the proposals of a frame", () => {
  const proposalsOf = (sizes: readonly number[]): readonly Uint8Array[] => {
    const sent = sizes.map((size, at) => new Uint8Array(size).fill(at + 1));
    const batch = sent.map(
      (proposal, id): Request => ({ id, timeoutMs: 1, body: { kind: "execute", proposal } }),
    );
    const frame = packr.pack(requestsToWire(batch));
    const decoded = requestsFromWire(packr.unpack(frame)) ?? [];
    const proposals = decoded.map(({ body }) =>
      body.kind === "execute" ? body.proposal : new Uint8Array(0),
    );
    expect(proposals).toEqual(sent);
    return proposals;
  };
  const buffersOf = (proposals: readonly Uint8Array[]): number[] =>
    [...new Set(proposals.map(({ buffer }) => buffer))].map(({ byteLength }) => byteLength);

  it("share an array where they are small, with little room besides them", () => {
    const buffers = buffersOf(proposalsOf(Array.from({ length: 1_000 }, () => 300)));
    expect(buffers.length).toBeLessThan(7);
    expect(Math.max(...buffers)).toBeLessThanOrEqual(65_536);
    expect(buffers.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(1.1 * 300_000);
    expect(buffersOf(proposalsOf([300]))[0]).toBeLessThan(330);
  });

  it("keep none of their neighbours in memory where they are large", () => {
    expect(buffersOf(proposalsOf([100, 100_000, 100, 9_000, 0]))).toEqual([200, 100_000, 9_000]);
  });

  it("keep no room for what else is in the frame", () => {
    const key = "k".repeat(1_000);
    const read = (id: number): Request => ({
      id,
      timeoutMs: 1,
      body: { kind: "get", key, consistency: "local" },
    });
    const proposal = new Uint8Array(100);
    const batch = [...Array.from({ length: 99 }, (_, id) => read(id))];
    batch.splice(10, 0, { id: 99, timeoutMs: 1, body: { kind: "execute", proposal } });
    const decoded = requestsFromWire(packr.unpack(packr.pack(requestsToWire(batch)))) ?? [];
    const kept = decoded.flatMap(({ body }) => (body.kind === "execute" ? [body.proposal] : []));
    expect(buffersOf(kept)).toEqual([100]);
  });
});

describe("frames of responses", () => {
  it("come through the packer as they were", () => {
    fc.assert(
      fc.property(fc.array(responses, { maxLength: 5 }), (batch) => {
        expect(responsesFromWire(overTheWire(responsesToWire(batch)))).toEqual(batch);
      }),
      { numRuns: 500 },
    );
  });

  it("are undefined, or a response of the right shape, whatever arrives", () => {
    fc.assert(
      fc.property(anything, (value) => {
        const decoded = responseFromWire(value);
        if (decoded !== undefined) expect(responseFromWire(responseToWire(decoded))).toEqual(decoded);
      }),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(responses, paths, anything, (response, path, by) => {
        const decoded = responseFromWire(withOneFieldReplaced(responseToWire(response), path, by));
        if (decoded !== undefined) expect(responseFromWire(responseToWire(decoded))).toEqual(decoded);
      }),
      { numRuns: 2_000 },
    );
  });

  it("carry a page of the longest list", () => {
    const pair = {
      key: "k",
      value: new Uint8Array(0),
      format: "text",
      createRevision: 1,
      modRevision: 1,
      version: 1,
    } as const;
    const listed: Response = {
      id: 1,
      body: { kind: "listed", pairs: Array(maxListLimit).fill(pair), more: true, revision: 1 },
    };
    expect(responsesFromWire(overTheWire(responsesToWire([listed])))).toEqual([listed]);
    const longer = { ...listed.body, pairs: Array(maxListLimit + 1).fill(pair) } as Response["body"];
    expect(responseFromWire(responseToWire({ id: 1, body: longer }))).toBeUndefined();
  });

  it("cut texts that are too long instead of becoming unreadable", () => {
    const facts = {
      code: "REFUSED",
      message: "m".repeat(maxMessageChars + 1),
      retryable: true,
      outcome: "none",
    } as const;
    const response: Response = { id: 1, body: { kind: "failed", failure: { ...facts, leaderEndpoint: "" } } };
    const decoded = responseFromWire(overTheWire(responseToWire(response)));
    expect(decoded?.body).toEqual({ kind: "failed", failure: failure(facts) });
  });
});
