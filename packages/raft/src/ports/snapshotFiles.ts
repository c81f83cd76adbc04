/**
 * The files below the snapshot store. The simulator implements them with disks that misbehave; a directory implements
 * them for real.
 *
 * What a disk may do to them: bytes that were not synced, and names that were not, may be lost, whole or in part, when
 * the process or the machine dies; what is at rest may rot. Whoever reads them verifies.
 */

export interface SnapshotFile {
  /** `[A-Za-z0-9._-]`, at most 100 of them. */
  readonly name: string;
  readonly bytes: number;
}

export interface SnapshotFiles {
  /** What is there now, in any order. */
  list(): Promise<readonly SnapshotFile[]>;
  /** Makes an empty file of this name, in the place of one that may be there. */
  create(name: string): Promise<void>;
  /** Adds to the end of a file that `create` made. One at a time for each file; durable after `sync`. */
  append(name: string, bytes: Uint8Array): Promise<void>;
  /** Resolves when all that was appended is durable, the name excepted. */
  sync(name: string): Promise<void>;
  /** Replaces what has the name `to`, atomically; durable after `syncNames`. */
  rename(from: string, to: string): Promise<void>;
  /** Does nothing where there is no such file; durable after `syncNames`. */
  remove(name: string): Promise<void>;
  /** Resolves when every file made, renamed or removed before has its name, or has it no longer, durably. */
  syncNames(): Promise<void>;
  /** At most `maxBytes` from `offset` on: fewer only where the file ends. Rejects where there is no such file. */
  read(name: string, offset: number, maxBytes: number): Promise<Uint8Array>;
  close(): Promise<void>;
}
