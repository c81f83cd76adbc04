/**
 * A state record in a slot of the witness: twice, in either half.
 *
 * A byte that flips then costs one copy and not the slot, and with it the node's voice. A write that was
 * torn between the copies leaves one of them new: its batch was durable before, so what it says is true.
 */
import { decodeStateRecord, type StateRecord } from "./stateRecord.ts";

export const slotBytes = 4096;
const copyBytes = slotBytes / 2;

export type Slots = readonly [StateRecord | undefined, StateRecord | undefined];

/** Which slot the witness of batch `k` goes to. */
export function slotOf(k: number): 0 | 1 {
  return k % 2 === 0 ? 0 : 1;
}

/** `bytes`: a state record, encoded. */
export function encodeSlot(bytes: Uint8Array): Uint8Array {
  if (bytes.length > copyBytes)
    throw new RangeError(`A state record of ${bytes.length} bytes fits in no slot.`);
  const slot = Buffer.alloc(slotBytes);
  slot.set(bytes, 0);
  slot.set(bytes, copyBytes);
  return slot;
}

/** Within, undefined for a slot that does not verify. */
export function decodeSlots(content: readonly [Uint8Array, Uint8Array] | undefined): Slots | undefined {
  return content && [decodeSlot(content[0], 0), decodeSlot(content[1], 1)];
}

function decodeSlot(content: Uint8Array, slot: 0 | 1): StateRecord | undefined {
  const copies = [
    decodeStateRecord(content.subarray(0, copyBytes)),
    decodeStateRecord(content.subarray(copyBytes)),
  ];
  const [one, other] = copies.map((record) => (inPlace(record, slot) ? record : undefined));
  if (one === undefined || other === undefined) return one ?? other;
  return one.k > other.k ? one : other;
}

/**
 * A record in the other slot than its own was misdirected, and does not count; at k = 0 both hold the same.
 */
function inPlace(record: StateRecord | undefined, slot: 0 | 1): boolean {
  return record !== undefined && (record.k === 0 || slotOf(record.k) === slot);
}
