/**
 * What lies in the two stores when a directory is opened, gathered without a judgement and without a change.
 */
import { asIndex, type BatchStore, type SlotFile } from "@quorate/raft";
import { birthKey, entriesEnd, entryKey, firstKey, lastKey, recordKey, seenKey } from "./keys.ts";
import { decodeStateRecord, type StateRecord } from "./stateRecord.ts";

export type Slots = readonly [StateRecord | undefined, StateRecord | undefined];

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
  const slots = readSlots(await slotFile.read());
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

/** A record in the other slot than its own was misdirected, and does not count; at k = 0 both hold the same. */
export function readSlots(content: readonly [Uint8Array, Uint8Array] | undefined): Slots | undefined {
  if (content === undefined) return undefined;
  const [zero, one] = content.map(decodeStateRecord);
  return [inPlace(zero, 0) ? zero : undefined, inPlace(one, 1) ? one : undefined];
}

/** Which slot the witness of batch `k` goes to. */
export function slotOf(k: number): 0 | 1 {
  return k % 2 === 0 ? 0 : 1;
}

function inPlace(record: StateRecord | undefined, slot: 0 | 1): boolean {
  return record !== undefined && (record.k === 0 || slotOf(record.k) === slot);
}
