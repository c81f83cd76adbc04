/**
 * One write: the batch, then its witness, one after the other.
 *
 * Written side by side, the witness would be ahead of the batch at times, and a power cut then would make a
 * healthy node refuse. A witness goes to the slot that does not hold the newest good record, so tearing it
 * loses nothing.
 */
import type { BatchOperation, BatchStore, SlotFile } from "@quorate/raft";
import { recordKey } from "./keys.ts";
import { encodeSlot, slotOf } from "./slot.ts";
import { encodeStateRecord, type StateRecord } from "./stateRecord.ts";

export interface Stores {
  readonly batches: BatchStore;
  readonly slots: SlotFile;
}

/** Resolves when `operations` and `record` are durable and witnessed. */
export async function writeWitnessed(
  { batches, slots }: Stores,
  operations: readonly BatchOperation[],
  record: StateRecord,
): Promise<void> {
  const value = encodeStateRecord(record);
  await batches.write([...operations, { kind: "put", key: recordKey, value }]);
  await slots.write(slotOf(record.k), encodeSlot(value));
}

/** Makes up for a witness that a crash prevented. */
export async function writeWitness({ slots }: Stores, record: StateRecord): Promise<void> {
  await slots.write(slotOf(record.k), encodeSlot(encodeStateRecord(record)));
}
