/**
 * A snapshot file while it grows, under another name than it will have: content is added and added up, and
 * at the end it is sealed: trailer, sync, its own name, names synced. Before that it is nothing, and the next opening
 * removes it.
 */
import { crc32 } from "node:zlib";
import type { SnapshotFiles } from "@quorate/raft";
import { type DescribedSnapshot, encodeTrailer, fileNameOf, preamble } from "./snapshotFile.ts";

/** Synced on the way as well: one sync of everything at the end would hold up the log's for as long. */
const syncBytes = 4 * 1024 * 1024;

export class PartialFile {
  private readonly files: SnapshotFiles;
  private readonly name: string;
  private unsynced = 0;
  private length = 0;
  private sum = 0;
  private failed = false;

  private constructor(files: SnapshotFiles, name: string) {
    this.files = files;
    this.name = name;
  }

  static async begin(files: SnapshotFiles, name: string): Promise<PartialFile> {
    await files.create(name);
    await files.append(name, preamble);
    return new PartialFile(files, name);
  }

  /** Bytes of content. */
  get bytes(): number {
    return this.length;
  }

  /** CRC-32 of the content. */
  get checksum(): number {
    return this.sum;
  }

  /** After a failure nobody knows what is in it. */
  get isBroken(): boolean {
    return this.failed;
  }

  async append(chunk: Uint8Array): Promise<void> {
    await this.trying(async () => {
      await this.files.append(this.name, chunk);
      this.length += chunk.length;
      this.sum = crc32(chunk, this.sum);
      this.unsynced += chunk.length;
      if (this.unsynced < syncBytes) return;
      await this.files.sync(this.name);
      this.unsynced = 0;
    });
  }

  /** Gives it its own name, which is the answer. */
  async seal(described: DescribedSnapshot, sealed: string = fileNameOf(described.header)): Promise<string> {
    await this.trying(async () => {
      await this.files.append(this.name, encodeTrailer(described));
      await this.files.sync(this.name);
      await this.files.rename(this.name, sealed);
      await this.files.syncNames();
    });
    return sealed;
  }

  async remove(): Promise<void> {
    this.failed = true;
    await this.files.remove(this.name);
  }

  private async trying(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }
}
