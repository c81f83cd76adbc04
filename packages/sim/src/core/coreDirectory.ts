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
  type Term,
  type TermRun,
} from "@quorate/raft";
import type { Chance } from "../world/chance.ts";
import type { OnlyFields } from "./onlyFields.ts";

type Placed = "sequence" | "truncateFrom" | "entries" | "term" | "vote" | "floor";

const origin: Boundary = { index: asIndex(0), term: asTerm(0) };

export class CoreDirectory {
  /** Called when a write begins. */
  onWrite: (() => void) | undefined;
  private readonly birth: Configuration;
  private readonly chance: Chance;
  private boot = 0;
  private term: Term = asTerm(0);
  private vote: MemberId | undefined;
  private floor: Floor | undefined;
  /** The entry at index i is at i - 1. */
  private readonly entries: Entry[] = [];
  private writing: Persist | undefined;

  constructor(birth: Configuration, chance: Chance) {
    this.birth = birth;
    this.chance = chance;
  }

  get hasWriteInFlight(): boolean {
    return this.writing !== undefined;
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

  /** The write under way is found at the next opening, or is not. */
  crash(): void {
    if (this.writing === undefined) return;
    if (this.chance.happens(0.5)) this.finish();
    else this.writing = undefined;
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

  /** Opens it, once more. */
  open(): RestoredState {
    this.boot += 1;
    const { term, vote, floor, boot, entries } = this;
    return {
      term,
      vote,
      floor,
      boundary: origin,
      snapshot: undefined,
      lastIndex: asIndex(entries.length),
      termRuns: termRuns(entries),
      configurations: configurations(this.birth, entries),
      boot,
    };
  }

  /** Entries `from`..`to` (inclusive), at most `maxBytes` of data but at least one. */
  read(from: Index, to: Index, maxBytes: number): readonly Entry[] {
    let end: number = from;
    let bytes = this.entries[from - 1]?.data.length ?? 0;
    while (end < to && end < this.entries.length) {
      bytes += (this.entries[end] as Entry).data.length;
      if (bytes > maxBytes) break;
      end += 1;
    }
    return this.entries.slice(from - 1, end);
  }

  private place(persist: OnlyFields<Persist, Placed>): void {
    const { truncateFrom, entries, term, vote, floor } = persist;
    if (truncateFrom !== undefined) this.entries.length = truncateFrom - 1;
    for (const entry of entries) this.entries.push(entry);
    this.term = term;
    this.vote = vote;
    this.floor = floor;
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

function configurations(birth: Configuration, entries: readonly Entry[]): readonly ConfigurationAt[] {
  const found: ConfigurationAt[] = [{ index: origin.index, configuration: birth }];
  for (const { kind, index, data } of entries) {
    if (kind !== "configuration") continue;
    const configuration = decodeConfiguration(data);
    if (configuration === undefined) throw new Error(`entry ${index} holds no configuration`);
    found.push({ index, configuration });
  }
  return found;
}
