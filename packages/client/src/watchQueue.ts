/**
 * What a watch has received and its reader has not taken. The server's window bounds it, and each node has a window of
 * its own: so another one is asked only when there is room. Progress takes one place at most. It ends once, after what
 * it holds.
 */
import { watchWindowBytes } from "./protocol/index.ts";
import type { WatchEvent } from "./watching.ts";

export interface QueuedEvent {
  readonly event: WatchEvent;
  /** Counted against the window of this stream. */
  readonly bytes: number;
  readonly stream: number;
}

interface Waiter {
  readonly resolve: (result: IteratorResult<WatchEvent, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

export class WatchQueue {
  readonly #taken: (item: QueuedEvent) => void;
  #items: QueuedEvent[] = [];
  #at = 0;
  readonly #waiters: Waiter[] = [];
  #end: { readonly error: unknown } | undefined;
  #waitingBytes = 0;
  #giveRoom: () => void = () => {};

  constructor(taken: (item: QueuedEvent) => void) {
    this.#taken = taken;
  }

  get isAwaited(): boolean {
    return this.#waiters.length > 0;
  }

  /** Resolves when a whole window may come, or when it has ended. For one who waits. */
  room(): Promise<void> {
    if (this.#end !== undefined || this.#waitingBytes < watchWindowBytes) return Promise.resolve();
    return new Promise((resolve) => {
      this.#giveRoom = resolve;
    });
  }

  push(item: QueuedEvent): void {
    if (this.#end !== undefined) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      this.#taken(item);
      waiter.resolve({ done: false, value: item.event });
      return;
    }
    const isNewerProgress = item.event.kind === "progress" && this.#items.at(-1)?.event.kind === "progress";
    if (isNewerProgress && this.#at < this.#items.length) this.#items.pop();
    this.#items.push(item);
    this.#waitingBytes += item.bytes;
  }

  /** With an error, or undefined for a quiet end. What is queued is still given. */
  end(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#giveRoom();
    for (const waiter of this.#waiters.splice(0)) this.#give(waiter);
  }

  /** Nobody reads any more. */
  drop(): void {
    this.#items = [];
    this.#at = 0;
    this.#end = { error: undefined };
    this.#giveRoom();
    for (const waiter of this.#waiters.splice(0)) this.#give(waiter);
  }

  next(): Promise<IteratorResult<WatchEvent, undefined>> {
    return new Promise((resolve, reject) => this.#give({ resolve, reject }));
  }

  #give(waiter: Waiter): void {
    const item = this.#items[this.#at];
    if (item !== undefined) {
      this.#advance();
      this.#waitingBytes -= item.bytes;
      if (this.#waitingBytes < watchWindowBytes) this.#giveRoom();
      this.#taken(item);
      waiter.resolve({ done: false, value: item.event });
    } else if (this.#end === undefined) {
      this.#waiters.push(waiter);
    } else if (this.#end.error === undefined) {
      waiter.resolve({ done: true, value: undefined });
    } else {
      const { error } = this.#end;
      this.#end = { error: undefined };
      waiter.reject(error);
    }
  }

  #advance(): void {
    this.#at += 1;
    if (this.#at < 1_024 && this.#at < this.#items.length) return;
    this.#items = this.#items.slice(this.#at);
    this.#at = 0;
  }
}
