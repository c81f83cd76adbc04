/** What a node does with the chunks of a snapshot that a peer sends: stored in order, verified, answered. */
import {
  asIndex,
  asTerm,
  type Event,
  memberId,
  type NodeId,
  QuorateError,
  type SnapshotHeader,
  type SnapshotReceiver,
  type SnapshotStore,
} from "@quorate/raft";
import { SnapshotIntake } from "@quorate/raft/internal";
import { beforeEach, describe, expect, it } from "vitest";

const from = memberId("b" as NodeId, "0123456789abcdef");

function headerAt(index: number): SnapshotHeader {
  return {
    boundary: { index: asIndex(index), term: asTerm(1) },
    chain: 1,
    configuration: { index: asIndex(0), configuration: { voters: [], outgoing: [], learners: [] } },
    bytes: 10,
    checksum: index,
  };
}

let stored: Map<number, number>;
let events: Event[];
let failures: unknown[];
let isDamaged: boolean;
let hasRoom: boolean;
let intake: SnapshotIntake;

function receiver(header: SnapshotHeader): SnapshotReceiver {
  const key = header.boundary.index;
  return {
    header,
    get offset() {
      return stored.get(key) ?? 0;
    },
    async write(offset, chunk) {
      if (!hasRoom) throw new QuorateError("STORAGE_FAILED", "no room");
      stored.set(key, offset + chunk.length);
    },
    async finish() {
      if (!isDamaged) return;
      stored.delete(key);
      throw new QuorateError("SNAPSHOT_DAMAGED", "the checksum is another one");
    },
    async abort() {},
  };
}

beforeEach(() => {
  stored = new Map();
  events = [];
  failures = [];
  isDamaged = false;
  hasRoom = true;
  const snapshots = {
    receive: async (header: SnapshotHeader) => receiver(header),
  } as unknown as SnapshotStore;
  intake = new SnapshotIntake({
    snapshots,
    push: (event) => events.push(event),
    failed: (error) => failures.push(error),
  });
});

/** Gives a chunk and tells what is pushed then: the offset of each answer, and what was received whole. */
async function take(index: number, offset: number, bytes: number): Promise<(number | string)[]> {
  events = [];
  const message = {
    kind: "snapshotChunk" as const,
    term: asTerm(1),
    session: 1,
    header: headerAt(index),
    offset,
    data: new Uint8Array(bytes),
  };
  intake.take({ from, message });
  for (let hop = 0; hop < 20; hop += 1) await Promise.resolve();
  return events.map((event) => {
    if (event.kind === "chunkStored") return event.offset;
    return event.kind === "snapshotReceived" ? `whole ${event.header.boundary.index}` : event.kind;
  });
}

describe("chunks that arrive", () => {
  it("are stored where they continue what is there, and answered with where to go on", async () => {
    expect(await take(5, 0, 0), "only asks").toEqual([0]);
    expect(await take(5, 0, 4)).toEqual([4]);
    expect(await take(5, 0, 4), "comes again").toEqual([4]);
    expect(await take(5, 8, 2), "too early").toEqual([4]);
    expect(await take(5, 4, 6)).toEqual([10, "whole 5"]);
  });

  it("of a snapshot that is whole already are answered, and it is told again", async () => {
    await take(5, 0, 10);
    expect(await take(5, 0, 0)).toEqual([10, "whole 5"]);
  });

  it("go on after a restart with what was left behind", async () => {
    stored.set(5, 7);
    expect(await take(5, 0, 0)).toEqual([7]);
    expect(await take(5, 7, 3)).toEqual([10, "whole 5"]);
  });

  it("of another snapshot begin anew", async () => {
    await take(5, 0, 4);
    expect(await take(6, 0, 4)).toEqual([4]);
    expect(stored.get(6)).toBe(4);
  });

  it("that make no good snapshot are forgotten, and the sender is told to begin anew", async () => {
    isDamaged = true;
    expect(await take(5, 0, 10)).toEqual([0]);
    expect(failures).toMatchObject([{ code: "SNAPSHOT_DAMAGED" }]);
    isDamaged = false;
    expect(await take(5, 0, 10)).toEqual([10, "whole 5"]);
  });

  it("that do not fit on the disk are not answered, and stop nobody: the sender asks again", async () => {
    hasRoom = false;
    expect(await take(5, 0, 4)).toEqual([]);
    expect(failures).toMatchObject([{ code: "STORAGE_FAILED" }]);
    hasRoom = true;
    expect(await take(5, 0, 4)).toEqual([4]);
  });

  it("are not piled up", async () => {
    const message = {
      kind: "snapshotChunk",
      term: asTerm(1),
      session: 1,
      header: headerAt(5),
      offset: 0,
    } as const;
    for (let count = 0; count < 50; count += 1)
      intake.take({ from, message: { ...message, data: new Uint8Array(1) } });
    for (let hop = 0; hop < 400; hop += 1) await Promise.resolve();
    expect(events.length).toBeLessThan(10);
  });
});
