/**
 * Copies of byte strings that come out of one frame and outlive it. Small ones lie one after the other in arrays that
 * they share: with one of its own each costs more memory than it has bytes, and the garbage collector much of its time.
 */

/** One that is kept keeps no more than this of its neighbours. */
const sharedBytes = 65_536;
/** Larger ones have an array of their own. */
export const maxSharedBytes: number = sharedBytes / 8;

export class FrameCopies {
  /** Of small ones, that were not copied yet: an array has no room but for them, since nobody counts it as taken. */
  private left: number;
  private shared: Uint8Array = new Uint8Array(0);
  private used = 0;

  /** `smallBytes`: what all of them have together that are not larger than `maxSharedBytes`. */
  constructor(smallBytes: number) {
    this.left = smallBytes;
  }

  copyOf(bytes: Uint8Array): Uint8Array {
    const { length } = bytes;
    const copy = length > maxSharedBytes ? new Uint8Array(length) : this.reserve(length);
    copy.set(bytes);
    return copy;
  }

  private reserve(length: number): Uint8Array {
    if (this.used + length > this.shared.length) {
      this.shared = new Uint8Array(Math.max(length, Math.min(sharedBytes, this.left)));
      this.used = 0;
    }
    this.used += length;
    this.left -= length;
    return this.shared.subarray(this.used - length, this.used);
  }
}
