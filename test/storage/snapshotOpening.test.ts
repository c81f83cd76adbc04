/**
 * The rule of opening with snapshots: a life with two snapshots, a compaction, an installation and a third snapshot,
 * cut at every change of any of the three stores, with unsynced bytes and names lost or not, batches lost, snapshots
 * damaged, each opened by the real code.
 *
 * An opened voter has everything that it acknowledged: what its snapshot holds, and the entries after that. A node that
 * only crashed is never refused and never mute.
 */
import {
  asIndex,
  asTerm,
  type Entry,
  type LogStore,
  QuorateError,
  type RestoredState,
  reachesFloor,
} from "@quorate/raft";
import {
  MemoryBatchStore,
  MemorySlotFile,
  MemorySnapshotFiles,
  openLog,
  type SnapshotContents,
} from "@quorate/storage/internal";
import { describe, expect, it } from "vitest";
import { countingRandom, type DiskWrite, recordWrites, replay, tear } from "./recordedDisk.ts";
import { type FileChange, filesAfter, recordFiles } from "./recordedFiles.ts";
import { logOf } from "./snapshotDisk.ts";
import { birthOf, entry, nodeA, type PersistFields, persist, textOf } from "./vocabulary.ts";

type Change = DiskWrite | { readonly kind: "file"; readonly change: FileChange };

/** The whole log as it was acknowledged, whatever of it a snapshot stands for. */
type Log = readonly string[];

interface Life {
  readonly changes: readonly Change[];
  readonly acknowledged: readonly { readonly after: number; readonly log: Log }[];
}

class Biographer {
  readonly changes: Change[] = [];
  readonly acknowledged: { after: number; log: Log }[] = [];
  private readonly batches = new MemoryBatchStore();
  private readonly slots = new MemorySlotFile();
  private readonly files = new MemorySnapshotFiles();
  private log: Log = [];

  async open(): Promise<LogStore> {
    const batches = new MemoryBatchStore(this.batches.contents());
    const { changes, slots } = this;
    return openLog({
      ...recordWrites({ batches, slots }, (write) => changes.push(write)),
      snapshots: recordFiles(this.files, (change) => changes.push({ kind: "file", change })),
      nodeId: nodeA,
      random: countingRandom(),
    });
  }

  note(): void {
    this.acknowledged.push({ after: this.changes.length, log: this.log });
  }

  async write(store: LogStore, fields: PersistFields): Promise<void> {
    await store.write(persist(fields));
    if (fields.truncateFrom !== undefined) this.log = this.log.slice(0, fields.truncateFrom - 1);
    this.log = [...this.log, ...(fields.entries ?? []).map(textOf)];
    this.note();
  }

  async snapshot(store: LogStore, index: number, term: number): Promise<void> {
    const configuration = { index: asIndex(0), configuration: birthOf(store.identity).configuration };
    const writer = await store.snapshots.write({ index: asIndex(index), term: asTerm(term) }, configuration);
    await writer.write(Buffer.from(this.log.slice(0, index).join()));
    await writer.finish();
    this.note();
  }

  async compact(store: LogStore, upTo: number): Promise<void> {
    await store.compact(asIndex(upTo));
    this.note();
  }

  /** As a leader with entries 1..`index` sends it, the last three of term 3. */
  async install(store: LogStore, index: number): Promise<void> {
    const leader = await logOf(0);
    const entries = Array.from({ length: index }, (_, at) => entry(at + 1, at + 3 < index ? 1 : 3));
    await leader.store.write(persist({ term: 3, entries }));
    const configuration = { index: asIndex(0), configuration: birthOf(store.identity).configuration };
    const boundary = { index: asIndex(index), term: asTerm(3) };
    const writer = await leader.store.snapshots.write(boundary, configuration);
    const content = Buffer.from(entries.map(textOf).join());
    await writer.write(content);
    const header = await writer.finish();
    const receiver = await store.snapshots.receive(header);
    await receiver.write(0, content.subarray(0, 20));
    await receiver.write(20, content.subarray(20));
    await receiver.finish();
    await store.install(header);
    this.log = entries.map(textOf);
    this.note();
  }
}

/** `end`: of the log before the installation at entry 6: before that, or after it in another term. */
async function aLife(end: 4 | 7): Promise<Life> {
  const biographer = new Biographer();
  const store = await biographer.open();
  await store.bear(birthOf(store.identity));
  biographer.note();
  await biographer.write(store, { term: 1, entries: [entry(1, 1), entry(2, 1)] });
  await biographer.snapshot(store, 1, 1);
  await biographer.write(store, { term: 1, entries: [entry(3, 1)] });
  await biographer.snapshot(store, 2, 1);
  await biographer.compact(store, 1);
  await biographer.write(store, { term: 2, truncateFrom: 3, entries: entriesTo(end) });
  await biographer.install(store, 6);
  await biographer.write(store, { term: 3, entries: [entry(7, 3), entry(8, 3)] });
  await biographer.snapshot(store, 7, 3);
  await biographer.write(store, { term: 4, truncateFrom: 8, entries: [entry(8, 4)] });
  await store.close();
  return biographer;
}

function entriesTo(end: number): readonly Entry[] {
  return Array.from({ length: end - 2 }, (_, at) => entry(at + 3, 2));
}

const damages = ["none", "newest", "all"] as const;

interface Case {
  readonly life: Life;
  readonly cut: number;
  /** The change after the cut left a torn slot. */
  readonly torn: boolean;
  readonly lost: { readonly from: number; readonly to: number };
  readonly keeps: "unsynced" | "synced";
  readonly damage: (typeof damages)[number];
}

interface Left {
  readonly contents: ReturnType<MemoryBatchStore["contents"]>;
  readonly slots: ReturnType<MemorySlotFile["contents"]>;
  readonly files: SnapshotContents;
}

function writesOf(changes: readonly Change[]): readonly DiskWrite[] {
  return changes.filter((change) => change.kind !== "file");
}

function fileChangesOf(changes: readonly Change[]): readonly FileChange[] {
  return changes.flatMap((change) => (change.kind === "file" ? [change.change] : []));
}

async function leftBy({ life, cut, torn, lost, keeps, damage }: Case): Promise<Left> {
  const changes = life.changes.slice(0, cut);
  const next = life.changes[cut];
  if (torn && next?.kind === "slot") changes.push({ ...next, content: tear(next.content) });
  const { batches, slots } = await replay(
    writesOf(changes),
    (batch) => batch >= lost.from && batch < lost.to,
  );
  const files = filesAfter(new Map(), fileChangesOf(changes), keeps);
  return { contents: batches.contents(), slots, files: damaged(files, damage) };
}

function damaged(files: SnapshotContents, damage: Case["damage"]): SnapshotContents {
  const names = [...files.keys()].filter((name) => name.endsWith(".snapshot")).sort();
  const doomed = damage === "none" ? [] : damage === "newest" ? names.slice(-1) : names;
  return new Map(
    [...files].map(([name, bytes]) => {
      const copy = Uint8Array.from(bytes);
      if (doomed.includes(name)) copy[20] = copy[20]! ^ 1;
      return [name, copy];
    }),
  );
}

type Ending = "voter" | "mute" | "lost" | "unborn" | "refused";

/** Opens what is left, and checks that whatever came of it is allowed. */
async function judged(one: Case, left: Left, record: (change: Change) => void = () => {}): Promise<Ending> {
  const { life, cut, lost, damage } = one;
  const acknowledged = life.acknowledged.findLast(({ after }) => after <= cut)?.log;
  const underWay = life.acknowledged.find(({ after }) => after > cut)?.log;
  const onlyCrashed = lost.from === lost.to && damage === "none";
  const stores = { batches: new MemoryBatchStore(left.contents), slots: new MemorySlotFile(left.slots) };
  let store: LogStore;
  try {
    store = await openLog({
      ...recordWrites(stores, record),
      snapshots: recordFiles(new MemorySnapshotFiles(left.files), (change) =>
        record({ kind: "file", change }),
      ),
      nodeId: nodeA,
      random: countingRandom(1000),
    });
  } catch (error) {
    if (!(error instanceof QuorateError) || error.code !== "DATA_LOST") throw error;
    if (onlyCrashed) throw new Error(`a false refusal: ${error.message}`);
    return "refused";
  }
  const { standing } = store;
  const { kind } = standing;
  if (kind !== "born") {
    if (acknowledged !== undefined && onlyCrashed) throw new Error(`a node that only crashed is ${kind}`);
    if (acknowledged !== undefined && kind === "unborn") throw new Error("a member stays a member");
    await store.close();
    return kind;
  }
  const ending = await endingOf(store, standing.restored, [acknowledged ?? [], underWay]);
  if (onlyCrashed && ending === "mute") throw new Error("a node that only crashed is mute");
  await store.close();
  return ending;
}

async function endingOf(
  store: LogStore,
  restored: RestoredState,
  allowed: readonly (Log | undefined)[],
): Promise<Ending> {
  const { boundary, snapshot, lastIndex, termRuns, floor } = restored;
  const start = snapshot?.boundary.index ?? 0;
  must(start >= boundary.index && start <= lastIndex, "the snapshot lies within the log, or at its boundary");
  const content =
    snapshot === undefined ? "" : Buffer.from(await store.snapshots.read(snapshot, 0, 1_000_000)).toString();
  const applied = content === "" ? [] : content.split(",");
  must(applied.length === start, "the snapshot holds what it stands for");
  const entries = await store.read(asIndex(start + 1), lastIndex, 1_000_000);
  must(entries.length === lastIndex - start, "the log has no hole");
  const log = [...applied, ...entries.map(textOf)];
  const lastTerm = termRuns.at(-1)?.term ?? boundary.term;
  if (floor !== undefined && !reachesFloor(floor, lastIndex, lastTerm)) {
    const named = allowed.some((state) => state !== undefined && floor.lastIndex >= state.length);
    must(named, "the floor is not below what was written");
    return "mute";
  }
  const whole = allowed.some((state) => state?.join() === log.join());
  must(whole, `a voter has everything: ${log.join(", ")}`);
  return "voter";
}

function must(condition: boolean, sentence: string): void {
  if (!condition) throw new Error(`not so: ${sentence}`);
}

async function checked(one: Case, left: Left, record?: (change: Change) => void): Promise<Ending> {
  try {
    return await judged(one, left, record);
  } catch (error) {
    const { life, ...rest } = one;
    const place = JSON.stringify(life.changes[one.cut - 1]?.kind);
    throw new Error(`${JSON.stringify(rest)} (${place}): ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

const nothingLost = { from: 0, to: 0 };

function* everyCrash(life: Life): Generator<Case> {
  for (let cut = 0; cut <= life.changes.length; cut += 1) {
    for (const torn of life.changes[cut]?.kind === "slot" ? [false, true] : [false]) {
      for (const keeps of ["unsynced", "synced"] as const) {
        for (const damage of damages) yield { life, cut, torn, lost: nothingLost, keeps, damage };
      }
    }
  }
}

function* everyLoss(life: Life): Generator<Case> {
  for (const { after: cut } of life.acknowledged) {
    const count = writesOf(life.changes.slice(0, cut)).filter(({ kind }) => kind === "batch").length;
    for (let from = 0; from < count; from += 1) {
      for (let to = from + 1; to <= count; to += 1) {
        for (const damage of damages) {
          yield { life, cut, torn: false, lost: { from, to }, keeps: "synced", damage };
        }
      }
    }
  }
}

describe("The rule of opening with snapshots", () => {
  it.each([4, 7] as const)(
    "holds at every crash, with unsynced bytes and names lost or not, and with snapshots damaged, for a log up to %d",
    async (end) => {
      const life = await aLife(end);
      const endings = new Map<string, number>();
      for (const one of everyCrash(life)) {
        const ending = `${one.damage} ${await checked(one, await leftBy(one))}`;
        endings.set(ending, (endings.get(ending) ?? 0) + 1);
      }
      for (const ending of ["none voter", "newest voter", "newest mute", "all voter", "all mute"]) {
        expect(endings.get(ending) ?? 0, `no case ended ${ending}`).toBeGreaterThan(0);
      }
    },
    60_000,
  );

  it("holds when any run of batches vanished in silence", async () => {
    const life = await aLife(7);
    const endings = new Map<Ending, number>();
    for (const one of everyLoss(life)) {
      const ending = await checked(one, await leftBy(one));
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
    }
    for (const ending of ["voter", "mute", "lost"] as const) {
      expect(endings.get(ending) ?? 0, `no case ended ${ending}`).toBeGreaterThan(0);
    }
  }, 120_000);

  it("holds as well when the opening itself is cut at every change", async () => {
    const life = await aLife(7);
    for (const one of everyCrash(life)) {
      if (one.damage === "newest") continue;
      const left = await leftBy(one);
      const changes: Change[] = [];
      await checked(one, left, (change) => changes.push(change));
      for (let cut = 1; cut <= changes.length; cut += 1)
        await checked(one, await cutShort(left, changes.slice(0, cut)));
    }
  }, 120_000);
});

async function cutShort(left: Left, changes: readonly Change[]): Promise<Left> {
  const batches = new MemoryBatchStore(left.contents);
  const slots = new MemorySlotFile(left.slots);
  for (const write of writesOf(changes)) {
    if (write.kind === "slot") await slots.write(write.slot, write.content);
    else await batches.write(write.operations);
  }
  const files = filesAfter(left.files, fileChangesOf(changes), "unsynced");
  return { contents: batches.contents(), slots: slots.contents(), files };
}
