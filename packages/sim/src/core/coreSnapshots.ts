/**
 * The snapshots on one core's disk: the contract of `SnapshotStore` without promises, and what a crash or decay does to
 * them.
 *
 * One that was finished is there for good; of one that was being received, a crash may leave any part.
 */
import type { SnapshotHeader } from "@quorate/raft";
import type { Chance } from "../world/chance.ts";
import { mixBytes } from "../world/mix.ts";

export interface KeptSnapshot {
  readonly header: SnapshotHeader;
  readonly content: Uint8Array;
}

interface Incoming {
  readonly header: SnapshotHeader;
  content: Uint8Array;
  /** Verified, and durable. */
  isWhole: boolean;
}

export function checksumOf(content: Uint8Array): number {
  return mixBytes(17, content) >>> 0;
}

export function isSameSnapshot(one: SnapshotHeader, other: SnapshotHeader): boolean {
  const { boundary, bytes, checksum } = other;
  return one.boundary.index === boundary.index && one.bytes === bytes && one.checksum === checksum;
}

function isGood({ header, content }: KeptSnapshot): boolean {
  return content.length === header.bytes && checksumOf(content) === header.checksum;
}

export class CoreSnapshots {
  /** Newest first. */
  kept: readonly KeptSnapshot[] = [];
  private incoming: Incoming | undefined;

  /** Nothing after it may be compacted. */
  get compactableTo(): SnapshotHeader["boundary"]["index"] | undefined {
    return this.kept[1]?.header.boundary.index;
  }

  /** What is damaged is not used. */
  open(): void {
    this.kept = this.kept.filter(isGood);
  }

  keep(snapshot: KeptSnapshot): void {
    const older = this.kept.find(({ header }) => header.boundary.index < snapshot.header.boundary.index);
    this.kept = older === undefined ? [snapshot] : [snapshot, older];
  }

  /** The log no longer reaches back to any other. */
  keepOnly(header: SnapshotHeader): void {
    this.kept = this.kept.filter((one) => one.header === header);
  }

  /** Undefined where it is kept no longer. */
  read(header: SnapshotHeader, offset: number, bytes: number): Uint8Array | undefined {
    const found = this.kept.find((one) => isSameSnapshot(one.header, header));
    return found?.content.slice(offset, offset + bytes);
  }

  /** Takes the chunk where it fits; the bytes of this snapshot that are here then. */
  receive(header: SnapshotHeader, offset: number, data: Uint8Array): number {
    if (this.incoming === undefined || !isSameSnapshot(this.incoming.header, header)) {
      this.incoming = { header, content: new Uint8Array(0), isWhole: false };
    }
    const { incoming } = this;
    if (offset === incoming.content.length) {
      const content = new Uint8Array(offset + data.length);
      content.set(incoming.content);
      content.set(data, offset);
      incoming.content = content;
    }
    return incoming.content.length;
  }

  /** All is here, and it is what it should be. Otherwise it has to come again. */
  isWhole(header: SnapshotHeader): boolean {
    const { incoming } = this;
    if (incoming === undefined || incoming.content.length < header.bytes) return false;
    incoming.isWhole = isGood(incoming);
    if (!incoming.isWhole) this.incoming = undefined;
    return incoming.isWhole;
  }

  /** What was received is the only one now: the log begins at it. */
  install(): SnapshotHeader {
    const { incoming } = this;
    if (!incoming?.isWhole) throw new Error("nothing was received that could be installed");
    this.incoming = undefined;
    this.kept = [incoming];
    return incoming.header;
  }

  crash(chance: Chance): void {
    const { incoming } = this;
    if (incoming !== undefined && !incoming.isWhole && chance.happens(0.5)) {
      incoming.content = incoming.content.slice(0, chance.below(incoming.content.length + 1));
    }
  }

  rotNewest(at: number): void {
    const [newest, ...rest] = this.kept;
    if (newest === undefined || newest.content.length === 0) return;
    const content = newest.content.slice();
    const place = at % content.length;
    content[place] = (content[place] as number) ^ 1;
    this.kept = [{ header: newest.header, content }, ...rest];
  }
}
