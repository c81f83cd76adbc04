/**
 * The snapshot files of a simulated directory: what a crash keeps of them, and what decay does to them.
 *
 * A file is bytes and a name. Of the bytes that were not synced a crash keeps a first part, and of the changes of names
 * that were not synced the first ones, in the order in which they were made, as file systems with a journal do.
 */
import type { SnapshotFile } from "@quorate/raft";
import type { Chance } from "../world/chance.ts";

/** The bytes of a file, whatever it is called. Pieces never change. */
interface Content {
  pieces: Uint8Array[];
  length: number;
  syncedLength: number;
}

type Names = Map<string, Content>;

type NameChange =
  | { readonly kind: "create"; readonly name: string; readonly content: Content }
  | { readonly kind: "rename"; readonly from: string; readonly to: string }
  | { readonly kind: "remove"; readonly name: string };

/** Names and bytes as they are on disk. */
export type FolderCopy = ReadonlyMap<string, Uint8Array>;

export class SimulatedFolder {
  private readonly chance: Chance;
  private names: Names = new Map();
  /** What a crash falls back to, and what was done since. */
  private durableNames: Names = new Map();
  private unsynced: NameChange[] = [];

  constructor(chance: Chance) {
    this.chance = chance;
  }

  get fileCount(): number {
    return this.durableNames.size;
  }

  list(): SnapshotFile[] {
    return [...this.names].map(([name, { length }]) => ({ name, bytes: length }));
  }

  create(name: string): void {
    this.change({ kind: "create", name, content: { pieces: [], length: 0, syncedLength: 0 } });
  }

  append(name: string, bytes: Uint8Array): void {
    const content = this.contentOf(name);
    content.pieces.push(bytes);
    content.length += bytes.length;
  }

  sync(name: string): void {
    const content = this.contentOf(name);
    content.syncedLength = content.length;
  }

  rename(from: string, to: string): void {
    this.contentOf(from);
    this.change({ kind: "rename", from, to });
  }

  remove(name: string): void {
    if (this.names.has(name)) this.change({ kind: "remove", name });
  }

  syncNames(): void {
    this.durableNames = new Map(this.names);
    this.unsynced = [];
  }

  /** A copy. */
  read(name: string, offset: number, maxBytes: number): Uint8Array {
    return wholeOf(this.contentOf(name)).slice(offset, offset + maxBytes);
  }

  crash(): void {
    const survivors = this.upTo(this.unsynced.length);
    for (const change of this.unsynced.slice(0, survivors)) apply(this.durableNames, change);
    this.unsynced = [];
    for (const content of this.durableNames.values()) this.cut(content);
    this.names = new Map(this.durableNames);
  }

  copy(): FolderCopy {
    return new Map(
      [...this.durableNames].map(([name, content]) => [
        name,
        wholeOf(content).slice(0, content.syncedLength),
      ]),
    );
  }

  restore(copy: FolderCopy): void {
    this.durableNames = new Map(
      [...copy].map(([name, bytes]) => [
        name,
        { pieces: [bytes], length: bytes.length, syncedLength: bytes.length },
      ]),
    );
    this.names = new Map(this.durableNames);
    this.unsynced = [];
  }

  wipe(): void {
    this.restore(new Map());
  }

  /** Flips a bit of one file: `which` and `at` are taken modulo how many there are. */
  rot(which: number, at: number): void {
    const contents = [...this.names.values()];
    flip(contents[which % Math.max(1, contents.length)], at);
  }

  /** Flips a bit of the file whose name comes last: of snapshots, the newest. */
  rotNewest(at: number): void {
    const names = [...this.names.keys()].filter((name) => !name.endsWith(".partial")).toSorted();
    flip(this.names.get(names.at(-1) ?? ""), at);
  }

  private change(change: NameChange): void {
    apply(this.names, change);
    this.unsynced.push(change);
  }

  private cut(content: Content): void {
    const kept = content.syncedLength + this.upTo(content.length - content.syncedLength);
    content.pieces = [wholeOf(content).slice(0, kept)];
    content.length = kept;
    content.syncedLength = kept;
  }

  /** From 0 to `most`: nothing is drawn where there is nothing to choose. */
  private upTo(most: number): number {
    return most === 0 ? 0 : this.chance.below(most + 1);
  }

  private contentOf(name: string): Content {
    const content = this.names.get(name);
    if (content === undefined) throw new Error(`ENOENT: there is no file ${name}`);
    return content;
  }
}

function flip(content: Content | undefined, at: number): void {
  if (content === undefined || content.length === 0) return;
  const damaged = wholeOf(content).slice();
  const place = at % damaged.length;
  damaged[place] = (damaged[place] as number) ^ 0x10;
  content.pieces = [damaged];
}

function apply(names: Names, change: NameChange): void {
  if (change.kind === "create") {
    names.set(change.name, change.content);
  } else if (change.kind === "remove") {
    names.delete(change.name);
  } else {
    const content = names.get(change.from);
    names.delete(change.from);
    if (content !== undefined) names.set(change.to, content);
  }
}

/** The bytes of a file as one piece, which it is from then on. */
function wholeOf(content: Content): Uint8Array {
  const [first] = content.pieces;
  if (content.pieces.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(content.length);
  let at = 0;
  for (const piece of content.pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  content.pieces = [whole];
  return whole;
}
