/** What a bare core of the simulator does about snapshots, where the disk decides when. */
import { asIndex, asTerm, type Event, type ReceivedChunk, type SnapshotHeader } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { CoreSnapshots } from "../../packages/sim/src/core/coreSnapshots.ts";
import { type CoreSnapshotPorts, CoreSnapshotWork } from "../../packages/sim/src/core/coreSnapshotWork.ts";

const configuration = {
  index: asIndex(0),
  configuration: { voters: [], outgoing: [], learners: [] },
};

function headerAt(index: number): SnapshotHeader {
  const boundary = { index: asIndex(index), term: asTerm(1) };
  return { boundary, chain: 0, configuration, bytes: 8, checksum: 0 };
}

function firstChunkOf(header: SnapshotHeader): ReceivedChunk {
  const message = { header, offset: 0, data: new Uint8Array(4) };
  return { message } as unknown as ReceivedChunk;
}

describe("the chunks of two snapshots", () => {
  it("go to the disk one after the other, so that the older never comes over the newer", () => {
    const onDisk: (() => void)[] = [];
    const taken: Event[] = [];
    const snapshots = new CoreSnapshots();
    const work = new CoreSnapshotWork({
      state: { snapshots: { newest: undefined } },
      directory: { snapshots },
      whenDiskDone: (run: () => void) => onDisk.push(run),
      take: (event: Event) => taken.push(event),
    } as unknown as CoreSnapshotPorts);
    const [older, newer] = [firstChunkOf(headerAt(5)), firstChunkOf(headerAt(9))];
    const nothing = {
      chunkLoads: [],
      install: undefined,
      compactTo: undefined,
      snapshots: [],
      snapshotWanted: false,
    };
    work.perform({ ...nothing, chunks: [older, newer] });
    while (onDisk.length > 0) onDisk.pop()?.();
    expect(taken.map((event) => event.kind === "chunkStored" && event.chunk)).toEqual([older, newer]);
    expect(snapshots.receive(newer.message.header, 4, new Uint8Array(0))).toBe(4);
  });
});
