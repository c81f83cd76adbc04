/** The log store over memory: what each call keeps, refuses and survives. */
import {
  asIndex,
  type BatchStore,
  type Logger,
  type LogStore,
  QuorateError,
  type RestoredState,
  silentLogger,
} from "@quorate/raft";
import {
  entryKey,
  MemoryBatchStore,
  type MemoryContents,
  MemorySlotFile,
  MemorySnapshotFiles,
  openLog,
  recordKey,
  type SlotContents,
} from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { countingRandom, damageSlot } from "./recordedDisk.ts";
import { birthOf, entry, logOf, member, nodeA, nodeB, persist } from "./vocabulary.ts";

interface Disk {
  contents: MemoryContents;
  slots: SlotContents;
}

interface OpenDisk {
  readonly store: LogStore;
  readonly batches: MemoryBatchStore;
  /** What lies on the disk now. */
  disk(): Disk;
}

const blank: Disk = { contents: [], slots: undefined };

async function openOn({ contents, slots }: Disk, nodeId = nodeA): Promise<OpenDisk> {
  const batches = new MemoryBatchStore(contents);
  const slotFile = new MemorySlotFile(slots);
  const snapshots = new MemorySnapshotFiles();
  const store = await openLog({ batches, slots: slotFile, snapshots, nodeId, random: countingRandom() });
  return { store, batches, disk: () => ({ contents: batches.contents(), slots: slotFile.contents() }) };
}

async function bornOn(disk: Disk): Promise<OpenDisk> {
  const opened = await openOn(disk);
  await opened.store.bear(birthOf(opened.store.identity));
  return opened;
}

function restoredOf({ standing }: LogStore): RestoredState {
  if (standing.kind !== "born") throw new Error(`${standing.kind}, not born`);
  return standing.restored;
}

async function rejection(promise: Promise<unknown>): Promise<QuorateError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(QuorateError);
  return error as QuorateError;
}

/** Fails its `n`-th write from now, and every later one. */
function failingAfter(batches: BatchStore, writes: number): BatchStore {
  let left = writes;
  return {
    get: (key) => batches.get(key),
    range: (from, to, limit) => batches.range(from, to, limit),
    close: () => batches.close(),
    write: async (operations) => {
      left -= 1;
      if (left < 0) throw new Error("EIO: i/o error, fdatasync");
      await batches.write(operations);
    },
  };
}

describe("A log store", () => {
  it("counts its openings, and numbers its writes across them", async () => {
    const first = await openOn(blank);
    expect([first.store.boot, first.store.sequence]).toEqual([1, 1]);
    await first.store.promise(member("b"));
    expect(first.store.sequence).toBe(2);
    const second = await openOn(first.disk());
    expect([second.store.boot, second.store.sequence]).toEqual([2, 3]);
    expect(second.store.identity).toEqual(first.store.identity);
  });

  it("keeps a promise to one founder, and takes no other", async () => {
    const first = await openOn(blank);
    await first.store.promise(member("b"));
    await first.store.promise(member("b"));
    expect((await rejection(first.store.promise(member("c")))).code).toBe("REFUSED");
    const { store } = await openOn(first.disk());
    expect(store.standing).toEqual({ kind: "unborn", promisedTo: member("b") });
    expect((await rejection(store.promise(member("c")))).message).toContain(member("b"));
  });

  it("is born once, and remembers of which cluster", async () => {
    const { store, disk } = await bornOn(blank);
    const birth = birthOf(store.identity);
    expect(await store.bear(birth)).toBe(restoredOf(store));
    expect((await rejection(store.bear(birthOf(store.identity, "d")))).code).toBe("REFUSED");
    expect((await rejection(store.promise(member("b")))).code).toBe("REFUSED");
    const again = await openOn(disk());
    expect(again.store.standing).toMatchObject({ kind: "born", birth });
  });

  it("gives back hard state, terms and configurations as they were written", async () => {
    const { store, disk } = await bornOn(blank);
    const { configuration } = birthOf(store.identity);
    const { encodeConfiguration } = await import("@quorate/raft");
    const change = { ...entry(3, 2, "", "configuration"), data: encodeConfiguration(configuration) };
    await store.write(persist({ term: 1, entries: [entry(1, 1, "", "noop"), entry(2, 1)] }));
    await store.write(persist({ term: 2, vote: member("b"), entries: [change, entry(4, 2)] }));
    const again = restoredOf((await openOn(disk())).store);
    expect(again).toEqual({
      term: 2,
      vote: member("b"),
      floor: undefined,
      boundary: { index: 0, term: 0 },
      lastIndex: 4,
      termRuns: [
        { firstIndex: 1, term: 1 },
        { firstIndex: 3, term: 2 },
      ],
      configurations: [
        { index: 0, configuration },
        { index: 3, configuration },
      ],
      boot: 2,
    });
  });

  it("replaces a truncated suffix, the recent one and one that memory no longer holds", async () => {
    const { store, disk } = await bornOn(blank);
    const many = Array.from({ length: 20_000 }, (_, at) => entry(at + 1, 1, "x"));
    await store.write(persist({ term: 1, entries: many }));
    await store.write(persist({ term: 2, truncateFrom: 19_999, entries: [entry(19_999, 2)] }));
    expect(restoredOf((await openOn(disk())).store).lastIndex).toBe(19_999);
    await store.write(persist({ term: 3, truncateFrom: 3, entries: [entry(3, 3), entry(4, 3)] }));
    expect(await logOf(store, 4)).toEqual([
      "1@1 command x",
      "2@1 command x",
      "3@3 command 3@3",
      "4@3 command 4@3",
    ]);
    const again = await openOn(disk());
    expect(restoredOf(again.store).lastIndex).toBe(4);
    expect(await logOf(again.store, 4)).toEqual(await logOf(store, 4));
  });

  it("truncates without adding, down to the very first entry", async () => {
    const { store, disk } = await bornOn(blank);
    await store.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1)] }));
    await store.write(persist({ term: 2, truncateFrom: 1 }));
    const again = restoredOf((await openOn(disk())).store);
    expect([again.term, again.lastIndex, again.termRuns]).toEqual([2, 0, []]);
  });

  it("reads at most so many bytes, but at least one entry, and nothing beyond its end", async () => {
    const { store } = await bornOn(blank);
    const entries = [1, 2, 3, 4].map((index) => entry(index, 1, "x".repeat(100)));
    await store.write(persist({ term: 1, entries }));
    const sizes = async (from: number, to: number, maxBytes: number): Promise<number> =>
      (await store.read(asIndex(from), asIndex(to), maxBytes)).length;
    expect(await sizes(1, 4, 250)).toBe(2);
    expect(await sizes(2, 4, 1)).toBe(1);
    expect(await sizes(1, 4, 400)).toBe(4);
    expect(await sizes(3, 9, 1000)).toBe(2);
    expect(await sizes(5, 9, 1000)).toBe(0);
  });

  it("does not take a truncation that runs beside a read for a fault", async () => {
    const { store } = await bornOn(blank);
    const entries = Array.from({ length: 500 }, (_, at) => entry(at + 1, 1));
    await store.write(persist({ term: 1, entries }));
    const reading = store.read(asIndex(1), asIndex(500), 1_000_000);
    const writing = store.write(persist({ term: 2, truncateFrom: 10, entries: [entry(10, 2)] }));
    await writing;
    expect((await reading).length).toBeGreaterThanOrEqual(10);
    await store.write(persist({ term: 2, entries: [entry(11, 2)] }));
  });

  it("remembers the most that a peer has shown, durably once its boot rises", async () => {
    const { store, disk } = await bornOn(blank);
    await store.remember(member("b"), { start: "s2", boot: 2, sequence: 40 });
    const before = store.sequence;
    await store.remember(member("b"), { start: "s2", boot: 1, sequence: 41 });
    expect(store.sequence).toBe(before);
    expect(store.seen.get(member("b"))).toEqual({ start: "s2", boot: 2, sequence: 41 });
    expect((await openOn(disk())).store.seen.get(member("b"))).toEqual({
      start: "s2",
      boot: 2,
      sequence: 40,
    });
    await store.remember(member("b"), { start: "s3", boot: 3, sequence: 5 });
    expect((await openOn(disk())).store.seen.get(member("b"))).toEqual({
      start: "s3",
      boot: 3,
      sequence: 41,
    });
  });

  it("bounds what it remembers of peers", async () => {
    const { store } = await bornOn(blank);
    for (let at = 0; at < 300; at += 1)
      await store.remember(member(`n${at}`), { start: "s1", boot: 1, sequence: 1 });
    expect(store.seen.size).toBe(256);
    expect(store.seen.has(member("n299"))).toBe(true);
  });

  it("never opens again once it is quarantined, and says why", async () => {
    const { store, disk } = await bornOn(blank);
    await store.quarantine("its peers had seen a later write of it than it has");
    expect((await rejection(store.write(persist({ term: 1 })))).code).toBe("DATA_LOST");
    const error = await rejection(openOn(disk()));
    expect(error.code).toBe("DATA_LOST");
    expect(error.message).toContain("its peers had seen a later write");
  });

  it("refuses another node's data and changes nothing of it", async () => {
    const { disk } = await bornOn(blank);
    const before = disk();
    const error = await rejection(openOn(before, nodeB));
    expect(error.code).toBe("WRONG_DIRECTORY");
    expect(error.message).toContain('node "a"');
    expect(error.message).toContain('node "b"');
    expect(disk()).toEqual(before);
  });

  it("refuses a database and a witness that are not of one history", async () => {
    const one = await bornOn(blank);
    const batches = new MemoryBatchStore();
    const slots = new MemorySlotFile();
    const snapshots = new MemorySnapshotFiles();
    const other = await openLog({ batches, slots, snapshots, nodeId: nodeA, random: countingRandom(77) });
    await other.bear(birthOf(other.identity));
    const mixed = { contents: batches.contents(), slots: one.disk().slots };
    expect((await rejection(openOn(mixed))).code).toBe("DATA_LOST");
  });

  it("ends every call when it is closed, and closes twice without harm", async () => {
    const { store } = await bornOn(blank);
    const writing = store.write(persist({ term: 1, entries: [entry(1, 1)] }));
    await Promise.all([store.close(), store.close()]);
    await writing;
    expect((await rejection(store.write(persist({ term: 1 })))).code).toBe("CLOSED");
    expect((await rejection(store.read(asIndex(1), asIndex(1), 1))).code).toBe("CLOSED");
  });
});

describe("What an opening finds", () => {
  it("is said: a loss as a warning, what a crash left as a note, and nothing after a clean stop", async () => {
    const { store, disk } = await bornOn(blank);
    await store.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1)] }));
    const { contents, slots } = disk();
    const said: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      info: (_, message) => said.push(`info ${message}`),
      warn: (_, message) => said.push(`warn ${message}`),
    };
    const openWith = (left: MemoryContents, witness: SlotContents): Promise<LogStore> =>
      openLog({
        batches: new MemoryBatchStore(left),
        slots: new MemorySlotFile(witness),
        snapshots: new MemorySnapshotFiles(),
        nodeId: nodeA,
        random: countingRandom(),
        logger,
        location: "DIR",
      });
    await openWith(contents, slots);
    expect(said).toEqual([]);
    await openWith(contents, damageSlot(slots, store.sequence % 2 === 0 ? 0 : 1));
    expect(said.splice(0)).toEqual([expect.stringMatching(/^info DIR: slot \d of the witness was torn/)]);
    const holed = contents.filter(([key]) => Buffer.compare(key, entryKey(asIndex(1))) !== 0);
    await openWith(holed, slots);
    expect(said).toEqual([
      expect.stringMatching(/^warn DIR: entry 1 is missing; .* It stays mute .* up to entry 2/),
    ]);
  });

  it("is cleaned up where replaced entries came back behind the end: nothing is mute for it", async () => {
    const { store, batches, disk } = await bornOn(blank);
    await store.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1)] }));
    const old = (await batches.get(entryKey(asIndex(2))))!;
    await store.write(persist({ term: 2, truncateFrom: 2 }));
    await batches.write([{ kind: "put", key: entryKey(asIndex(2)), value: old }]);
    const again = await openOn(disk());
    expect(restoredOf(again.store)).toMatchObject({ lastIndex: 1, floor: undefined });
    expect(await again.batches.get(entryKey(asIndex(2)))).toBeUndefined();
  });

  it("is refused when one slot is damaged and the database is empty, since a vote may be gone", async () => {
    const { store, disk } = await bornOn(blank);
    await store.write(persist({ term: 1, vote: member("b") }));
    const error = await rejection(openOn({ contents: [], slots: damageSlot(disk().slots, 0) }));
    expect(error.code).toBe("DATA_LOST");
    expect(error.message).toContain("the database holds no record at all: the last vote may be gone");
  });
});

describe("After a failed write a log store", () => {
  it("acknowledges nothing, rejects everything with the first cause, and opens again as a voter", async () => {
    const before = await bornOn(blank);
    await before.store.write(persist({ term: 1, entries: [entry(1, 1)] }));
    const { contents, slots } = before.disk();
    const batches = new MemoryBatchStore(contents);
    const slotFile = new MemorySlotFile(slots);
    const failing = failingAfter(batches, 1); // the opening itself is well
    const store = await openLog({
      batches: failing,
      slots: slotFile,
      snapshots: new MemorySnapshotFiles(),
      nodeId: nodeA,
      random: countingRandom(),
    });
    const first = await rejection(store.write(persist({ term: 2, entries: [entry(2, 2)] })));
    expect([first.code, first.outcome]).toEqual(["STORAGE_FAILED", "unknown"]);
    expect(first.message).toContain("EIO");
    expect(await rejection(store.write(persist({ term: 3 })))).toBe(first);
    expect(await rejection(store.read(asIndex(1), asIndex(1), 1))).toBe(first);
    expect(await rejection(store.remember(member("b"), { start: "s1", boot: 1, sequence: 1 }))).toBe(first);
    const again = await openOn({ contents: batches.contents(), slots: slotFile.contents() });
    expect(restoredOf(again.store)).toMatchObject({ floor: undefined, lastIndex: 1, term: 1 });
  });
});

describe("A checksum fault while running", () => {
  it("stops the store when an entry comes back changed", async () => {
    const { store, batches } = await bornOn(blank);
    await store.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1), entry(3, 1)] }));
    const value = Uint8Array.from((await batches.get(entryKey(asIndex(2))))!);
    value[value.length - 1]! ^= 1;
    await batches.write([{ kind: "put", key: entryKey(asIndex(2)), value }]);
    const error = await rejection(store.read(asIndex(1), asIndex(3), 1000));
    expect(error.code).toBe("STORAGE_FAILED");
    expect(error.message).toContain("entry 2 is damaged");
    expect(await rejection(store.write(persist({ term: 2 })))).toBe(error);
  });

  it("stops the store when a whole, older entry comes back in the place of a newer one", async () => {
    const { store, batches } = await bornOn(blank);
    await store.write(persist({ term: 1, entries: [entry(1, 1), entry(2, 1)] }));
    const old = (await batches.get(entryKey(asIndex(2))))!;
    await store.write(persist({ term: 2, truncateFrom: 2, entries: [entry(2, 2)] }));
    await batches.write([{ kind: "put", key: entryKey(asIndex(2)), value: old }]);
    const error = await rejection(store.read(asIndex(1), asIndex(2), 1000));
    expect(error.message).toContain("entry 2 is not the one that was written");
  });
});

describe("Whatever single value a database loses or garbles, an opening", () => {
  it("either has everything, or is mute or lost below a floor, and hard state is always right", async () => {
    const { store, disk } = await bornOn(blank);
    for (let index = 1; index <= 5; index += 1) {
      await store.write(persist({ term: index, vote: member("b"), entries: [entry(index, index)] }));
    }
    await store.remember(member("b"), { start: "s1", boot: 1, sequence: 1 });
    const { contents, slots } = disk();
    const whole = await logOf(store, 5);
    for (const [at, [key, value]] of contents.entries()) {
      for (const damage of ["gone", "garbled"] as const) {
        const garbled = Uint8Array.from(value);
        garbled[garbled.length >> 1]! ^= 4;
        const left = contents.filter((_, other) => other !== at);
        const damaged = damage === "gone" ? left : [...left, [key, garbled] as const];
        const opened = await openOn({ contents: damaged, slots });
        const { standing } = opened.store;
        const restored =
          standing.kind === "lost"
            ? await opened.store.bear(birthOf(opened.store.identity))
            : restoredOf(opened.store);
        expect([restored.term, restored.vote]).toEqual([5, member("b")]);
        if (restored.lastIndex === 5) expect(await logOf(opened.store, 5)).toEqual(whole);
        else expect(restored.floor).toEqual({ lastIndex: 5, lastTerm: 5 });
        expect(await logOf(opened.store, restored.lastIndex)).toEqual(whole.slice(0, restored.lastIndex));
      }
    }
    expect(contents.some(([key]) => Buffer.compare(key, recordKey) === 0)).toBe(true);
  });
});
