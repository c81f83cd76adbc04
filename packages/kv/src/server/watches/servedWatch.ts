/**
 * One watch on a node: what it wants, how far it has been told, and how much of that its client has consumed.
 *
 *     starting ─► live ◄─► behind          live: told each revision as it is applied
 *                  └── both ─► ended       behind: waits for room, or is being told from the history
 *
 * Nothing is queued for it: what it has not been told is in the store's history, or was cut away, which it is told.
 */
import {
  changeBytes,
  type KeyRange,
  maxChangesBytes,
  maxChangesInResponse,
  passes,
  type ResponseBody,
  type WatchedChange,
  type WatchFilter,
  type WatchRequest,
  watchWindowBytes,
} from "@quorate/client/protocol";
import type { PairChange } from "../../machine/index.ts";

/** Where its responses go. */
export interface WatchSink {
  /** The connection has room for more than it has not sent yet. */
  readonly hasRoom: boolean;
  send(watch: number, body: ResponseBody): void;
  /** The watch is over, and its last response sent. */
  ended(watch: ServedWatch): void;
  /** It waits for room of the connection. */
  waits(): void;
}

export class ServedWatch {
  readonly id: number;
  readonly range: KeyRange;
  readonly sink: WatchSink;
  standing: "starting" | "live" | "behind" | "ended" = "starting";
  /** It has been told all revisions below. Of a live one: at least. */
  next: number;
  readonly #filter: WatchFilter;
  readonly #previous: boolean;
  #sentBytes = 0;
  #consumedBytes = 0;

  constructor(id: number, { range, from, filter, previous }: WatchRequest, sink: WatchSink) {
    this.id = id;
    this.range = range;
    this.next = from;
    this.sink = sink;
    this.#filter = filter;
    this.#previous = previous;
  }

  get hasRoom(): boolean {
    return this.#sentBytes - this.#consumedBytes < watchWindowBytes && this.sink.hasRoom;
  }

  /** Of all that was sent since it began; false where that is more than was sent, or less than was consumed before. */
  consumed(bytes: number): boolean {
    if (bytes > this.#sentBytes || bytes < this.#consumedBytes) return false;
    this.#consumedBytes = bytes;
    return true;
  }

  wants(change: PairChange): boolean {
    return passes(this.#filter, change.after === undefined);
  }

  /** What a revision changed of what it watches, whole; in parts where it is large. */
  tell(revision: number, changes: readonly PairChange[]): void {
    let part: WatchedChange[] = [];
    let partBytes = 0;
    for (const { key, before, after } of changes) {
      const change = { key, pair: after, previous: this.#previous ? before : undefined };
      const bytes = changeBytes(change);
      if (part.length > 0 && (partBytes + bytes > maxChangesBytes || part.length >= maxChangesInResponse)) {
        this.sink.send(this.id, { kind: "changed", revision, changes: part, more: true });
        part = [];
        partBytes = 0;
      }
      part.push(change);
      partBytes += bytes;
      this.#sentBytes += bytes;
    }
    this.sink.send(this.id, { kind: "changed", revision, changes: part, more: false });
    this.next = revision + 1;
  }

  end(body: ResponseBody): void {
    this.standing = "ended";
    this.sink.send(this.id, body);
    this.sink.ended(this);
  }
}
