/**
 * How many bytes a check may still take for what it remembers. Whoever takes asks before, and gives back when
 * done.
 *
 * It counts what grows with the search: configurations and states. What grows with the history alone is not
 * counted.
 */
export class MemoryBudget {
  private readonly limit: number;
  private taken = 0;
  private highest = 0;

  constructor(limitBytes: number) {
    this.limit = limitBytes;
  }

  /** False, and nothing taken, if that were above the limit. */
  take(bytes: number): boolean {
    if (this.taken + bytes > this.limit) return false;
    this.taken += bytes;
    this.highest = Math.max(this.highest, this.taken);
    return true;
  }

  give(bytes: number): void {
    this.taken -= bytes;
  }

  /** The most that was ever taken at one time. */
  get peakBytes(): number {
    return this.highest;
  }
}
