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
  /** Revisions between what was cut away and `next`, when that was looked at last: less and less is too slow. */
  ground = 0;
  readonly #filter: WatchFilter;
  readonly #previous: boolean;
  /** Changes of the revision `next` that it has been told: the connection had no room for the others. */
  #toldOfNext = 0;
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

  /** Nobody consumes a part of a revision: the window is for whole ones. */
  get hasRoom(): boolean {
    const isOpen = this.#toldOfNext > 0 || this.#sentBytes - this.#consumedBytes < watchWindowBytes;
    return isOpen && this.sink.hasRoom;
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

  /**
   * What a revision changed of what it watches, in parts where it is large. False where the connection has no room for
   * all of them: told the same revision again, it goes on where it was.
   */
  tell(revision: number, changes: readonly PairChange[]): boolean {
    this.next = revision;
    let part: WatchedChange[] = [];
    let partBytes = 0;
    for (let at = this.#toldOfNext; at < changes.length; at += 1) {
      const { key, before, after } = changes[at] as PairChange;
      const change = { key, pair: after, previous: this.#previous ? before : undefined };
      const bytes = changeBytes(change);
      if (part.length > 0 && (partBytes + bytes > maxChangesBytes || part.length >= maxChangesInResponse)) {
        this.#send({ kind: "changed", revision, changes: part, more: true }, partBytes);
        this.#toldOfNext = at;
        if (!this.sink.hasRoom) return false;
        part = [];
        partBytes = 0;
      }
      part.push(change);
      partBytes += bytes;
    }
    this.#send({ kind: "changed", revision, changes: part, more: false }, partBytes);
    this.#toldOfNext = 0;
    this.next = revision + 1;
    return true;
  }

  #send(body: ResponseBody, bytes: number): void {
    this.#sentBytes += bytes;
    this.sink.send(this.id, body);
  }

  end(body: ResponseBody): void {
    this.standing = "ended";
    this.sink.send(this.id, body);
    this.sink.ended(this);
  }
}
