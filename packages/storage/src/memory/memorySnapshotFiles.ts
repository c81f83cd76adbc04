/** Snapshot files in memory. `contents()` is a copy from which another can be made, as after a restart. */
import { QuorateError, type SnapshotFile, type SnapshotFiles } from "@quorate/raft";

export type SnapshotContents = ReadonlyMap<string, Uint8Array>;

export class MemorySnapshotFiles implements SnapshotFiles {
  /** Each file as the pieces that were appended. Pieces never change. */
  private readonly pieces: Map<string, Uint8Array[]> = new Map();
  private closed = false;

  constructor(contents: SnapshotContents = new Map()) {
    for (const [name, content] of contents) this.pieces.set(name, [content]);
  }

  contents(): SnapshotContents {
    return new Map([...this.pieces].map(([name, pieces]) => [name, Buffer.concat(pieces)]));
  }

  async list(): Promise<readonly SnapshotFile[]> {
    this.assertOpen();
    return [...this.pieces].map(([name, pieces]) => ({ name, bytes: lengthOf(pieces) }));
  }

  async create(name: string): Promise<void> {
    this.assertOpen();
    this.pieces.set(name, []);
  }

  async append(name: string, bytes: Uint8Array): Promise<void> {
    this.piecesOf(name).push(Uint8Array.from(bytes));
  }

  async sync(name: string): Promise<void> {
    this.piecesOf(name);
  }

  async rename(from: string, to: string): Promise<void> {
    const pieces = this.piecesOf(from);
    this.pieces.delete(from);
    this.pieces.set(to, pieces);
  }

  async remove(name: string): Promise<void> {
    this.assertOpen();
    this.pieces.delete(name);
  }

  async syncNames(): Promise<void> {
    this.assertOpen();
  }

  async read(name: string, offset: number, maxBytes: number): Promise<Uint8Array> {
    const pieces = this.piecesOf(name);
    const whole = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    if (pieces.length > 1) pieces.splice(0, pieces.length, whole);
    return Uint8Array.from(whole.subarray(offset, offset + maxBytes));
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  private piecesOf(name: string): Uint8Array[] {
    this.assertOpen();
    const pieces = this.pieces.get(name);
    if (pieces === undefined) throw new Error(`There is no file ${name}.`);
    return pieces;
  }

  private assertOpen(): void {
    if (this.closed) throw new QuorateError("CLOSED", "These snapshot files are closed.");
  }
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
