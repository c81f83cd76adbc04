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
  healMode: "keep",
  silenceMs: 5_000,
};

export type Fate =
  | { readonly kind: "lost" }
  | { readonly kind: "arrives"; readonly delaysMs: readonly number[] };

function pathKey(from: string, to: string): string {
  return `${from}>${to}`;
}

export class Paths {
  temper: WireTemper = calmWire;
  private readonly cuts = new Map<string, number>();
  private readonly extraLoss = new Map<string, number>();
  private readonly chance: Chance;
  private readonly healWatchers: ((from: string, to: string) => void)[] = [];

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
  }

  /** Heals the paths that both begin and end at one of `names`. */
  healAmong(names: ReadonlySet<string>): void {
    for (const key of [...this.cuts.keys(), ...this.extraLoss.keys()]) {
      const [from, to] = key.split(">") as [string, string];
      if (!names.has(from) || !names.has(to)) continue;
      this.extraLoss.delete(key);
      this.heal(from, to);
    }
  }

  /** Neither cut nor worse than the others. */
  isWhole(from: string, to: string): boolean {
    const key = pathKey(from, to);
    return !this.cuts.has(key) && !this.extraLoss.has(key);
  }

  get cutCount(): number {
    return this.cuts.size;
  }

  atHeal(watcher: (from: string, to: string) => void): void {
    this.healWatchers.push(watcher);
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

  fate(from: string, to: string): Fate {
    const { loss, duplication, lateReplay } = this.temper;
    const extra = this.extraLoss.size === 0 ? 0 : (this.extraLoss.get(pathKey(from, to)) ?? 0);
    const isLost = this.chance.fraction() < Math.max(loss, extra);
    const isRepeated = this.chance.fraction() < duplication;
    const isReplayed = this.chance.fraction() < lateReplay;
    if (isLost) return { kind: "lost" };
    const delaysMs = [this.delayMs()];
    if (isRepeated) delaysMs.push(this.delayMs() + this.delayMs());
    if (isReplayed) delaysMs.push(1_000 + this.chance.below(29_000));
    return { kind: "arrives", delaysMs };
  }
}
