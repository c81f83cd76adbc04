/** Snapshots written, kept, read again and damaged, and the log compacted below them. */
import { asIndex, type SnapshotFiles } from "@quorate/raft";
import { entryKey, MemoryBatchStore } from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import {
  at,
  blank,
  configurationAt,
  contentOf,
  type Disk,
  entriesOf,
  logOf,
  openOn,
  rejection,
  restoredOf,
  snapshotOf,
  stored,
} from "./snapshotDisk.ts";
import { birthOf, entry, persist } from "./vocabulary.ts";

describe("A snapshot that was written", () => {
  it("is kept with its header, and is read in parts, also after a restart", async () => {
    const { store, disk } = await logOf(5);
    const header = await snapshotOf(store, at(3), "hello snapshot");
    expect(header).toMatchObject({ boundary: at(3), bytes: 14 });
    expect(store.snapshots.kept).toEqual([header]);
    expect(await contentOf(store, header)).toBe("hello snapshot");
    const again = await openOn(disk());
    expect(again.store.snapshots.kept).toEqual([header]);
    expect(restoredOf(again.store).snapshot).toEqual(header);
    expect(restoredOf(again.store).boundary).toEqual(at(0, 0));
    expect(await contentOf(again.store, header)).toBe("hello snapshot");
  });

  it("has the log's own chain value, which is that of every member at this entry", async () => {
    const one = await logOf(5);
    const other = await logOf(4);
    const header = await snapshotOf(one.store, at(3), "x");
    expect(await snapshotOf(other.store, at(3), "x")).toEqual(header);
    expect((await snapshotOf(one.store, at(4), "x")).chain).not.toBe(header.chain);
  });

  it("is one of two: the oldest goes, but not under the hands of a reader", async () => {
    const { store, files } = await logOf(9);
    const first = await snapshotOf(store, at(2), "first");
    const second = await snapshotOf(store, at(4), "second");
    expect(store.snapshots.compactableTo).toBe(2);
    const release = store.snapshots.retain(first);
    const third = await snapshotOf(store, at(6), "third");
    expect(store.snapshots.kept).toEqual([third, second]);
    expect(await contentOf(store, first)).toBe("first");
    expect(files.contents().size).toBe(3);
    release();
    release();
    await store.close();
    expect(files.contents().size).toBe(2);
  });

  it("that is read when it is no longer kept is refused, and nothing else happens", async () => {
    const { store } = await logOf(9);
    const first = await snapshotOf(store, at(2), "first");
    for (const index of [4, 6]) await snapshotOf(store, at(index), "later");
    expect((await rejection(store.snapshots.read(first, 0, 10))).code).toBe("UNAVAILABLE");
    await store.write(persist({ term: 1, entries: [entry(10, 1)] }));
  });

  it("is nothing before it is finished, and what is left of it goes at the next start", async () => {
    const { store, disk } = await logOf(5);
    const writer = await store.snapshots.write(at(3), configurationAt(store));
    await writer.write(Buffer.from("half"));
    expect(store.snapshots.kept).toEqual([]);
    expect(disk().snapshots.size).toBe(1);
    const again = await openOn(disk());
    expect(again.disk().snapshots.size).toBe(0);
    await writer.abort();
    await writer.abort();
    expect(disk().snapshots.size).toBe(0);
    await snapshotOf(store, at(3), "whole");
  });

  it("fails without harm to the log where the disk is full, and is written when there is room again", async () => {
    let isFull = false;
    const full = (files: SnapshotFiles): SnapshotFiles =>
      Object.assign(Object.create(files) as SnapshotFiles, {
        append: async (name: string, bytes: Uint8Array) => {
          if (isFull) throw new Error("ENOSPC: no space left on device");
          await files.append(name, bytes);
        },
      });
    const { store } = await logOf(5, 6, full);
    const writer = await store.snapshots.write(at(3), configurationAt(store));
    isFull = true;
    const error = await rejection(writer.write(Buffer.from("more")));
    expect([error.code, error.message]).toEqual(["STORAGE_FAILED", expect.stringContaining("ENOSPC")]);
    await writer.abort();
    expect((await rejection(store.snapshots.write(at(3), configurationAt(store)))).code).toBe(
      "STORAGE_FAILED",
    );
    await store.write(persist({ term: 1, entries: [entry(6, 1)] }));
    isFull = false;
    await snapshotOf(store, at(3), "room");
  });
});

describe("After a damage the log opens", () => {
  async function twoSnapshots(): Promise<Disk> {
    const { store, disk } = await logOf(9);
    await snapshotOf(store, at(3), "older");
    await snapshotOf(store, at(6), "newer");
    await store.compact(asIndex(3));
    return disk();
  }

  function damaged(disk: Disk, ...which: number[]): Disk {
    const snapshots = new Map(
      [...disk.snapshots].sort().map(([name, bytes], place) => {
        const copy = Uint8Array.from(bytes);
        if (which.includes(place)) copy[17] = copy[17]! ^ 1;
        return [name, copy];
      }),
    );
    return { ...disk, snapshots };
  }

  it("with the newest snapshot, from which entries are applied on", async () => {
    const { store } = await openOn(await twoSnapshots());
    const { boundary, snapshot, lastIndex } = restoredOf(store);
    expect([boundary, snapshot?.boundary, lastIndex]).toEqual([at(3), at(6), 9]);
    expect(store.snapshots.kept.map((kept) => kept.boundary.index)).toEqual([6, 3]);
    expect(await entriesOf(store, 4, 9)).toHaveLength(6);
  });

  it("with the one before where the newest is damaged: the log reaches back to it", async () => {
    const { store, disk } = await openOn(damaged(await twoSnapshots(), 1));
    const { snapshot, floor } = restoredOf(store);
    expect([snapshot?.boundary, floor]).toEqual([at(3), undefined]);
    expect(await contentOf(store, snapshot!)).toBe("older");
    expect(disk().snapshots.size).toBe(1);
    expect(await entriesOf(store, 4, 9)).toHaveLength(6);
  });

  it("mute, with nothing, where both are damaged: its peers give everything back", async () => {
    const { store } = await openOn(damaged(await twoSnapshots(), 0, 1));
    const { boundary, snapshot, lastIndex, floor } = restoredOf(store);
    expect([boundary, snapshot, lastIndex]).toEqual([at(0, 0), undefined, 0]);
    expect(floor).toEqual({ lastIndex: 9, lastTerm: 1 });
  });

  it("with all its entries where it was never compacted, whatever became of the snapshots", async () => {
    const { store, disk } = await logOf(9);
    await snapshotOf(store, at(3), "older");
    const again = await openOn(damaged(disk(), 0));
    const { boundary, snapshot, lastIndex, floor } = restoredOf(again.store);
    expect([boundary, snapshot, lastIndex, floor]).toEqual([at(0, 0), undefined, 9, undefined]);
  });

  it("anew at a good snapshot where the log before it has a hole", async () => {
    const disk = await twoSnapshots();
    const batches = new MemoryBatchStore(disk.contents);
    await batches.write([{ kind: "delete", key: entryKey(asIndex(5)) }]);
    const { store, batches: left } = await openOn({ ...disk, contents: batches.contents() });
    const { boundary, snapshot, lastIndex, floor } = restoredOf(store);
    expect([boundary, snapshot?.boundary, lastIndex]).toEqual([at(6), at(6), 6]);
    expect(floor).toEqual({ lastIndex: 9, lastTerm: 1 });
    expect(await stored(left)).toEqual([]);
  });

  it("without a snapshot of another cluster that was put among its own", async () => {
    const other = await openOn(blank);
    await other.store.bear(birthOf(other.store.identity, "d"));
    await other.store.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1)] }));
    await snapshotOf(other.store, at(2), "foreign");
    const own = await logOf(4);
    const { store } = await openOn({ ...own.disk(), snapshots: other.disk().snapshots });
    expect(store.snapshots.kept).toEqual([]);
    expect(restoredOf(store).lastIndex).toBe(4);
  });
});

describe("Compaction", () => {
  it("moves the boundary, deletes what is behind it, and goes no further than the older snapshot", async () => {
    const { store, batches, disk } = await logOf(9, 6);
    await snapshotOf(store, at(3), "older");
    await expect(store.compact(asIndex(3))).rejects.toThrow("the log reaches back to two snapshots");
    await snapshotOf(store, at(7, 2), "newer");
    await store.compact(asIndex(3));
    await store.compact(asIndex(2));
    expect(await stored(batches)).toEqual([4, 5, 6, 7, 8, 9]);
    expect(await entriesOf(store, 2, 9)).toEqual([]);
    expect(await entriesOf(store, 4, 5)).toEqual(["4@1 command 4@1", "5@1 command 5@1"]);
    await expect(store.compact(asIndex(4))).rejects.toThrow("the log reaches back to two snapshots");
    await store.write(persist({ term: 2, truncateFrom: 9, entries: [entry(9, 2, "other"), entry(10, 2)] }));
    const again = await openOn(disk());
    expect(restoredOf(again.store)).toMatchObject({
      boundary: at(3),
      lastIndex: 10,
      termRuns: [
        { firstIndex: 4, term: 1 },
        { firstIndex: 6, term: 2 },
      ],
      floor: undefined,
    });
  });

  it("lets writes go on between its batches", async () => {
    const { store, batches } = await logOf(3);
    const entries = Array.from({ length: 2_000 }, (_, n) => entry(n + 4, 1));
    await store.write(persist({ term: 1, entries }));
    await snapshotOf(store, at(1_900), "older");
    await snapshotOf(store, at(1_950), "newer");
    const order: string[] = [];
    const compaction = store.compact(asIndex(1_900)).then(() => order.push("compacted"));
    const write = store
      .write(persist({ term: 1, entries: [entry(2_004, 1)] }))
      .then(() => order.push("written"));
    await Promise.all([compaction, write]);
    expect(order).toEqual(["written", "compacted"]);
    expect(await stored(batches)).toEqual([]);
  });

  it("is written in format 2, and a log that never was compacted in format 1", async () => {
    const { store, batches } = await logOf(5);
    const record = async (): Promise<string> =>
      Buffer.from((await batches.get(Buffer.from("m/record")))!).toString();
    await snapshotOf(store, at(2), "older");
    await snapshotOf(store, at(3), "newer");
    expect(await record()).toContain('{"format":1,');
    await store.compact(asIndex(2));
    expect(await record()).toContain('{"format":2,');
  });
});
