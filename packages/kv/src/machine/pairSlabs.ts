/**
 * The memory of the pairs: slabs that only grow at their end, each with a count of the bytes in it that are in use.
 *
 * A pair's place is one number. What is no longer in use stays where it is until its whole slab can go; nothing is
 * ever written over, so whoever looks at a slab may do so for as long as he likes. What a place means is this store's
 * own business: no result depends on it.
 */
import type { StoredPair } from "@quorate/client/protocol";
import { createSlab, packedBytes, packedBytesAt, packPair, type Slab } from "./packedPair.ts";

/** A place is `slab * placesOfSlab + byte / 8`. */
const maxSlabBytes = 1_048_576;
const placesOfSlab: number = maxSlabBytes / 8;
const minSlabBytes = 4_096;
/** Larger ones have a slab of their own. */
const maxSharedBytes: number = maxSlabBytes / 8;
/** Of a store that grows, the next slab has this part of what there is. */
const growthPart = 8;

interface Usage {
  /** Bytes up to its end, and those of them that are in use. */
  end: number;
  live: number;
}

export class PairSlabs {
  /** Bytes that are in use, and all up to the slabs' ends. */
  live = 0;
  end = 0;
  private slabs: (Slab | undefined)[] = [];
  private usage: Usage[] = [];
  /** Numbers of slabs that are gone. */
  private unused: number[] = [];
  /** The one that grows; -1: none. */
  private open = -1;

  /** O(1) but for a reference a slab. Both may be written to; neither sees what the other writes. */
  clone(): PairSlabs {
    const copy = new PairSlabs();
    copy.live = this.live;
    copy.end = this.end;
    copy.slabs = this.slabs.slice();
    copy.usage = this.usage.map((one) => ({ ...one }));
    copy.unused = this.unused.slice();
    return copy;
  }

  slabAt(place: number): Slab {
    return this.slabs[Math.floor(place / placesOfSlab)] as Slab;
  }

  byteAt(place: number): number {
    return (place % placesOfSlab) * 8;
  }

  add(pair: StoredPair): number {
    const bytes = packedBytes(pair.key, pair.value, pair.session);
    const place = this.reserve(bytes);
    packPair(this.slabAt(place), this.byteAt(place), pair);
    return place;
  }

  /** Another copy of what is there. */
  copy(place: number): number {
    const from = this.slabAt(place);
    const at = this.byteAt(place);
    const bytes = packedBytesAt(from, at);
    const to = this.reserve(bytes);
    this.slabAt(to).bytes.set(from.bytes.subarray(at, at + bytes), this.byteAt(to));
    return to;
  }

  /** What is there is no longer in use. Gives back how many bytes it had. */
  release(place: number): number {
    const id = Math.floor(place / placesOfSlab);
    const bytes = packedBytesAt(this.slabAt(place), this.byteAt(place));
    const usage = this.usage[id] as Usage;
    usage.live -= bytes;
    this.live -= bytes;
    if (usage.live === 0 && id !== this.open) this.drop(id);
    return bytes;
  }

  /** The whole slab that it was in is. */
  isGone(place: number): boolean {
    return this.slabs[Math.floor(place / placesOfSlab)] === undefined;
  }

  /** The next place of its slab, in use or not. */
  after(place: number): number | undefined {
    const id = Math.floor(place / placesOfSlab);
    const slab = this.slabs[id];
    if (slab === undefined) return undefined;
    const next = place + packedBytesAt(slab, this.byteAt(place)) / 8;
    return (next - id * placesOfSlab) * 8 < (this.usage[id]?.end ?? 0) ? next : undefined;
  }

  /** The first place of the slab that has the least in use of what it holds, the open one left out. */
  emptiest(): number | undefined {
    let found: number | undefined;
    let least = 1;
    for (let id = 0; id < this.slabs.length; id += 1) {
      const { end, live } = this.usage[id] as Usage;
      if (this.slabs[id] === undefined || id === this.open || live >= least * end) continue;
      least = live / end;
      found = id * placesOfSlab;
    }
    return found;
  }

  private reserve(bytes: number): number {
    const id = bytes > maxSharedBytes ? this.begin(bytes) : this.openFor(bytes);
    const usage = this.usage[id] as Usage;
    const at = usage.end;
    usage.end += bytes;
    usage.live += bytes;
    this.end += bytes;
    this.live += bytes;
    return id * placesOfSlab + at / 8;
  }

  private openFor(bytes: number): number {
    const { open } = this;
    if (open >= 0) {
      const room = (this.slabs[open] as Slab).bytes.length - (this.usage[open] as Usage).end;
      if (room >= bytes) return open;
      this.open = -1;
      if ((this.usage[open] as Usage).live === 0) this.drop(open);
    }
    const length = Math.min(maxSlabBytes, Math.max(minSlabBytes, this.live / growthPart, 8 * bytes));
    this.open = this.begin(Math.ceil(length / 8) * 8);
    return this.open;
  }

  private begin(length: number): number {
    const id = this.unused.pop() ?? this.slabs.length;
    this.slabs[id] = createSlab(length);
    this.usage[id] = { end: 0, live: 0 };
    return id;
  }

  private drop(id: number): void {
    this.end -= (this.usage[id] as Usage).end;
    this.slabs[id] = undefined;
    this.usage[id] = { end: 0, live: 0 };
    this.unused.push(id);
  }
}
