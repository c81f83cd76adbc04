/**
 * What lies in the two stores when a directory is opened, gathered without a judgement and without a change.
 */
import { asIndex, type BatchStore, type SlotFile } from "@quorate/raft";
import { birthKey, entriesEnd, entryKey, firstKey, lastKey, recordKey, seenKey } from "./keys.ts";
import { decodeSlots, type Slots } from "./slot.ts";
import { decodeStateRecord, type StateRecord } from "./stateRecord.ts";

export interface Evidence {
  /** Undefined where there is no witness file; within it, undefined for a slot that does not verify. */
  readonly slots: Slots | undefined;
  /** The database's own record; undefined where it is missing or damaged. */
  readonly database: StateRecord | undefined;
  /** The database holds nothing at all. */
  readonly empty: boolean;
  readonly holdsEntries: boolean;
  /** As stored; not yet verified. */
  readonly birth: Uint8Array | undefined;
  readonly seen: Uint8Array | undefined;
}

export async function gatherEvidence(batches: BatchStore, slotFile: SlotFile): Promise<Evidence> {
  const slots = decodeSlots(await slotFile.read());
  const record = await batches.get(recordKey);
  const entries = await batches.range(entryKey(asIndex(0)), entriesEnd, 1);
  return {
    slots,
    database: record === undefined ? undefined : decodeStateRecord(record),
    empty: (await batches.range(firstKey, lastKey, 1)).length === 0,
    holdsEntries: entries.length > 0,
    birth: await batches.get(birthKey),
    seen: await batches.get(seenKey),
  };
}
