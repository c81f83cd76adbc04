/** Nodes of the shipped runtime over memory ports and the real clock, for tests that look at whole nodes. */
import {
  type Clock,
  type Entry,
  type LogStore,
  type Network,
  type NodeId,
  type RaftNode,
  type RaftOptions,
  type Random,
  type Snapshotting,
  type StateMachine,
  startNode,
  systemClock,
  systemRandom,
} from "@quorate/raft";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import { createTransport, peerVersions } from "@quorate/transport/links";

export const clock: Clock = systemClock();
export const random: Random = systemRandom();

export interface Running {
  readonly node: RaftNode<number>;
  /** The commands in the order in which they were applied; each gives how many there are. */
  readonly applied: string[];
  stop(): Promise<void>;
}

export function addressOf(name: string): string {
  return `ws://127.0.0.1:${7_000 + name.charCodeAt(0)}`;
}

/** A new directory, in memory. */
export function openMemoryLog(name: string): Promise<LogStore> {
  const place = { batches: new MemoryBatchStore(), slots: new MemorySlotFile() };
  return openLog({ ...place, snapshots: new MemorySnapshotFiles(), nodeId: name as NodeId, random });
}

/** How a node differs from the others. */
interface NodeKind {
  /** The id of the cluster that it was added to. */
  readonly joins?: string;
  readonly options?: RaftOptions;
  /** Of the protocol between members. */
  readonly versions?: { readonly min: number; readonly max: number };
  /** Its log can be compacted. */
  readonly snapshotting?: boolean;
}

/** A snapshot of what was applied, as one piece of JSON. */
function saved(applied: string[]): Snapshotting {
  return {
    view() {
      const text = JSON.stringify(applied);
      return { chunks: () => [new TextEncoder().encode(text)] };
    },
    restore() {
      const decoder = new TextDecoder();
      let text = "";
      return {
        add(chunk) {
          text += decoder.decode(chunk, { stream: true });
        },
        finish() {
          applied.splice(0, applied.length, ...(JSON.parse(text) as string[]));
        },
      };
    },
  };
}

/** Starts the node of `log`; the command "poison" is more than its machine can take. */
export async function runNode(
  network: Network,
  log: LogStore,
  names: readonly string[],
  { joins, options = {}, versions = peerVersions, snapshotting = false }: NodeKind = {},
): Promise<Running> {
  const { nodeId } = log.identity;
  const transport = createTransport({ network, clock, random, versions });
  const listener = await network.listen(addressOf(nodeId), (hello) => transport.accept(hello));
  const applied: string[] = [];
  const machine: StateMachine<number> = {
    ...(snapshotting ? saved(applied) : {}),
    apply(entry: Entry): number {
      const text = new TextDecoder().decode(entry.data);
      if (text === "poison") throw new Error("cannot digest this");
      if (entry.kind === "command") applied.push(text);
      return applied.length;
    },
  };
  const node = startNode({
    nodeId,
    peers: Object.fromEntries(names.map((peer) => [peer, addressOf(peer)])),
    ...(joins === undefined ? {} : { joins }),
    address: addressOf(nodeId),
    log,
    transport,
    machine,
    clock,
    random,
    options,
  });
  const stop = async (): Promise<void> => {
    await node.close();
    await listener.close();
  };
  return { node, applied, stop };
}

/** Waits for what `probe` finds, for so long at most. */
export function untilWithin(deadlineMs: number): <T>(what: string, probe: () => T | undefined) => Promise<T> {
  return async (what, probe) => {
    const end = clock.nowMs() + deadlineMs;
    for (;;) {
      const found = probe();
      if (found !== undefined) return found;
      if (clock.nowMs() > end) throw new Error(`Not within ${deadlineMs} ms: ${what}`);
      await new Promise((resolve) => clock.after(5, () => resolve(undefined)));
    }
  };
}
