/**
 * Feeds committed entries to the state machine: each once, in order, in bounded portions, so that a long replay never
 * keeps heartbeats waiting. Entries come from memory where they are, from the log store otherwise.
 */
import { asIndex, type Entry, type Index } from "../core/types.ts";

export interface ApplierPorts {
  /** Entries in memory from `from` on, or undefined when they have to be read. */
  cached(from: Index, to: Index, maxBytes: number): readonly Entry[] | undefined;
  read(from: Index, to: Index, maxBytes: number): Promise<readonly Entry[]>;
  apply(entry: Entry): void;
  /** After each portion. */
  applied(upTo: Index): void;
  defer(fn: () => void): void;
  nowMs(): number;
  failed(error: unknown): void;
}

const portionBytes = 1_048_576;
const portionEntries = 2_000;
/** A portion ends with the entries that are applied when so much time has passed. */
const portionMs = 5;
/** Entries that are applied from one look at the clock to the next. */
const entriesPerLook = 16;

export class Applier {
  readonly #ports: ApplierPorts;
  #appliedIndex: Index;
  #target: Index;
  #running = false;
  #held = false;
  #stopped = false;
  /** Read, and not applied in its portion. */
  #rest: readonly Entry[] = [];

  constructor(boundary: Index, ports: ApplierPorts) {
    this.#ports = ports;
    this.#appliedIndex = boundary;
    this.#target = boundary;
  }

  get appliedIndex(): Index {
    return this.#appliedIndex;
  }

  advance(commitIndex: Index): void {
    this.#target = commitIndex;
    if (!this.#running) this.#continue();
  }

  /** A snapshot takes the place of the machine's state: nothing is applied until `resumeAt`. */
  hold(): void {
    this.#held = true;
  }

  resumeAt(boundary: Index): void {
    this.#held = false;
    this.#appliedIndex = boundary;
    this.#rest = [];
    this.#ports.applied(boundary);
    if (!this.#running) this.#continue();
  }

  stop(): void {
    this.#stopped = true;
  }

  #continue(): void {
    this.#running = false;
    if (this.#stopped || this.#held || this.#appliedIndex >= this.#target) return;
    const from = asIndex(this.#appliedIndex + 1);
    if (this.#rest[0]?.index === from) {
      this.#running = true;
      this.#take(this.#rest);
      return;
    }
    const to = asIndex(Math.min(this.#target, this.#appliedIndex + portionEntries));
    const cached = this.#ports.cached(from, to, portionBytes);
    this.#running = true;
    if (cached !== undefined) {
      this.#take(cached);
      return;
    }
    const before = this.#appliedIndex;
    this.#ports.read(from, to, portionBytes).then(
      (entries) => {
        // Meanwhile a snapshot may have taken the place of these entries.
        if (this.#held || this.#appliedIndex !== before) this.#continue();
        else this.#take(entries);
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #take(entries: readonly Entry[]): void {
    if (this.#stopped) return;
    try {
      this.#rest = entries.slice(this.#apply(entries));
      this.#ports.applied(this.#appliedIndex);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#appliedIndex >= this.#target) this.#running = false;
    else this.#ports.defer(() => this.#continue());
  }

  /** How many of them it applied. */
  #apply(entries: readonly Entry[]): number {
    const endMs = this.#ports.nowMs() + portionMs;
    let applied = 0;
    for (const entry of entries) {
      this.#ports.apply(entry);
      this.#appliedIndex = entry.index;
      applied += 1;
      if (applied % entriesPerLook === 0 && this.#ports.nowMs() >= endMs) break;
    }
    return applied;
  }

  #fail(error: unknown): void {
    this.#stopped = true;
    this.#ports.failed(error);
  }
}
