/** The open watches of one cluster object: bounded, and ended with it. */
import { QuorateError } from "@quorate/raft";
import type { KeySet } from "./cluster.ts";
import { rangeOf } from "./keySets.ts";
import { KeyWatch, type WatchPorts } from "./watch.ts";
import type { Watch, WatchEvent, WatchOptions } from "./watching.ts";

const maxWatches = 65_536;

export class Watches {
  readonly #ports: Omit<WatchPorts, "ended">;
  readonly #open: Set<KeyWatch> = new Set();
  #closedBecause: string | undefined;

  constructor(ports: Omit<WatchPorts, "ended">) {
    this.#ports = ports;
  }

  /** Throws `INVALID_ARGUMENT`, `CLOSED` or `OVERLOADED`; everything later is told to whoever reads it. */
  open(keys: KeySet, options: WatchOptions = {}): Watch<WatchEvent> {
    const { from = 0, prevKv = false, filter, progress = false, signal } = options;
    if (options.from !== undefined && !(Number.isSafeInteger(from) && from >= 1)) {
      throw new QuorateError(
        "INVALID_ARGUMENT",
        `A watch is from a revision, an integer from 1, not ${from}.`,
      );
    }
    if (filter !== undefined && filter !== "puts" && filter !== "deletes") {
      throw new QuorateError(
        "INVALID_ARGUMENT",
        `The filter of a watch is "puts" or "deletes", not ${String(filter)}.`,
      );
    }
    const range = rangeOf(keys);
    if (this.#closedBecause !== undefined) throw new QuorateError("CLOSED", this.#closedBecause);
    if (this.#open.size >= maxWatches) {
      throw new QuorateError("OVERLOADED", `${maxWatches} watches are open, which is the limit. End some.`, {
        retryable: true,
      });
    }
    const watch = new KeyWatch(
      { ...this.#ports, ended: (ended) => this.#open.delete(ended) },
      { range, from, previous: prevKv, filter: filter ?? "all", progress, signal },
    );
    if (!signal?.aborted) this.#open.add(watch);
    return watch;
  }

  close(reason: string): void {
    this.#closedBecause ??= reason;
    for (const watch of [...this.#open]) watch.finish(new QuorateError("CLOSED", reason));
  }
}
