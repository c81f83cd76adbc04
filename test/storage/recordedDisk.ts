/**
 * A disk whose every write is remembered, so that a test can put together what a crash or a damage would
 * have left: any prefix of the writes, a torn slot, any batches lost in between.
 */
import type { BatchOperation, BatchStore, Random, SlotFile } from "@quorate/raft";
import { MemoryBatchStore, MemorySlotFile, type SlotContents, slotBytes } from "@quorate/storage/internal";

export type DiskWrite =
  | { readonly kind: "batch"; readonly operations: readonly BatchOperation[] }
  | { readonly kind: "slot"; readonly slot: 0 | 1; readonly content: Uint8Array };

/** Where a disk is told what was written to it. */
export interface Stores {
  readonly batches: BatchStore;
  readonly slots: SlotFile;
}

export function recordWrites({ batches, slots }: Stores, record: (write: DiskWrite) => void): Stores {
  return {
    batches: {
      get: (key) => batches.get(key),
      range: (from, to, limit) => batches.range(from, to, limit),
      close: () => batches.close(),
      write: async (given) => {
        const operations = [...given];
        record({ kind: "batch", operations });
        await batches.write(operations);
      },
    },
    slots: {
      read: () => slots.read(),
      close: () => slots.close(),
      write: async (slot, content) => {
        record({ kind: "slot", slot, content: Uint8Array.from(content) });
        await slots.write(slot, content);
      },
    },
  };
}

/** What is on the disk after `writes`, where `isLost` tells of the n-th batch whether it vanished. */
export async function replay(
  writes: readonly DiskWrite[],
  isLost: (batch: number) => boolean = () => false,
): Promise<{ batches: MemoryBatchStore; slots: SlotContents }> {
  const batches = new MemoryBatchStore();
  const slots = new MemorySlotFile();
  let batch = 0;
  for (const write of writes) {
    if (write.kind === "slot") await slots.write(write.slot, write.content);
    else if (!isLost(batch++)) await batches.write(write.operations);
  }
  return { batches, slots: slots.contents() };
}

/** The half of a slot that a power cut let through: it verifies as nothing. */
export function tear(content: Uint8Array): Uint8Array {
  const torn = new Uint8Array(slotBytes).fill(0xee);
  torn.set(content.subarray(0, 40));
  return torn;
}

export function damageSlot(contents: SlotContents, slot: 0 | 1): SlotContents {
  if (contents === undefined) return undefined;
  const [zero, one] = contents;
  return slot === 0 ? [tear(zero), one] : [zero, tear(one)];
}

/** The same numbers in every run. */
export function countingRandom(start = 1): Random {
  let next = start;
  return { uint32: () => Math.imul(next++, 0x9e3779b1) >>> 0 };
}
