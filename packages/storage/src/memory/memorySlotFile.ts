/** A slot file in memory. `contents()` is a snapshot from which another can be made, as after a restart. */
import { QuorateError, type SlotFile } from "@quorate/raft";
import { slotBytes } from "../log/slot.ts";

export type SlotContents = readonly [Uint8Array, Uint8Array] | undefined;

export class MemorySlotFile implements SlotFile {
  private slots: SlotContents;
  private closed = false;

  constructor(contents: SlotContents = undefined) {
    this.slots = contents;
  }

  /** Undefined until the first write. Slots are shared and never change. */
  contents(): SlotContents {
    return this.slots;
  }

  async read(): Promise<SlotContents> {
    this.assertOpen();
    return this.slots;
  }

  async write(slot: 0 | 1, content: Uint8Array): Promise<void> {
    this.assertOpen();
    if (content.length > slotBytes)
      throw new RangeError(`A slot holds ${slotBytes} bytes, not ${content.length}.`);
    const block = new Uint8Array(slotBytes);
    block.set(content);
    const [zero, one] = this.slots ?? [new Uint8Array(slotBytes), new Uint8Array(slotBytes)];
    this.slots = slot === 0 ? [block, one] : [zero, block];
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  private assertOpen(): void {
    if (this.closed) throw new QuorateError("CLOSED", "This slot file is closed.");
  }
}
