/**
 * The batch store and the slot file of one start of a process, over a simulated directory.
 *
 * Writes take virtual time and may fail, for ever after the first failure. Reads see what is durable. After its
 * process died a store answers nothing: the promises of a dead process never settle.
 */
import type { BatchOperation, BatchStore, SlotFile } from "@quorate/raft";
import type { Chance } from "../world/chance.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Trace } from "../world/trace.ts";
import { type SimulatedDirectory, slotBytes } from "./directory.ts";
import { OrderedBytes } from "./orderedBytes.ts";

/** How a disk behaves now; the nemesis changes it while the simulation runs. */
export interface DiskTemper {
  meanLatencyMs: number;
  /** No write completes before this time. */
  hangsUntilMs: number;
  /** The next write fails, and with it all later ones of this start. */
  failsNext: boolean;
}

export interface DiskPorts {
  readonly batches: BatchStore;
  readonly slots: SlotFile;
}

export interface DiskWorld {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly chance: Chance;
}

export class InputOutputError extends Error {
  readonly code = "EIO";

  constructor(what: string) {
    super(`EIO: i/o error, ${what}`);
    this.name = "InputOutputError";
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
  const state = { isFailed: false };
  const fails = (): boolean => {
    if (temper.failsNext) {
      temper.failsNext = false;
      state.isFailed = true;
      world.trace.note(process.name, "disk: a write fails with EIO");
    }
    return state.isFailed;
  };
  const inOrder = (delayMs: number): number => {
    // Batches become durable in the order of their writing, however long each takes.
    lastDoneMs = Math.max(lastDoneMs, world.timeline.nowMs + delayMs);
    return lastDoneMs - world.timeline.nowMs;
  };
  return {
    batches: simulatedBatches(world, process, directory, {
      delayMs: () => inOrder(completionDelayMs()),
      fails,
    }),
    slots: simulatedSlots(world, process, directory, { delayMs: completionDelayMs, fails }),
  };
}

interface Behaviour {
  delayMs(): number;
  fails(): boolean;
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
  const answer = <T>(value: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      timeline.schedule(0.125, process, () => {
        if (closed) reject(new Error("the batch store is closed"));
        else resolve(value());
      });
    });
  return {
    write(operations: readonly BatchOperation[]): Promise<void> {
      return new Promise((resolve, reject) => {
        if (closed) {
          reject(new Error("the batch store is closed"));
          return;
        }
        directory.beginBatch(operations.map(copied));
        timeline.schedule(behaviour.delayMs(), undefined, () => {
          if (!process.isAlive) return;
          if (behaviour.fails()) {
            directory.failBatches();
            settle(world, process, () => reject(new InputOutputError("fdatasync of the log")));
            return;
          }
          view.apply(directory.finishBatch());
          settle(world, process, resolve);
        });
      });
    },
    get: (key) => answer(() => view.get(key)),
    range: (from, to, limit) => answer(() => view.range(from, to, limit)),
    close(): Promise<void> {
      return answer(() => {
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
        timeline.schedule(0.125, process, () => {
          const slots = directory.durableSlots();
          resolve(slots === undefined ? undefined : [slots[0].slice(), slots[1].slice()]);
        });
      }),
    write(slot, content): Promise<void> {
      return new Promise((resolve, reject) => {
        if (content.length > slotBytes)
          throw new Error(`a slot holds ${slotBytes} bytes, not ${content.length}`);
        if (isWriting) throw new Error("two slot writes at once");
        isWriting = true;
        directory.beginSlot({ slot, content: new Uint8Array(content) });
        timeline.schedule(behaviour.delayMs(), undefined, () => {
          if (!process.isAlive) return;
          const hasFailed = behaviour.fails();
          if (!hasFailed) directory.finishSlot();
          settle(world, process, () => {
            isWriting = false;
            if (hasFailed) reject(new InputOutputError("fdatasync of the witness"));
            else resolve();
          });
        });
      });
    },
    close: () => new Promise((resolve) => timeline.schedule(0, process, resolve)),
  };
}
