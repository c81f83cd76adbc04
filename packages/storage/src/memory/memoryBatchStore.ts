/**
 * A batch store in memory: for users' tests, for nodes that need no disk, and for the simulator.
 *
 * Atomic, durable in order, and as honest as a disk without faults: what is written is copied, and what is
 * read never aliases it. `contents()` is a snapshot from which another store can be made, as after a
 * restart.
 */
import { type BatchOperation, type BatchStore, QuorateError } from "@quorate/raft";

export type MemoryContents = readonly (readonly [Uint8Array, Uint8Array])[];

export class MemoryBatchStore implements BatchStore {
  /** Keys as strings of one character a byte, whose order is byte order; ascending. */
  private readonly keys: string[] = [];
  private readonly values: Map<string, Uint8Array> = new Map();
  private closed = false;

  constructor(contents: MemoryContents = []) {
    for (const [key, value] of contents) this.put(key, value);
  }

  /** All pairs, in key order. Values are shared and never change. */
  contents(): MemoryContents {
    return this.keys.map((key) => [bytesOf(key), this.values.get(key)!]);
  }

  async write(operations: Iterable<BatchOperation>): Promise<void> {
    this.assertOpen();
    for (const operation of [...operations]) {
      if (operation.kind === "put") this.put(operation.key, operation.value);
      else this.delete(operation.key);
    }
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.assertOpen();
    return this.values.get(textOf(key));
  }

  async range(from: Uint8Array, to: Uint8Array, limit: number): Promise<MemoryContents> {
    this.assertOpen();
    const end = this.placeOf(textOf(to));
    const start = this.placeOf(textOf(from));
    const keys = this.keys.slice(start, Math.min(end, start + limit));
    return keys.map((key) => [bytesOf(key), this.values.get(key)!]);
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  private put(key: Uint8Array, value: Uint8Array): void {
    const text = textOf(key);
    if (!this.values.has(text)) this.keys.splice(this.placeOf(text), 0, text);
    this.values.set(text, Uint8Array.from(value));
  }

  private delete(key: Uint8Array): void {
    const text = textOf(key);
    if (this.values.delete(text)) this.keys.splice(this.placeOf(text), 1);
  }

  /** The first place whose key is not below `key`. */
  private placeOf(key: string): number {
    let low = 0;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private assertOpen(): void {
    if (this.closed) throw new QuorateError("CLOSED", "This batch store is closed.");
  }
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}

function bytesOf(key: string): Uint8Array {
  return Buffer.from(key, "latin1");
}
