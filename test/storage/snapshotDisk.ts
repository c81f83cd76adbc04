/** A log with snapshots over memory, for tests: what is on its disk can be taken, changed, and opened again. */
import {
  asIndex,
  asTerm,
  type Boundary,
  type ConfigurationAt,
  type LogStore,
  type QuorateError,
  type RestoredState,
  type SnapshotFiles,
  type SnapshotHeader,
} from "@quorate/raft";
import {
  entryKey,
  MemoryBatchStore,
  type MemoryContents,
  MemorySlotFile,
  MemorySnapshotFiles,
  openLog,
  type SlotContents,
  type SnapshotContents,
} from "@quorate/storage/internal";
import { countingRandom } from "./recordedDisk.ts";
import { birthOf, entry, nodeA, persist, textOf } from "./vocabulary.ts";

export interface Disk {
  readonly contents: MemoryContents;
  readonly slots: SlotContents;
  readonly snapshots: SnapshotContents;
}

export interface OpenDisk {
  readonly store: LogStore;
  readonly batches: MemoryBatchStore;
  readonly files: MemorySnapshotFiles;
  disk(): Disk;
}

export const blank: Disk = { contents: [], slots: undefined, snapshots: new Map() };

export async function openOn({ contents, slots, snapshots }: Disk, wrap = same): Promise<OpenDisk> {
  const batches = new MemoryBatchStore(contents);
  const slotFile = new MemorySlotFile(slots);
  const files = new MemorySnapshotFiles(snapshots);
  const store = await openLog({
    batches,
    slots: slotFile,
    snapshots: wrap(files),
    nodeId: nodeA,
    random: countingRandom(),
  });
  const disk = (): Disk => ({
    contents: batches.contents(),
    slots: slotFile.contents(),
    snapshots: files.contents(),
  });
  return { store, batches, files, disk };
}

function same(files: SnapshotFiles): SnapshotFiles {
  return files;
}

/** A member with entries 1..`count`, all of term 1 but those from `secondTerm` on. */
export async function logOf(count: number, secondTerm = count + 1, wrap = same): Promise<OpenDisk> {
  const opened = await openOn(blank, wrap);
  await opened.store.bear(birthOf(opened.store.identity));
  for (let index = 1; index <= count; index += 1) {
    const term = index < secondTerm ? 1 : 2;
    await opened.store.write(persist({ term, entries: [entry(index, term)] }));
  }
  return opened;
}

export function at(index: number, term = 1): Boundary {
  return { index: asIndex(index), term: asTerm(term) };
}

export function configurationAt(store: LogStore, index = 0): ConfigurationAt {
  return { index: asIndex(index), configuration: birthOf(store.identity).configuration };
}

export async function snapshotOf(
  store: LogStore,
  boundary: Boundary,
  content: string,
): Promise<SnapshotHeader> {
  const writer = await store.snapshots.write(boundary, configurationAt(store));
  for (const character of content) await writer.write(Buffer.from(character));
  return writer.finish();
}

export async function contentOf(store: LogStore, header: SnapshotHeader): Promise<string> {
  let content = "";
  while (content.length < header.bytes) {
    content += Buffer.from(await store.snapshots.read(header, content.length, 3)).toString();
  }
  return content;
}

export async function receive(store: LogStore, header: SnapshotHeader, content: string): Promise<void> {
  const receiver = await store.snapshots.receive(header);
  for (const character of content.slice(receiver.offset)) {
    await receiver.write(receiver.offset, Buffer.from(character));
  }
  await receiver.finish();
}

export function restoredOf({ standing }: LogStore): RestoredState {
  if (standing.kind !== "born") throw new Error(`the log is ${standing.kind}`);
  return standing.restored;
}

export async function rejection(promise: Promise<unknown>): Promise<QuorateError> {
  return promise.then(
    () => {
      throw new Error("nothing was rejected");
    },
    (error: QuorateError) => error,
  );
}

export async function entriesOf(store: LogStore, from: number, to: number): Promise<readonly string[]> {
  return (await store.read(asIndex(from), asIndex(to), 1_000_000)).map(textOf);
}

/** Which of entries 1..20 lie in the batch store. */
export async function stored(batches: MemoryBatchStore): Promise<number[]> {
  const found: number[] = [];
  for (let index = 1; index <= 20; index += 1) {
    if ((await batches.get(entryKey(asIndex(index)))) !== undefined) found.push(index);
  }
  return found;
}
