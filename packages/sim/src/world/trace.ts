/**
 * What happened, one line an event: all of it in a rolling hash, the last lines for people.
 *
 * Two runs of one seed must give the same hash. The words of a line are made when somebody reads them, which is hardly
 * ever: making them for every event would take longer than the events. Nothing reads lines back.
 */
import type { RunObserver } from "../recording/runObserver.ts";
import { mixBytes, mixName, mixNumber, mixText } from "./mix.ts";
import type { Timeline } from "./timeline.ts";

interface Noted {
  atMs: number;
  who: string;
  what: string | TraceLine;
}

/** A line that is kept as data, which must not change any more. */
export interface TraceLine {
  /** Mixes in everything that the words tell. */
  mix(hash: number): number;
  words(): string;
}

export class Trace {
  /** Lines noted so far. */
  count = 0;
  /** Whoever records the run; it is shown what happens, and changes none of it. */
  observer: RunObserver | undefined;
  private hash = 0x811c9dc5;
  /** The last lines, oldest first from `count % kept` on. Its places are used again: most lines nobody ever reads. */
  private readonly ring: Noted[] = [];
  private readonly kept: number;
  private readonly timeline: Timeline;
  private readonly listener: ((line: string) => void) | undefined;

  constructor(timeline: Timeline, kept: number, listener?: (line: string) => void) {
    this.timeline = timeline;
    this.kept = kept;
    this.listener = listener;
  }

  /** `who` is a node, a client or a part of the world. */
  note(who: string, what: string | TraceLine): void {
    const atMs = this.timeline.nowMs;
    const before = mixName(mixNumber(this.hash, atMs * 8), who);
    this.hash = typeof what === "string" ? mixText(before, what) : what.mix(before);
    if (this.kept > 0) this.keep(atMs, who, what);
    this.count += 1;
    this.listener?.(textOf({ atMs, who, what }));
  }

  private keep(atMs: number, who: string, what: string | TraceLine): void {
    const place = this.ring[this.count % this.kept];
    if (place === undefined) this.ring.push({ atMs, who, what });
    else {
      place.atMs = atMs;
      place.who = who;
      place.what = what;
    }
  }

  /** Bytes count for the hash without a line of their own. */
  absorb(bytes: Uint8Array): void {
    this.hash = mixBytes(this.hash, bytes);
  }

  hashText(): string {
    return (mixNumber(this.hash, this.count) >>> 0).toString(16).padStart(8, "0");
  }

  lastLines(): readonly string[] {
    const from = this.count % this.kept;
    const last = [
      ...this.ring.slice(this.count < this.kept ? this.count : from),
      ...this.ring.slice(0, from),
    ];
    return last.map(textOf);
  }
}

function textOf({ atMs, who, what }: Noted): string {
  const words = typeof what === "string" ? what : what.words();
  return `${atMs.toFixed(3).padStart(12)}  ${who.padEnd(4)} ${words}`;
}
