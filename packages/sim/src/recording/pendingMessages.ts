/**
 * Which sent message an arriving one is. The wire carries bytes, so they are matched by what they say: the oldest one
 * of the same words on the same path that has not arrived; failing that, a repetition of the last.
 *
 * Bounded: of a path and words that were sent over and over, only the newest are waited for.
 */
const maxWaitingPerWords = 64;
const maxWords = 50_000;

interface Waiting {
  readonly rows: number[];
  newest: number;
}

export class PendingMessages {
  private readonly waiting = new Map<string, Waiting>();

  sent(words: string, row: number): void {
    const known = this.waiting.get(words);
    if (known === undefined) {
      if (this.waiting.size >= maxWords) this.waiting.delete(this.waiting.keys().next().value as string);
      this.waiting.set(words, { rows: [row], newest: row });
      return;
    }
    if (known.rows.length >= maxWaitingPerWords) known.rows.shift();
    known.rows.push(row);
    known.newest = row;
  }

  /** The row that has arrived, or of which this is one more arrival. Undefined: it was never seen leaving. */
  arrived(words: string): { readonly row: number; readonly isRepeated: boolean } | undefined {
    const known = this.waiting.get(words);
    if (known === undefined) return undefined;
    const row = known.rows.shift();
    return row === undefined ? { row: known.newest, isRepeated: true } : { row, isRepeated: false };
  }
}
