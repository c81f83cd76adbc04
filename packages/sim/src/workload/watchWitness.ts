/**
 * What one watch was told, held against the order of the log: every write to its keys after the revision at which it
 * began, each once, in order; or an error that says what is missing.
 */
import type { History } from "../invariants/history.ts";
import type { StoreOracle } from "./oracle.ts";

export class WatchWitness {
  private readonly history: History;
  private readonly oracle: StoreOracle;
  readonly client: string;
  /** The one key that is watched; undefined: all of them. */
  readonly key: string | undefined;
  /** It has been told all up to this revision; undefined until it has begun. */
  private last: number | undefined;

  constructor(history: History, oracle: StoreOracle, client: string, key: string | undefined) {
    this.history = history;
    this.oracle = oracle;
    this.client = client;
    this.key = key;
  }

  /** It gives what comes after `revision`; `toldBefore` was known before it was asked for. */
  began(revision: number, toldBefore: number): void {
    this.require(
      revision >= toldBefore && revision <= this.oracle.revision,
      () => `begins after revision ${revision}, though ${toldBefore} was known before it was asked for`,
    );
    this.last = revision;
  }

  told(key: string, revision: number, serial: unknown): void {
    const written = this.oracle.writeAt(revision);
    this.require(
      written?.key === key && written.serial === serial,
      () =>
        `tells of write ${String(serial)} to ${key} at ${revision}, where ` +
        `${written === undefined ? "nothing" : `write ${written.serial} to ${written.key}`} is`,
    );
    const { last = revision } = this;
    this.require(revision > last, () => `tells of revision ${revision} after ${last}`);
    this.requireNothingBetween(last, revision - 1);
    this.last = revision;
  }

  progressed(revision: number): void {
    const { last = revision } = this;
    this.require(
      revision >= last && revision <= this.oracle.revision,
      () => `says that it has told everything up to ${revision}, after ${last}`,
    );
    this.requireNothingBetween(last, revision);
    this.last = revision;
  }

  /** It ended since history was cut away; another one begins anew. */
  compacted(floor: number): void {
    const { last = floor } = this;
    this.history.mark("watch told that history was cut away");
    this.require(
      floor > last && floor <= this.oracle.revision,
      () => `says that history before ${floor} was cut away, though it had been told up to ${last}`,
    );
    this.last = undefined;
  }

  get words(): string {
    const upTo = this.last === undefined ? "it has not begun" : `told up to ${this.last}`;
    return `${this.client}'s watch of ${this.key ?? "all keys"} (${upTo}, of ${this.oracle.revision})`;
  }

  /** It has begun, and nothing that was written is missing. */
  get isComplete(): boolean {
    return this.last !== undefined && this.firstBetween(this.last, this.oracle.revision) === undefined;
  }

  private requireNothingBetween(after: number, upTo: number): void {
    const missing = this.firstBetween(after, upTo);
    this.require(missing === undefined, () => `leaves out revision ${missing}, after ${after}`);
  }

  private firstBetween(after: number, upTo: number): number | undefined {
    for (let revision = after + 1; revision <= upTo; revision += 1) {
      const written = this.oracle.writeAt(revision);
      if (written !== undefined && (this.key ?? written.key) === written.key) return revision;
    }
    return undefined;
  }

  private require(holds: boolean, sentence: () => string): void {
    this.history.require(
      holds,
      "complete watches",
      () => `${this.client}'s watch of ${this.key ?? "all keys"} ${sentence()}`,
    );
  }
}
