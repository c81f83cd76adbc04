/**
 * Keeps small values of a restored state together, a few kilobytes a piece: a million arrays with a buffer each cost
 * the garbage collector seconds. What is kept alive by one value is at most the rest of its piece.
 */

const slabBytes = 4_096;
/** Larger values have a buffer of their own. */
const maxSharedBytes = 1_024;

/** Gives a copy of the bytes, which nobody writes to. */
export type Keep = (bytes: Uint8Array) => Uint8Array;

export function createSlabs(): Keep {
  let slab = new Uint8Array(0);
  let at = 0;
  return (bytes) => {
    if (bytes.length > maxSharedBytes) {
      const own = new Uint8Array(bytes.length);
      own.set(bytes);
      return own;
    }
    if (at + bytes.length > slab.length) {
      slab = new Uint8Array(slabBytes);
      at = 0;
    }
    slab.set(bytes, at);
    at += bytes.length;
    return slab.subarray(at - bytes.length, at);
  };
}
