/**
 * The directed paths between hosts: which are cut, and how each delays, loses, repeats and reorders what it carries.
 *
 * Only the state of the wire; connections (connection.ts) ask it. A cut is silent: nobody is told.
 */
import type { Chance } from "../world/chance.ts";
import { quantised } from "../world/timeline.ts";

/** What heals with a path: what was on its way arrives late, is gone, or the connections break. */
export type HealMode = "keep" | "drop" | "reset";

/** How frames between nodes fare. Between clients and nodes only the delays hold: TCP hides the rest. */
export interface WireTemper {
  readonly minDelayMs: number;
  readonly meanDelayMs: number;
  readonly loss: number;
  readonly duplication: number;
  /** Chance that a frame is not held behind the one before it. 0: connections are first in, first out. */
  readonly reordering: number;
  /** Chance that a repeated frame comes 1 to 30 s later. */
  readonly lateReplay: number;
  /** Chance that a frame is kept back until the next one of its path has been sent, and comes right after that. */
  readonly swapping: number;
  /** Chance that bytes of a frame are flipped on the way, between clients and nodes too. */
  readonly corruption: number;
  readonly healMode: HealMode;
  /** A connection whose path has been cut for this long is found dead by both of its ends. */
  readonly silenceMs: number;
}

export const calmWire: WireTemper = {
  minDelayMs: 0.5,
  meanDelayMs: 0.5,
  loss: 0,
  duplication: 0,
  reordering: 0,
  lateReplay: 0,
  swapping: 0,
  corruption: 0,
  healMode: "keep",
  silenceMs: 5_000,
};

const never: readonly number[] = [];

function pathKey(from: string, to: string): string {
  return `${from}>${to}`;
}

export class Paths {
  temper: WireTemper = calmWire;
  private readonly cuts = new Map<string, number>();
  private readonly extraLoss = new Map<string, number>();
  /** What waits at the end of each clogged path, in order. */
  private readonly clogs = new Map<string, (() => void)[]>();
  private readonly chance: Chance;
  private readonly healWatchers: ((from: string, to: string) => void)[] = [];
  private readonly unclogWatchers: ((from: string, to: string) => void)[] = [];

  constructor(chance: Chance) {
    this.chance = chance;
  }

  isCut(from: string, to: string): boolean {
    return this.cuts.size > 0 && this.cuts.has(pathKey(from, to));
  }

  /** Since when the connection between two hosts has had a cut direction; undefined: it is whole. */
  cutSinceMs(one: string, other: string): number | undefined {
    const there = this.cuts.get(pathKey(one, other));
    const back = this.cuts.get(pathKey(other, one));
    if (there === undefined || back === undefined) return there ?? back;
    return Math.min(there, back);
  }

  cut(from: string, to: string, nowMs: number): void {
    const key = pathKey(from, to);
    if (from !== to && !this.cuts.has(key)) this.cuts.set(key, nowMs);
  }

  heal(from: string, to: string): void {
    if (!this.cuts.delete(pathKey(from, to))) return;
    for (const watcher of this.healWatchers) watcher(from, to);
  }

  healAll(): void {
    this.extraLoss.clear();
    for (const key of [...this.cuts.keys()]) {
      const [from, to] = key.split(">") as [string, string];
      this.heal(from, to);
    }
    for (const key of [...this.clogs.keys()]) {
      const [from, to] = key.split(">") as [string, string];
      this.unclog(from, to);
    }
  }

  /** Heals the paths that both begin and end at one of `names`. */
  healAmong(names: ReadonlySet<string>): void {
    for (const key of [...this.cuts.keys(), ...this.extraLoss.keys(), ...this.clogs.keys()]) {
      const [from, to] = key.split(">") as [string, string];
      if (!names.has(from) || !names.has(to)) continue;
      this.extraLoss.delete(key);
      this.heal(from, to);
      this.unclog(from, to);
    }
  }

  /** Neither cut nor clogged, nor worse than the others. */
  isWhole(from: string, to: string): boolean {
    const key = pathKey(from, to);
    return !this.cuts.has(key) && !this.extraLoss.has(key) && !this.clogs.has(key);
  }

  get cutCount(): number {
    return this.cuts.size;
  }

  atHeal(watcher: (from: string, to: string) => void): void {
    this.healWatchers.push(watcher);
  }

  /** From now on nothing comes out of the path, and nothing of it is lost. */
  clog(from: string, to: string): void {
    const key = pathKey(from, to);
    if (from !== to && !this.clogs.has(key)) this.clogs.set(key, []);
  }

  /** All that waited comes out, in order. */
  unclog(from: string, to: string): void {
    const key = pathKey(from, to);
    const waiting = this.clogs.get(key);
    if (waiting === undefined) return;
    this.clogs.delete(key);
    for (const run of waiting) run();
    for (const watcher of this.unclogWatchers) watcher(from, to);
  }

  isClogged(from: string, to: string): boolean {
    return this.clogs.size > 0 && this.clogs.has(pathKey(from, to));
  }

  /** Runs `run` when the path, which is clogged, carries again. */
  whenUnclogged(from: string, to: string, run: () => void): void {
    this.clogs.get(pathKey(from, to))?.push(run);
  }

  atUnclog(watcher: (from: string, to: string) => void): void {
    this.unclogWatchers.push(watcher);
  }

  /** One path that is worse than the others; 0 takes it back. */
  setExtraLoss(from: string, to: string, loss: number): void {
    if (loss === 0) this.extraLoss.delete(pathKey(from, to));
    else this.extraLoss.set(pathKey(from, to), loss);
  }

  delayMs(): number {
    return quantised(this.temper.minDelayMs + this.chance.exponential(this.temper.meanDelayMs));
  }

  /** Whether this frame overtakes those before it. */
  overtakes(): boolean {
    return this.temper.reordering > 0 && this.chance.happens(this.temper.reordering);
  }

  /** Whether this frame waits for the next one, to come after it. */
  swaps(): boolean {
    return this.temper.swapping > 0 && this.chance.happens(this.temper.swapping);
  }

  /** Whether this frame is damaged on the way, where no bytes of it are simulated. */
  damages(): boolean {
    return this.temper.corruption > 0 && this.chance.happens(this.temper.corruption);
  }

  /** The frame as it comes out, where it is damaged on the way; undefined: as it went in. */
  damaged(sealed: () => Uint8Array): Uint8Array | undefined {
    const { corruption } = this.temper;
    if (corruption === 0 || !this.chance.happens(corruption)) return undefined;
    const bytes = sealed();
    const first = this.chance.below(bytes.length);
    const end = Math.min(bytes.length, first + this.chance.between(1, 4));
    for (let at = first; at < end; at += 1) bytes[at] = (bytes[at] as number) ^ this.chance.between(1, 255);
    return bytes;
  }

  /** How long a frame takes, once for each time that it arrives; empty: it is lost. */
  delaysMs(from: string, to: string): readonly number[] {
    const { loss, duplication, lateReplay } = this.temper;
    const extra = this.extraLoss.size === 0 ? 0 : (this.extraLoss.get(pathKey(from, to)) ?? 0);
    const isLost = this.chance.fraction() < Math.max(loss, extra);
    const isRepeated = this.chance.fraction() < duplication;
    const isReplayed = this.chance.fraction() < lateReplay;
    if (isLost) return never;
    const delaysMs = [this.delayMs()];
    if (isRepeated) delaysMs.push(this.delayMs() + this.delayMs());
    if (isReplayed) delaysMs.push(1_000 + this.chance.below(29_000));
    return delaysMs;
  }
}
