/**
 * Snapshot files on a real disk: one folder, which is made when the first snapshot is.
 *
 * A file that is being written is held open, so that a sync is one of everything that was appended to it.
 */
import { type FileHandle, mkdir, open, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { QuorateError, type SnapshotFile, type SnapshotFiles } from "@quorate/raft";
import { codeOf, syncDirectory } from "./durableFiles.ts";
import { filesIn } from "./layout.ts";

export class DiskSnapshotFiles implements SnapshotFiles {
  private readonly folder: string;
  private readonly handles: Map<string, FileHandle> = new Map();
  private closed = false;

  constructor(folder: string) {
    this.folder = folder;
  }

  async list(): Promise<readonly SnapshotFile[]> {
    const names = await filesIn(this.folder);
    return Promise.all(names.map(async (name) => ({ name, bytes: (await stat(this.path(name))).size })));
  }

  async create(name: string): Promise<void> {
    if (this.closed) throw new QuorateError("CLOSED", `The snapshot files in ${this.folder} are closed.`);
    await this.letGo(name);
    if ((await mkdir(this.folder, { recursive: true })) !== undefined) {
      await syncDirectory(dirname(this.folder));
    }
    this.handles.set(name, await open(this.path(name), "w"));
  }

  async append(name: string, bytes: Uint8Array): Promise<void> {
    const handle = this.handleOf(name);
    for (let from = 0; from < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, from);
      from += bytesWritten;
    }
  }

  async sync(name: string): Promise<void> {
    await this.handleOf(name).datasync();
  }

  async rename(from: string, to: string): Promise<void> {
    await this.letGo(from);
    await rename(this.path(from), this.path(to));
  }

  async remove(name: string): Promise<void> {
    await this.letGo(name);
    try {
      await unlink(this.path(name));
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }

  async syncNames(): Promise<void> {
    await syncDirectory(this.folder);
  }

  async read(name: string, offset: number, maxBytes: number): Promise<Uint8Array> {
    const handle = await open(this.path(name), "r");
    try {
      const bytes = Buffer.allocUnsafeSlow(maxBytes);
      let length = 0;
      while (length < maxBytes) {
        const { bytesRead } = await handle.read(bytes, length, maxBytes - length, offset + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return bytes.subarray(0, length);
    } finally {
      await handle.close();
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const name of [...this.handles.keys()]) await this.letGo(name);
  }

  private path(name: string): string {
    return join(this.folder, name);
  }

  private handleOf(name: string): FileHandle {
    const handle = this.handles.get(name);
    if (handle === undefined) throw new Error(`${this.path(name)} is not being written.`);
    return handle;
  }

  private async letGo(name: string): Promise<void> {
    const handle = this.handles.get(name);
    this.handles.delete(name);
    await handle?.close();
  }
}
