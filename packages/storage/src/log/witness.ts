/**
 * One write: the batch, then its witness, one after the other.
 *
 * Written side by side, the witness would be ahead of the batch at times, and a power cut then would make a
 * healthy node refuse. A witness goes to the slot that does not hold the newest good record, so tearing it
 * loses nothing.
 */
import { type BatchOperation, type BatchStore, invariant, type SlotFile } from "@quorate/raft";
import { recordKey } from "./keys.ts";
import { encodeSlot, slotOf } from "./slot.ts";
import { encodeStateRecord, type StateRecord } from "./stateRecord.ts";

export interface Stores {
  readonly batches: BatchStore;
  readonly slots: SlotFile;
}

/**
 * Resolves with the record when it and `operations` are durable and witnessed. The record is made when all operations
 * were taken.
 */
export async function writeWitnessed(
  { batches, slots }: Stores,
  operations: Iterable<BatchOperation>,
  recordOf: () => StateRecord,
): Promise<StateRecord> {
  let made = undefined as { readonly record: StateRecord; readonly value: Uint8Array } | undefined;
  function* all(): Generator<BatchOperation, void> {
    yield* operations;
    const record = recordOf();
    made = { record, value: encodeStateRecord(record) };
    yield { kind: "put", key: recordKey, value: made.value };
  }
  await batches.write(all());
  invariant(made !== undefined, "a batch store takes all operations of a batch");
  await slots.write(slotOf(made.record.k), encodeSlot(made.value));
  return made.record;
}

/** Makes up for a witness that a crash prevented. */
export async function writeWitness({ slots }: Stores, record: StateRecord): Promise<void> {
  await slots.write(slotOf(record.k), encodeSlot(encodeStateRecord(record)));
}
