/**
 * The batch store, the slot file and the snapshot files of one start of a process, over a simulated directory.
 *
 * Writes take virtual time and may fail, for ever after the first failure. Reads see what is durable. After its
 * process died a store answers nothing: the promises of a dead process never settle.
 */
import type { BatchOperation, BatchStore, SlotFile, SnapshotFiles } from "@quorate/raft";
import type { Chance } from "../world/chance.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Trace } from "../world/trace.ts";
import { type SimulatedDirectory, slotBytes } from "./directory.ts";
import { OrderedBytes } from "./orderedBytes.ts";
import { simulatedSnapshotFiles } from "./snapshotFiles.ts";

/** How a disk behaves now; the nemesis changes it while the simulation runs. */
export interface DiskTemper {
  meanLatencyMs: number;
  /** No write completes before this time. */
  hangsUntilMs: number;
  /** The next write fails, and with it all later ones of this start. */
  failsNext: boolean;
  /** Writes fail for want of space, and with the first one all later ones of this start. */
  isFull: boolean;
  /** A write of this start has failed: its node stops by that, if late, when the disk has long been well again. */
  hasFailed: boolean;
  /** Reads take this long in the mean, in place of next to nothing. */
  meanReadMs: number;
}

export function calmTemper(meanLatencyMs: number): DiskTemper {
  return { meanLatencyMs, hangsUntilMs: 0, failsNext: false, isFull: false, hasFailed: false, meanReadMs: 0 };
}

export interface DiskPorts {
  readonly batches: BatchStore;
  readonly slots: SlotFile;
  readonly snapshots: SnapshotFiles;
}

export interface DiskWorld {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly chance: Chance;
}

type DiskErrorCode = "EIO" | "ENOSPC";

const sentences: Readonly<Record<DiskErrorCode, string>> = {
  EIO: "i/o error",
  ENOSPC: "no space left on device",
};

export class DiskError extends Error {
  readonly code: DiskErrorCode;

  constructor(code: DiskErrorCode, what: string) {
    super(`${code}: ${sentences[code]}, ${what}`);
    this.name = "DiskError";
    this.code = code;
  }
}

/** Opens the directory for `process`; at the death of the process the directory loses what was not synced. */
export function openDirectory(
  world: DiskWorld,
  process: SimulatedProcess,
  directory: SimulatedDirectory,
  temper: DiskTemper,
): DiskPorts {
  process.atDeath(() => directory.crash());
  let lastDoneMs = 0;
  const completionDelayMs = (): number => {
    const { nowMs } = world.timeline;
    const latencyMs = 0.125 + world.chance.exponential(temper.meanLatencyMs);
    return Math.max(nowMs + latencyMs, temper.hangsUntilMs) - nowMs;
  };
  let failed: DiskErrorCode | undefined;
  const failure = (needsSpace: boolean): DiskErrorCode | undefined => {
    if (failed !== undefined) return failed;
    if (temper.isFull && needsSpace) failed = "ENOSPC";
    else if (temper.failsNext) failed = "EIO";
    temper.failsNext = false;
    if (failed !== undefined) {
      temper.hasFailed = true;
      world.trace.note(process.name, `disk: a write fails with ${failed}`);
    }
    return failed;
  };
  const readMs = (): number =>
    temper.meanReadMs === 0 ? 0.125 : 0.125 + world.chance.exponential(temper.meanReadMs);
  const inOrder = (delayMs: number): number => {
    // Batches become durable in the order of their writing, however long each takes.
    lastDoneMs = Math.max(lastDoneMs, world.timeline.nowMs + delayMs);
    return lastDoneMs - world.timeline.nowMs;
  };
  return {
    batches: simulatedBatches(world, process, directory, {
      delayMs: () => inOrder(completionDelayMs()),
      readMs,
      failure,
    }),
    slots: simulatedSlots(world, process, directory, { delayMs: completionDelayMs, readMs, failure }),
    snapshots: simulatedSnapshotFiles(world.timeline, process, directory.snapshots, {
      delayMs: completionDelayMs,
      readMs,
      failure: () => {
        const code = temper.isFull ? "ENOSPC" : failure(false);
        return code && new DiskError(code, "a snapshot file");
      },
    }),
  };
}

interface Behaviour {
  delayMs(): number;
  readMs(): number;
  /** How this write fails; `needsSpace`: it does not only overwrite. */
  failure(needsSpace: boolean): DiskErrorCode | undefined;
}

/** What the process of a port waits for that was killed when it called: never answered. */
function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** Settles a promise of `process` as an event of its own, so that a pause or a death comes between. */
function settle(world: DiskWorld, process: SimulatedProcess, run: () => void): void {
  world.timeline.schedule(0, process, run);
}

function simulatedBatches(
  world: DiskWorld,
  process: SimulatedProcess,
  directory: SimulatedDirectory,
  behaviour: Behaviour,
): BatchStore {
  const { timeline } = world;
  const view = new OrderedBytes();
  for (const batch of directory.durableBatches()) view.apply(batch);
  let closed = false;
  const answer = <T>(delayMs: number, value: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      process.interacts();
      timeline.schedule(delayMs, process, () => {
        if (closed) reject(new Error("the batch store is closed"));
        else resolve(value());
      });
    });
  return {
    write(operations: Iterable<BatchOperation>): Promise<void> {
      process.interacts();
      if (!process.isAlive) return never();
      return new Promise((resolve, reject) => {
        if (closed) {
          reject(new Error("the batch store is closed"));
          return;
        }
        directory.beginBatch(Array.from(operations, copied));
        timeline.schedule(behaviour.delayMs(), undefined, () => {
          if (!process.isAlive) return;
          const code = behaviour.failure(true);
          if (code !== undefined) {
            directory.failBatches();
            settle(world, process, () => reject(new DiskError(code, "fdatasync of the log")));
            return;
          }
          view.apply(directory.finishBatch());
          settle(world, process, resolve);
        });
        process.interacts();
      });
    },
    get: (key) => answer(behaviour.readMs(), () => view.get(key)),
    range: (from, to, limit) => answer(behaviour.readMs(), () => view.range(from, to, limit)),
    close(): Promise<void> {
      return answer(0.125, () => {
        closed = true;
      });
    },
  };
}

/**
 * A copy: a caller that writes to its buffers afterwards must not reach the disk. (`slice` would not do: that of a
 * Buffer is a view.)
 */
function copied(operation: BatchOperation): BatchOperation {
  return operation.kind === "delete"
    ? { kind: "delete", key: new Uint8Array(operation.key) }
    : { kind: "put", key: new Uint8Array(operation.key), value: new Uint8Array(operation.value) };
}

function simulatedSlots(
  world: DiskWorld,
  process: SimulatedProcess,
  directory: SimulatedDirectory,
  behaviour: Behaviour,
): SlotFile {
  const { timeline } = world;
  let isWriting = false;
  return {
    read: () =>
      new Promise((resolve) => {
        process.interacts();
        timeline.schedule(behaviour.readMs(), process, () => {
          const slots = directory.durableSlots();
          resolve(slots === undefined ? undefined : [slots[0].slice(), slots[1].slice()]);
        });
      }),
    write(slot, content): Promise<void> {
      process.interacts();
      if (!process.isAlive) return never();
      return new Promise((resolve, reject) => {
        if (content.length > slotBytes)
          throw new Error(`a slot holds ${slotBytes} bytes, not ${content.length}`);
        if (isWriting) throw new Error("two slot writes at once");
        isWriting = true;
        directory.beginSlot({ slot, content: new Uint8Array(content) });
        timeline.schedule(behaviour.delayMs(), undefined, () => {
          if (!process.isAlive) return;
          // What is there already is overwritten in place.
          const code = behaviour.failure(directory.durableSlots() === undefined);
          if (code === undefined) directory.finishSlot();
          settle(world, process, () => {
            isWriting = false;
            if (code === undefined) resolve();
            else reject(new DiskError(code, "fdatasync of the witness"));
          });
        });
        process.interacts();
      });
    },
    close: () => new Promise((resolve) => timeline.schedule(0, process, resolve)),
  };
}
