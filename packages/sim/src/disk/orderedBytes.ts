/**
 * Keys and values in byte order, in memory: what a batch store reads from.
 *
 * Keys are held as strings of one character a byte, whose `<` is byte order. Most keys come in ascending order (a log
 * grows at its end), so a sorted array does.
 */
import type { BatchOperation } from "@quorate/raft";

function textOf(key: Uint8Array): string {
  let text = "";
  for (let at = 0; at < key.length; at += 1) text += String.fromCharCode(key[at] as number);
  return text;
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export class OrderedBytes {
  private readonly values = new Map<string, Uint8Array>();
  private readonly keys: string[] = [];

  apply(batch: readonly BatchOperation[]): void {
    for (const operation of batch) {
      const key = textOf(operation.key);
      if (operation.kind === "put") {
        if (!this.values.has(key)) this.keys.splice(this.position(key), 0, key);
        this.values.set(key, operation.value);
      } else if (this.values.delete(key)) {
        this.keys.splice(this.position(key), 1);
      }
    }
  }

  /** A copy: what is on disk cannot be written to through what was read. */
  get(key: Uint8Array): Uint8Array | undefined {
    return this.values.get(textOf(key))?.slice();
  }

  range(from: Uint8Array, to: Uint8Array, limit: number): readonly (readonly [Uint8Array, Uint8Array])[] {
    const end = textOf(to);
    const found: (readonly [Uint8Array, Uint8Array])[] = [];
    for (let at = this.position(textOf(from)); at < this.keys.length && found.length < limit; at += 1) {
      const key = this.keys[at] as string;
      if (key >= end) break;
      found.push([bytesOf(key), (this.values.get(key) as Uint8Array).slice()]);
    }
    return found;
  }

  /** Where `key` is, or would be. */
  private position(key: string): number {
    let low = 0;
    let high = this.keys.length;
    if (high > 0 && (this.keys[high - 1] as string) < key) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
