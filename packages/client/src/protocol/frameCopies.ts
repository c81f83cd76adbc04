/**
 * Copies of byte strings that come out of one frame and outlive it. Small ones lie one after the other in arrays that
 * they share: with one of its own each costs more memory than it has bytes, and the garbage collector much of its time.
 */

/** One that is kept keeps no more than this of its neighbours. */
const sharedBytes = 65_536;
/** Larger ones have an array of their own. */
const maxSharedBytes: number = sharedBytes / 8;

export class FrameCopies {
  /** Bytes of the frame that were not copied yet, at most. */
  private left: number;
  private shared: Uint8Array = new Uint8Array(0);
  private used = 0;

  constructor(frameBytes: number) {
    this.left = frameBytes;
  }

  copyOf(bytes: Uint8Array): Uint8Array {
    const { length } = bytes;
    const copy = length > maxSharedBytes ? new Uint8Array(length) : this.reserve(length);
    copy.set(bytes);
    this.left -= length;
    return copy;
  }

  private reserve(length: number): Uint8Array {
    if (this.used + length > this.shared.length) {
      this.shared = new Uint8Array(Math.max(length, Math.min(sharedBytes, this.left)));
      this.used = 0;
    }
    this.used += length;
    return this.shared.subarray(this.used - length, this.used);
  }
}
