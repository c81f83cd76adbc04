/**
 * What one core has on its disk, and what a crash or decay does to that: the contract of `LogStore`, without bytes.
 *
 * It outlives processes. A write is atomic and becomes durable when `finish` says so; of one under way a crash leaves
 * all or nothing. It must never lose what it once reported durable, except by `rot`, which leaves a floor, as the log
 * store's witness does.
 */
import {
  asIndex,
  asTerm,
  type Boundary,
  type Configuration,
  type ConfigurationAt,
  decodeConfiguration,
  type Entry,
  type Floor,
  type Index,
  type MemberId,
  type Persist,
  type RestoredState,
  reachesFloor,
  type SnapshotHeader,
  type Term,
  type TermRun,
} from "@quorate/raft";
import type { Chance } from "../world/chance.ts";
import { CoreSnapshots } from "./coreSnapshots.ts";
import type { OnlyFields } from "./onlyFields.ts";

type Placed = "sequence" | "truncateFrom" | "entries" | "term" | "vote" | "floor";

const origin: Boundary = { index: asIndex(0), term: asTerm(0) };

export class CoreDirectory {
  readonly snapshots: CoreSnapshots = new CoreSnapshots();
  /** Called when a write begins. */
  onWrite: (() => void) | undefined;
  private readonly birth: Configuration;
  private readonly chance: Chance;
  private boot = 0;
  private term: Term = asTerm(0);
  private vote: MemberId | undefined;
  private floor: Floor | undefined;
  private boundary: Boundary = origin;
  /** The entry at index i is at i - 1 - boundary. */
  private entries: Entry[] = [];
  private writing: Persist | undefined;
  private installing: SnapshotHeader | undefined;

  constructor(birth: Configuration, chance: Chance) {
    this.birth = birth;
    this.chance = chance;
  }

  get hasWriteInFlight(): boolean {
    return this.writing !== undefined || this.installing !== undefined;
  }

  /** What `rot` counts: a batch holds one entry here. */
  get isEmpty(): boolean {
    return this.batchCount === 0;
  }

  get batchCount(): number {
    return this.entries.length;
  }

  begin(persist: Persist): void {
    this.writing = persist;
    this.onWrite?.();
  }

  /** The write under way is durable now. */
  finish(): void {
    const { writing } = this;
    if (writing === undefined) return;
    this.writing = undefined;
    this.place(writing);
  }

  beginInstall(header: SnapshotHeader): void {
    this.installing = header;
    this.onWrite?.();
  }

  /** The log begins at what was received. What follows is kept where it follows that. */
  finishInstall(): void {
    const { installing } = this;
    if (installing === undefined) return;
    this.installing = undefined;
    this.snapshots.install();
    const { boundary } = installing;
    const isHeld = this.entryAt(boundary.index)?.term === boundary.term;
    if (isHeld) this.compact(boundary.index);
    else this.entries = [];
    this.boundary = boundary;
  }

  compact(upTo: Index): void {
    const last = this.entryAt(upTo);
    if (last === undefined) return;
    this.entries = this.entries.slice(upTo - this.boundary.index);
    this.boundary = { index: upTo, term: last.term };
  }

  /** The write under way is found at the next opening, or is not. */
  crash(): void {
    this.snapshots.crash(this.chance);
    if (!this.hasWriteInFlight) return;
    if (this.chance.happens(0.5)) {
      this.finish();
      this.finishInstall();
    } else {
      this.writing = undefined;
      this.installing = undefined;
    }
  }

  /** The log from batch `from` on is gone, what comes after the gap included; the witness remembers what there was. */
  rot(from: number): void {
    const last = this.entries[this.entries.length - 1];
    if (last === undefined || from >= this.entries.length) return;
    const { floor } = this;
    if (floor === undefined || reachesFloor(floor, last.index, last.term)) {
      this.floor = { lastIndex: last.index, lastTerm: last.term };
    }
    this.entries.length = from;
  }

  /** Opens it, once more. A log that ends before the newest snapshot is that snapshot and nothing else. */
  open(): RestoredState {
    this.boot += 1;
    this.snapshots.open();
    const snapshot = this.snapshots.kept[0]?.header;
    if (snapshot !== undefined && this.lastIndex < snapshot.boundary.index) {
      this.entries = [];
      this.boundary = snapshot.boundary;
      this.snapshots.keepOnly(snapshot);
    }
    const { term, vote, floor, boot, boundary, entries } = this;
    return {
      term,
      vote,
      floor,
      boundary,
      snapshot,
      lastIndex: asIndex(this.lastIndex),
      termRuns: termRuns(entries),
      configurations: this.configurations(snapshot),
      boot,
    };
  }

  get boundaryIndex(): Index {
    return this.boundary.index;
  }

  /** Entries `from`..`to` (inclusive), at most `maxBytes` of data but at least one. */
  read(from: Index, to: Index, maxBytes: number): readonly Entry[] {
    const found: Entry[] = [];
    let bytes = 0;
    for (let index: number = from; index <= to; index += 1) {
      const entry = this.entryAt(index);
      if (entry === undefined) break;
      bytes += entry.data.length;
      if (found.length > 0 && bytes > maxBytes) break;
      found.push(entry);
    }
    return found;
  }

  private get lastIndex(): number {
    return this.boundary.index + this.entries.length;
  }

  private entryAt(index: number): Entry | undefined {
    return this.entries[index - 1 - this.boundary.index];
  }

  private place(persist: OnlyFields<Persist, Placed>): void {
    const { truncateFrom, entries, term, vote, floor } = persist;
    if (truncateFrom !== undefined) this.entries.length = truncateFrom - 1 - this.boundary.index;
    for (const entry of entries) this.entries.push(entry);
    this.term = term;
    this.vote = vote;
    this.floor = floor;
  }

  /** From the one in force at the snapshot's boundary, or at birth, on. */
  private configurations(snapshot: SnapshotHeader | undefined): readonly ConfigurationAt[] {
    const first = snapshot?.configuration ?? { index: origin.index, configuration: this.birth };
    const after = this.entries.filter(({ index }) => index > (snapshot?.boundary.index ?? origin.index));
    return [first, ...configurations(after)];
  }
}

function termRuns(entries: readonly Entry[]): readonly TermRun[] {
  const runs: TermRun[] = [];
  let term = -1;
  for (const entry of entries) {
    if (entry.term === term) continue;
    term = entry.term;
    runs.push({ firstIndex: entry.index, term: entry.term });
  }
  return runs;
}

function configurations(entries: readonly Entry[]): readonly ConfigurationAt[] {
  const found: ConfigurationAt[] = [];
  for (const { kind, index, data } of entries) {
    if (kind !== "configuration") continue;
    const configuration = decodeConfiguration(data);
    if (configuration === undefined) throw new Error(`entry ${index} holds no configuration`);
    found.push({ index, configuration });
  }
  return found;
}
