/**
 * Builds a history from its newest revision down, as snapshots hold it: in place, block by block, with nothing left to
 * be done at the end.
 */
import type { ByteString, StoredPair } from "@quorate/client/protocol";
import {
  addChange,
  type ChangeBlock,
  changeBytesAt,
  createBlock,
  maxBlockChanges,
  neededBytes,
  setNext,
} from "./changeBlock.ts";
import type { History } from "./history.ts";
import type { PairMap } from "./pairMap.ts";

/** Of the first change that comes after those that are built: there is room for all, on both sides. */
const firstNumber: number = 2 ** 52;

export interface ReplacedPair {
  readonly key: ByteString;
  readonly before: StoredPair | undefined;
}

export class HistoryBuilder {
  private readonly history: History;
  /** The present ones. */
  private readonly pairs: PairMap;
  /** Of each key, the number of the oldest change that is built; negative where the key was absent before it. */
  private readonly known: Map<ByteString, number> = new Map();
  /** Not built yet: the newest first. */
  private records: { readonly revision: number; readonly changes: readonly ReplacedPair[] }[] = [];
  private waiting = 0;
  /** The newest first. */
  private blocks: ChangeBlock[] = [];
  private next: number = firstNumber;

  constructor(history: History, pairs: PairMap) {
    this.history = history;
    this.pairs = pairs;
    history.nextChange = firstNumber;
  }

  /** Of a revision below all that were added. */
  add(revision: number, changes: readonly ReplacedPair[]): void {
    this.records.push({ revision, changes });
    this.waiting += changes.length;
    if (this.waiting >= maxBlockChanges) this.build();
  }

  finish(): void {
    this.build();
    this.history.blocks.unshift(...this.blocks.reverse());
    this.blocks = [];
  }

  private build(): void {
    if (this.waiting === 0) return;
    const { history, known } = this;
    this.next -= this.waiting;
    const changes = this.records.reverse().flatMap((record) => record.changes);
    const room = changes.reduce((sum, { key, before }) => sum + neededBytes(key, before), 0);
    const block = createBlock(this.next, room);
    const nexts = new Array<number | undefined>(changes.length);
    for (let at = changes.length - 1; at >= 0; at -= 1) {
      const { key, before } = changes[at] as ReplacedPair;
      nexts[at] = known.get(key);
      known.set(key, before === undefined ? -(this.next + at) : this.next + at);
    }
    let at = 0;
    for (const { revision, changes: ofRecord } of this.records) {
      for (const { key, before } of ofRecord) {
        const next = nexts[at];
        addChange(block, revision, key, before, next === undefined ? this.pairs.has(key) : next > 0);
        setNext(block, at, Math.abs(next ?? 0));
        history.bytes += changeBytesAt(block, at);
        at += 1;
      }
    }
    history.size += this.records.length;
    this.blocks.push(block);
    this.records = [];
    this.waiting = 0;
  }
}
