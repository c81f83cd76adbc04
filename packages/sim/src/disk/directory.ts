/**
 * A simulated data directory: what is durable in it, and what a crash, a power cut or decay does to that.
 *
 * It outlives processes. Batches become durable in order and whole; a batch that was being written when the crash
 * came may be there or not, and a slot that was being written may be old, new or torn. It must never lose what it
 * once reported durable, except by `rot`, `wipe` and `restore`, which are faults of their own.
 */
import type { BatchOperation } from "@quorate/raft";
import type { Chance } from "../world/chance.ts";
import { type FolderCopy, SimulatedFolder } from "./folder.ts";

export type Batch = readonly BatchOperation[];
export type Slots = readonly [Uint8Array, Uint8Array];

/** A whole copy of a directory, to be put back later. */
export interface DirectoryCopy {
  readonly batches: readonly Batch[];
  readonly slots: Slots | undefined;
  readonly snapshots: FolderCopy;
}

export interface SlotWrite {
  readonly slot: 0 | 1;
  readonly content: Uint8Array;
}

export const slotBytes = 4_096;

/** Far less than a sector, so that a record of a few hundred bytes has several. */
const pieceBytes = 32;

/** A slot's bytes are never written to once they are there: what is whole is taken as it is. */
function wholeSlot(content: Uint8Array): Uint8Array {
  if (content.length === slotBytes) return content;
  const slot = new Uint8Array(slotBytes);
  slot.set(content);
  return slot;
}

export class SimulatedDirectory {
  /** Called when a write begins. */
  onWrite: (() => void) | undefined;
  readonly snapshots: SimulatedFolder;
  private readonly chance: Chance;
  private batches: Batch[] = [];
  private slots: Slots | undefined;
  private batchesInFlight: Batch[] = [];
  private slotInFlight: SlotWrite | undefined;

  constructor(chance: Chance) {
    this.chance = chance;
    this.snapshots = new SimulatedFolder(chance);
  }

  get isEmpty(): boolean {
    return this.batches.length === 0 && this.slots === undefined;
  }

  get hasWriteInFlight(): boolean {
    return this.batchesInFlight.length > 0 || this.slotInFlight !== undefined;
  }

  get batchCount(): number {
    return this.batches.length;
  }

  durableBatches(): readonly Batch[] {
    return this.batches;
  }

  durableSlots(): Slots | undefined {
    return this.slots;
  }

  beginBatch(batch: Batch): void {
    this.batchesInFlight.push(batch);
    this.onWrite?.();
  }

  /** The oldest batch in flight is durable now. */
  finishBatch(): Batch {
    const batch = this.batchesInFlight.shift() as Batch;
    this.batches.push(batch);
    return batch;
  }

  /** The oldest batch in flight failed: it, and all after it, may be found at the next opening, or not. */
  failBatches(): void {
    this.settleBatches();
  }

  beginSlot(write: SlotWrite): void {
    this.slotInFlight = write;
    this.onWrite?.();
  }

  finishSlot(): void {
    const write = this.slotInFlight;
    if (write === undefined) return;
    this.slotInFlight = undefined;
    this.placeSlot(write.slot, wholeSlot(write.content));
  }

  /** What was not synced is lost, wholly or in part. */
  crash(): void {
    this.settleBatches();
    this.tearSlot();
    this.snapshots.crash();
  }

  copy(): DirectoryCopy {
    return { batches: [...this.batches], slots: this.slots, snapshots: this.snapshots.copy() };
  }

  restore(copy: DirectoryCopy): void {
    this.batches = [...copy.batches];
    this.slots = copy.slots;
    this.snapshots.restore(copy.snapshots);
  }

  wipe(): void {
    this.batches = [];
    this.slots = undefined;
    this.snapshots.wipe();
  }

  /** Loses the batches `from`..`to` (exclusive) in silence, as a damaged LevelDB log does at its next opening. */
  rot(from: number, to: number): void {
    this.batches.splice(from, to - from);
  }

  /** Flips one bit of a slot. */
  rotSlot(slot: 0 | 1, at: number): void {
    if (this.slots === undefined) return;
    const damaged = this.slots[slot].slice();
    damaged[at] = (damaged[at] as number) ^ 0x10;
    this.placeSlot(slot, damaged);
  }

  private settleBatches(): void {
    const survivors = this.chance.below(this.batchesInFlight.length + 1);
    this.batches.push(...this.batchesInFlight.slice(0, survivors));
    this.batchesInFlight = [];
  }

  private tearSlot(): void {
    const write = this.slotInFlight;
    if (write === undefined) return;
    this.slotInFlight = undefined;
    const kind = this.chance.below(5);
    if (kind === 0) return;
    const whole = wholeSlot(write.content);
    if (kind === 1) {
      this.placeSlot(write.slot, whole);
      return;
    }
    const old = this.slots?.[write.slot] ?? new Uint8Array(slotBytes);
    const torn = kind === 3 ? new Uint8Array(slotBytes) : old.slice();
    if (kind === 4) this.mixPieces(torn, whole, write.content.length);
    else torn.set(whole.subarray(0, this.chance.below(write.content.length + 1)));
    this.placeSlot(write.slot, torn);
  }

  /** The pieces of one write reach a disk in any order: some of them are new, some as they were. */
  private mixPieces(slot: Uint8Array, whole: Uint8Array, length: number): void {
    for (let at = 0; at < length; at += pieceBytes) {
      if (this.chance.happens(0.5)) slot.set(whole.subarray(at, at + pieceBytes), at);
    }
  }

  private placeSlot(slot: 0 | 1, content: Uint8Array): void {
    const other = this.slots?.[slot === 0 ? 1 : 0] ?? new Uint8Array(slotBytes);
    this.slots = slot === 0 ? [content, other] : [other, content];
  }
}
