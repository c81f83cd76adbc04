/**
 * Snapshots as files of their own, outside of a data directory: what `quorate snapshot` saves, inspects and
 * restores. The same format as in a data directory.
 */
import { access } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { QuorateError, type SnapshotHeader } from "@quorate/raft";
import { DiskSnapshotFiles } from "../directory/diskSnapshotFiles.ts";
import type { Membership } from "../log/stateRecord.ts";
import { describe, isIntact } from "./findSnapshots.ts";
import { PartialFile } from "./partialFile.ts";
import { type DescribedSnapshot, preamble } from "./snapshotFile.ts";

const pieceBytes = 1_048_576;

/** What is known of a snapshot before its content is written. */
export type SnapshotFacts = Omit<SnapshotHeader, "bytes" | "checksum"> & {
  readonly membership: Membership;
};

/**
 * Writes `content` to `path`, durably, whole or not at all. Rejects `INVALID_ARGUMENT` where there is a file of that
 * name already.
 */
export async function writeSnapshotFile(
  path: string,
  facts: SnapshotFacts,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<SnapshotHeader> {
  const name = basename(path);
  if (await isThere(path)) {
    throw new QuorateError("INVALID_ARGUMENT", `${path} is there already; name a file that is not.`);
  }
  const files = new DiskSnapshotFiles(dirname(resolve(path)));
  const file = await PartialFile.begin(files, `${name}.${process.pid}.partial`);
  try {
    for await (const chunk of content) await file.append(chunk);
    const { membership, ...known } = facts;
    const header: SnapshotHeader = { ...known, bytes: file.bytes, checksum: file.checksum };
    await file.seal({ header, membership }, name);
    return header;
  } catch (error) {
    await file.remove();
    throw error;
  } finally {
    await files.close();
  }
}

/** Verifies all of it. Rejects `SNAPSHOT_DAMAGED` where it is none, or not what it was. */
export async function inspectSnapshotFile(path: string): Promise<DescribedSnapshot> {
  const name = basename(path);
  const files = new DiskSnapshotFiles(dirname(resolve(path)));
  const file = (await files.list()).find((one) => one.name === name);
  if (file === undefined) {
    throw new QuorateError("INVALID_ARGUMENT", `There is no file ${join(dirname(path), name)}.`);
  }
  const described = await describe(files, file);
  if (described === undefined) {
    throw new QuorateError("SNAPSHOT_DAMAGED", `${path} is no snapshot, or its end is missing or damaged.`);
  }
  if (await isIntact(files, { header: described.header, name })) return described;
  throw new QuorateError(
    "SNAPSHOT_DAMAGED",
    `${path} is damaged: its content is not what its checksum says. Take another one.`,
  );
}

/** The content of a file that was inspected. */
export async function* contentOfSnapshotFile(
  path: string,
  { bytes }: SnapshotHeader,
): AsyncIterable<Uint8Array> {
  const files = new DiskSnapshotFiles(dirname(resolve(path)));
  for (let offset = 0; offset < bytes; offset += pieceBytes) {
    const wanted = Math.min(pieceBytes, bytes - offset);
    yield await files.read(basename(path), preamble.length + offset, wanted);
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
