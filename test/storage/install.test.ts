/** Snapshots that a peer sends: received in pieces, and put in the place of the log in one step. */
import type { Boundary, SnapshotHeader } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  at,
  configurationAt,
  contentOf,
  entriesOf,
  logOf,
  openOn,
  receive,
  rejection,
  restoredOf,
  snapshotOf,
  stored,
} from "./snapshotDisk.ts";
import { entry, persist } from "./vocabulary.ts";

describe("A snapshot that a peer sends", () => {
  const content = "the state of a leader";

  async function sent(boundary: Boundary, secondTerm = 99): Promise<SnapshotHeader> {
    const leader = await logOf(boundary.index + 1, secondTerm);
    return snapshotOf(leader.store, boundary, content);
  }

  it("begins the log anew, whole or not at all, where the log ends before it", async () => {
    const header = await sent(at(12));
    const { store, disk } = await logOf(5);
    await receive(store, header, content);
    expect(store.snapshots.kept).toEqual([]);
    const notYet = await openOn(disk());
    expect([restoredOf(notYet.store).lastIndex, notYet.disk().snapshots.size]).toEqual([5, 0]);
    const restored = await store.install(header);
    expect(restored).toMatchObject({ boundary: at(12), snapshot: header, lastIndex: 12, termRuns: [] });
    expect(await contentOf(store, header)).toBe(content);
    await store.write(persist({ term: 1, entries: [entry(13, 1)] }));
    const again = await openOn(disk());
    expect(restoredOf(again.store)).toMatchObject({ boundary: at(12), snapshot: header, lastIndex: 13 });
    expect(await stored(again.batches)).toEqual([13]);
  });

  it("keeps what follows where the log has the snapshot's own entry, and only then", async () => {
    const header = await sent(at(3));
    const kept = await logOf(5);
    await receive(kept.store, header, content);
    expect(await kept.store.install(header)).toMatchObject({
      boundary: at(3),
      lastIndex: 5,
      termRuns: [{ firstIndex: 4, term: 1 }],
    });
    expect(await entriesOf(kept.store, 4, 5)).toHaveLength(2);
    expect(await stored(kept.batches)).toEqual([4, 5]);

    const newer = await sent(at(3, 2), 3);
    const reset = await logOf(5);
    await receive(reset.store, newer, content);
    expect(await reset.store.install(newer)).toMatchObject({
      term: 2,
      boundary: at(3, 2),
      lastIndex: 3,
      termRuns: [],
    });
    expect(await stored(reset.batches)).toEqual([]);
    for (const { disk } of [kept, reset])
      expect(restoredOf((await openOn(disk())).store).floor).toBeUndefined();
  });

  it("takes the place of those before, and the configuration in it that of older ones", async () => {
    const header = await sent(at(12));
    const { store, files } = await logOf(5);
    await snapshotOf(store, at(3), "own");
    const configuration = configurationAt(store, 11);
    const later = { ...header, configuration };
    await receive(store, later, content);
    expect((await store.install(later)).configurations).toEqual([configuration]);
    await store.close();
    expect([...files.contents().keys()]).toHaveLength(1);
  });

  it("is resumed where it was left, and begun anew for another header", async () => {
    const header = await sent(at(12));
    const { store } = await logOf(5);
    const first = await store.snapshots.receive(header);
    await first.write(0, Buffer.from(content.slice(0, 7)));
    const second = await store.snapshots.receive(header);
    expect(second.offset).toBe(7);
    expect((await rejection(first.write(7, Buffer.from("x")))).code).toBe("INVALID_ARGUMENT");
    expect((await rejection(second.write(8, Buffer.from("x")))).code).toBe("INVALID_ARGUMENT");
    await receive(store, header, content);
    expect((await store.snapshots.receive(header)).offset).toBe(header.bytes);
    const other = await sent(at(13));
    expect((await store.snapshots.receive(other)).offset).toBe(0);
    await store.install(header);
    expect(await contentOf(store, header)).toBe(content);
  });

  it("is refused, and gone, where a byte of it is not what was sent", async () => {
    const header = await sent(at(12));
    const { store } = await logOf(5);
    const wrong = content.replace("state", "stale");
    expect((await rejection(receive(store, header, wrong))).code).toBe("SNAPSHOT_DAMAGED");
    expect((await rejection(receive(store, header, `${content}.`))).code).toBe("SNAPSHOT_DAMAGED");
    expect((await rejection(receive(store, header, content.slice(1)))).code).toBe("SNAPSHOT_DAMAGED");
    expect((await rejection(store.install(header))).code).toBe("INVALID_ARGUMENT");
    expect((await store.snapshots.receive(header)).offset).toBe(0);
    await receive(store, header, content);
    await store.install(header);
  });

  it("overtakes the one that is being written", async () => {
    const header = await sent(at(12));
    const { store } = await logOf(5);
    const writer = await store.snapshots.write(at(4), configurationAt(store));
    await receive(store, header, content);
    await store.install(header);
    expect((await rejection(writer.finish())).code).toBe("UNAVAILABLE");
    await writer.abort();
    expect(store.snapshots.kept).toEqual([header]);
  });
});
