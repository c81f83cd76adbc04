/**
 * Snapshots of cores in memory: a test says when one is taken, and plays the runtime that stores, reads and installs.
 *
 * Content is nothing but its length. What is installed is copied from the sender's disk, which in these tests keeps the
 * entries that its core counts as compacted.
 */
import {
  asIndex,
  asTerm,
  configurationAt,
  type Effects,
  type Message,
  type SnapshotHeader,
  termAt,
} from "@quorate/raft";
import { advance, type Cluster, type Flight, nameOf, nodeOf, settle, turn } from "./cluster.ts";
import { isKind } from "./views.ts";

export const contentBytes = 2_500;

/** Of what `name` has applied up to `index`, all of it by default. */
export function headerOf(
  cluster: Cluster,
  name: string,
  index: number = nodeOf(cluster, name).state.appliedIndex,
): SnapshotHeader {
  const { log } = nodeOf(cluster, name).state;
  const term = termAt(log, asIndex(index));
  if (term === undefined) throw new Error(`${name} has no entry ${index}`);
  return {
    boundary: { index: asIndex(index), term },
    chain: 7,
    configuration: configurationAt(log, asIndex(index)),
    bytes: contentBytes,
    checksum: index,
  };
}

/** A snapshot is durable, and the log may be compacted up to it, or up to `compactableTo`. */
export function takeSnapshot(
  cluster: Cluster,
  name: string,
  more: { index?: number; compactableTo?: number } = {},
): Effects {
  const header = headerOf(cluster, name, more.index);
  const compactableTo = asIndex(more.compactableTo ?? header.boundary.index);
  return turn(cluster, name, { kind: "snapshotTaken", header, compactableTo });
}

/** What the runtime does: the bytes of each snapshot that are there, and what is to be done next. */
export interface Runtime {
  readonly stored: Map<string, number>;
  readonly work: (() => void)[];
  /** Chunks that are read, for tests that count. */
  readonly loads: number[];
  /** False leaves installs to the test. */
  installs: boolean;
  /** True once content came that was not good, so many times. */
  damaged: number;
}

export function withRuntime(cluster: Cluster): Runtime {
  const runtime: Runtime = { stored: new Map(), work: [], loads: [], installs: true, damaged: 0 };
  cluster.observe = (node) => {
    const name = nameOf(node.id);
    const { chunkLoads, chunks, install } = node.effects;
    for (const load of chunkLoads) {
      runtime.loads.push(load.offset);
      runtime.work.push(() =>
        turn(cluster, name, { kind: "chunkLoaded", load, data: new Uint8Array(load.bytes) }),
      );
    }
    for (const chunk of chunks) runtime.work.push(() => store(cluster, runtime, name, chunk));
    if (install !== undefined && runtime.installs)
      runtime.work.push(() => void installed(cluster, name, install));
  };
  return runtime;
}

function store(cluster: Cluster, runtime: Runtime, name: string, chunk: Effects["chunks"][number]): void {
  const { header, offset, data } = chunk.message;
  const key = `${name} ${header.boundary.index}`;
  let here = runtime.stored.get(key) ?? 0;
  if (offset === here) here += data.length;
  const isWhole = here === header.bytes;
  if (isWhole && runtime.damaged > 0) {
    runtime.damaged -= 1;
    here = 0;
  }
  runtime.stored.set(key, here);
  turn(cluster, name, { kind: "chunkStored", chunk, offset: here });
  if (here === header.bytes) turn(cluster, name, { kind: "snapshotReceived", header });
}

/** Disk and machine of `name` begin at the snapshot, and its core is told. */
export function installed(cluster: Cluster, name: string, header: SnapshotHeader): Effects {
  const node = nodeOf(cluster, name);
  const { index, term } = header.boundary;
  const source = [...cluster.nodes.values()].find(
    ({ id, disk }) => id !== node.id && disk.entries[index - 1]?.term === term,
  );
  if (source === undefined) throw new Error(`nobody has entry ${index} of term ${term}`);
  const rest = node.disk.entries[index - 1]?.term === term ? node.disk.entries.slice(index) : [];
  node.disk.entries = [...source.disk.entries.slice(0, index), ...rest];
  node.applied = node.disk.entries.slice(0, index);
  return turn(cluster, name, { kind: "snapshotInstalled", header });
}

/** Lets time pass, messages arrive, and the runtime do its work. */
export function run(cluster: Cluster, runtime: Runtime, ms: number): void {
  const end = cluster.nowMs + ms;
  do {
    workAll(cluster, runtime);
    advance(cluster, 1, 1);
  } while (cluster.nowMs < end);
  workAll(cluster, runtime);
}

function workAll(cluster: Cluster, runtime: Runtime): void {
  settle(cluster);
  for (let work = runtime.work.shift(); work !== undefined; work = runtime.work.shift()) {
    work();
    settle(cluster);
  }
}

export function chunk(
  term: number,
  header: SnapshotHeader,
  more: Partial<{ session: number; offset: number; bytes: number }> = {},
): Extract<Message, { kind: "snapshotChunk" }> {
  const { session = 1, offset = 0, bytes = 0 } = more;
  const data = new Uint8Array(bytes);
  return { kind: "snapshotChunk", term: asTerm(term), session, header, offset, data };
}

/** Chunks among what was sent, with content or without. */
export function chunksIn(
  flights: readonly Pick<Flight, "message">[],
): (readonly [offset: number, bytes: number])[] {
  return flights
    .map(({ message }) => message)
    .filter(isKind("snapshotChunk"))
    .map(({ offset, data }) => [offset, data.length]);
}
