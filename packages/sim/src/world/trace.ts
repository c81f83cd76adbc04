/**
 * What happened, one line an event: all of it in a rolling hash, the last lines as text.
 *
 * Two runs of one seed must give the same hash. Lines are for people; nothing reads them back.
 */
import type { RunObserver } from "../recording/runObserver.ts";
import { mixBytes, mixNumber, mixText } from "./chance.ts";
import type { Timeline } from "./timeline.ts";

export class Trace {
  /** Lines noted so far. */
  count = 0;
  /** Whoever records the run; it is shown what happens, and changes none of it. */
  observer: RunObserver | undefined;
  private hash = 0x811c9dc5;
  private readonly ring: string[] = [];
  private readonly kept: number;
  private readonly timeline: Timeline;
  private readonly listener: ((line: string) => void) | undefined;

  constructor(timeline: Timeline, kept: number, listener?: (line: string) => void) {
    this.timeline = timeline;
    this.kept = kept;
    this.listener = listener;
  }

  /** `who` is a node, a client or a part of the world. */
  note(who: string, what: string): void {
    this.hash = mixText(mixText(mixNumber(this.hash, this.timeline.nowMs * 8), who), what);
    const line = `${this.timeline.nowMs.toFixed(3).padStart(12)}  ${who.padEnd(4)} ${what}`;
    this.ring[this.count % this.kept] = line;
    this.count += 1;
    this.listener?.(line);
  }

  /** Bytes count for the hash without a line of their own. */
  absorb(bytes: Uint8Array): void {
    this.hash = mixBytes(this.hash, bytes);
  }

  hashText(): string {
    return mixNumber(this.hash, this.count).toString(16).padStart(8, "0");
  }

  lastLines(): readonly string[] {
    const from = this.count % this.kept;
    return [...this.ring.slice(this.count < this.kept ? this.count : from), ...this.ring.slice(0, from)];
  }
}
