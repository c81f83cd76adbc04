/**
 * Entries that follow a position, encoded one by one as the batch that they go into takes them: a batch of megabytes
 * is neither made at once nor held besides its entries.
 */
import { type BatchOperation, type Entry, invariant } from "@quorate/raft";
import { encodeEntry } from "./entryRecord.ts";
import { entryKey } from "./keys.ts";
import type { Position } from "./stateRecord.ts";

export class EntryRun {
  /** Of the entries that were taken so far. */
  readonly positions: Position[] = [];
  private readonly entries: readonly Entry[];
  private end: Position;

  constructor(after: Position, entries: readonly Entry[]) {
    let { index } = after;
    for (const entry of entries) {
      invariant(entry.index === index + 1, "entries are consecutive", { after: index, index: entry.index });
      index = entry.index;
    }
    this.end = after;
    this.entries = entries;
  }

  /** Of the last entry that was taken. */
  get last(): Position {
    return this.end;
  }

  /** Once. */
  *operations(): Generator<BatchOperation, void> {
    for (const entry of this.entries) {
      const { index, term } = entry;
      const { bytes, chain } = encodeEntry(entry, this.end.chain);
      this.end = { index, term, chain };
      this.positions.push(this.end);
      yield { kind: "put", key: entryKey(index), value: bytes };
    }
  }
}
