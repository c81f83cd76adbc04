/**
 * The witness on a real disk: one file of 8,192 bytes, allocated once, whose two blocks are overwritten in
 * place.
 *
 * Each slot lies in a block of its own, so a write that a power cut tears never touches the other slot. A
 * failed sync is never tried again: the log above it stops for good.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { SlotFile } from "@quorate/raft";
import { slotBytes } from "../log/slot.ts";
import { codeOf, createDurably, readIfPresent } from "./durableFiles.ts";

export const slotFileBytes: number = 2 * slotBytes;

/**
 * Linux syncs within the write itself where the file was opened so: each write of the log spares one way to another
 * thread and back. Elsewhere that flag is missing, or means less than a sync does (macOS).
 */
const writesAreSynced = process.platform === "linux";
const openFlags: string | number = writesAreSynced ? constants.O_RDWR | constants.O_DSYNC : "r+";

export class DiskSlotFile implements SlotFile {
  private readonly path: string;
  private handle: FileHandle | undefined;

  constructor(path: string) {
    this.path = path;
  }

  async read(): Promise<readonly [Uint8Array, Uint8Array] | undefined> {
    const content = await readIfPresent(this.path);
    return content && slotsOf(content);
  }

  async write(slot: 0 | 1, content: Uint8Array): Promise<void> {
    if (content.length > slotBytes)
      throw new RangeError(`A slot holds ${slotBytes} bytes, not ${content.length}.`);
    this.handle ??= await openSlotFile(this.path);
    const block = Buffer.alloc(slotBytes);
    block.set(content);
    const { bytesWritten } = await this.handle.write(block, 0, slotBytes, slot * slotBytes);
    if (bytesWritten !== slotBytes)
      throw new Error(`${this.path}: ${bytesWritten} of ${slotBytes} bytes written`);
    if (!writesAreSynced) await this.handle.datasync();
  }

  async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    await handle?.close();
  }
}

/** A file that was cut short has zeros in the place of what is missing, which verify as nothing. */
export function slotsOf(content: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const whole = Buffer.alloc(slotFileBytes);
  whole.set(content.subarray(0, slotFileBytes));
  return [whole.subarray(0, slotBytes), whole.subarray(slotBytes)];
}

/** The two slots as the content of a new file. */
export function slotFileContent(zero: Uint8Array, one: Uint8Array): Uint8Array {
  const content = Buffer.alloc(slotFileBytes);
  content.set(zero, 0);
  content.set(one, slotBytes);
  return content;
}

async function openSlotFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, openFlags);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    await createDurably(path, Buffer.alloc(slotFileBytes));
    return await open(path, openFlags);
  }
}
