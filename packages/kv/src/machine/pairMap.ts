/**
 * The pairs by their keys: a copy-on-write index from key to place, and the slabs that the places are in, keys
 * included. A clone is O(1), but for a reference a slab.
 *
 * Slabs that are used badly are emptied as it is written to: each write looks at a few more of what such a slab holds,
 * and moves what is in use. So no more than a quarter of what is in use is held besides it, at no pause.
 */
import type { ByteString, StoredPair } from "@quorate/client/protocol";
import { KeyIndex } from "./keyIndex.ts";
import { compareKeyAt } from "./packedKey.ts";
import { modRevisionAt, packedBytesAt, packedKeyAt, unpackPair } from "./packedPair.ts";
import { PairSlabs } from "./pairSlabs.ts";

/** What may be held besides what is in use: that, and a quarter of it. */
const allowedBytes = 16_384;
/** Bytes of a slab that a write looks at, for each that it wrote; and at most. */
const scannedPerByte = 4;
const maxScanned = 32_768;

export class PairMap {
  private readonly slabs: PairSlabs;
  private readonly index: KeyIndex;
  /** The next place of the slab that is being emptied. */
  private emptying: number | undefined;

  /** The key that was looked for last, and where it is: a write looks for its key several times. */
  private lastKey: ByteString | undefined;
  private lastPlace: number | undefined;

  constructor(slabs: PairSlabs = new PairSlabs(), index: KeyIndex = new KeyIndex(slabs)) {
    this.slabs = slabs;
    this.index = index;
  }

  get size(): number {
    return this.index.size;
  }

  /** Both may be written to; neither sees what the other writes. */
  clone(): PairMap {
    const slabs = this.slabs.clone();
    return new PairMap(slabs, this.index.clone(slabs));
  }

  has(key: ByteString): boolean {
    return this.find(key) !== undefined;
  }

  get(key: ByteString): StoredPair | undefined {
    const place = this.find(key);
    return place === undefined
      ? undefined
      : unpackPair(this.slabs.slabAt(place), this.slabs.byteAt(place), key);
  }

  /** 0 where the key is absent. */
  modRevisionOf(key: ByteString): number {
    const place = this.find(key);
    return place === undefined ? 0 : modRevisionAt(this.slabs.slabAt(place), this.slabs.byteAt(place));
  }

  /** Copies the pair. */
  set(key: ByteString, pair: StoredPair): void {
    const before = this.find(key);
    const place = this.slabs.add(pair);
    this.index.put(key, place);
    this.lastPlace = place;
    if (before !== undefined) this.release(before);
    this.tidy(packedBytesAt(this.slabs.slabAt(place), this.slabs.byteAt(place)));
  }

  delete(key: ByteString): boolean {
    const before = this.find(key);
    if (before === undefined) return false;
    this.index.delete(key);
    this.lastPlace = undefined;
    this.tidy(this.release(before));
    return true;
  }

  /** `pairs` have ascending keys, all of them after the last key that is there. Copies them. */
  append(pairs: readonly StoredPair[]): void {
    this.lastKey = undefined;
    this.index.append(pairs.map((pair) => this.slabs.add(pair)));
  }

  /** From `first` on, as they are while the caller takes them: in one turn. */
  *pairs(first?: ByteString): Generator<StoredPair, void> {
    const cursor = this.index.from(first);
    for (let place = cursor.next(); place !== undefined; place = cursor.next()) yield this.pairAt(place);
  }

  /** All of them, once: slabs go as what is in them was taken. Of a clone that nobody uses in any other way. */
  *drain(): Generator<StoredPair, void> {
    const cursor = this.index.from();
    for (let place = cursor.next(); place !== undefined; place = cursor.next()) {
      yield this.pairAt(place);
      this.slabs.release(place);
    }
  }

  /** Those before `end`, the last first; in one turn. */
  *pairsBackwards(end?: ByteString): Generator<StoredPair, void> {
    const cursor = this.index.before(end);
    for (let place = cursor.next(); place !== undefined; place = cursor.next()) yield this.pairAt(place);
  }

  /**
   * How many keys there are from `from` on and before `to`, where there is one, but `most` at most: where there are
   * more, with the next of them. Makes no strings of those that it counts.
   */
  count(from: ByteString, to: ByteString | undefined, most: number): { count: number; next?: ByteString } {
    const cursor = this.index.from(from);
    let count = 0;
    for (let place = cursor.next(); place !== undefined; place = cursor.next()) {
      const isOver =
        to !== undefined && compareKeyAt(this.slabs.slabAt(place), this.slabs.byteAt(place), to) >= 0;
      if (isOver) break;
      if (count >= most) return { count, next: this.keyAt(place) };
      count += 1;
    }
    return { count };
  }

  /** Bytes of slabs that hold a pair, and all that are held. */
  get memory(): { readonly live: number; readonly held: number } {
    return { live: this.slabs.live, held: this.slabs.end };
  }

  /** Throws where its parts contradict each other: for tests, since it looks at all of them. */
  checkValid(): void {
    this.index.checkValid();
    let live = 0;
    const cursor = this.index.from();
    for (let place = cursor.next(); place !== undefined; place = cursor.next()) {
      live += packedBytesAt(this.slabs.slabAt(place), this.slabs.byteAt(place));
    }
    if (live !== this.slabs.live)
      throw new Error(`${live} bytes are in use, and ${this.slabs.live} counted.`);
  }

  private find(key: ByteString): number | undefined {
    if (key !== this.lastKey) {
      this.lastKey = key;
      this.lastPlace = this.index.find(key);
    }
    return this.lastPlace;
  }

  private keyAt(place: number): ByteString {
    return packedKeyAt(this.slabs.slabAt(place), this.slabs.byteAt(place));
  }

  private pairAt(place: number): StoredPair {
    return unpackPair(this.slabs.slabAt(place), this.slabs.byteAt(place), this.keyAt(place));
  }

  private release(place: number): number {
    const { emptying, slabs } = this;
    const isOfEmptied = emptying !== undefined && slabs.slabAt(place) === slabs.slabAt(emptying);
    const bytes = slabs.release(place);
    if (isOfEmptied && slabs.isGone(place)) this.emptying = undefined;
    return bytes;
  }

  /** Goes on with emptying a slab, by as much as `bytes` were written or freed. */
  private tidy(bytes: number): void {
    const { slabs } = this;
    if (this.emptying === undefined && slabs.end - slabs.live > slabs.live / 4 + allowedBytes) {
      this.emptying = slabs.emptiest();
    }
    let left = Math.min(maxScanned, scannedPerByte * bytes);
    while (this.emptying !== undefined && left > 0) left -= this.emptyNext(this.emptying);
  }

  /** How many bytes it looked at. */
  private emptyNext(place: number): number {
    const { slabs, index } = this;
    const slab = slabs.slabAt(place);
    const at = slabs.byteAt(place);
    const key = packedKeyAt(slab, at);
    this.emptying = slabs.after(place);
    if (index.find(key) === place) {
      const copy = slabs.copy(place);
      index.put(key, copy);
      if (this.lastPlace === place) this.lastPlace = copy;
      this.release(place);
    }
    return packedBytesAt(slab, at);
  }
}
