/**
 * Files that are there whole, or not at all, after a power cut: written under another name, synced, then
 * given their name, and the directory synced.
 */
import { link, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";

export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces `path`. */
export async function writeDurably(path: string, content: Uint8Array): Promise<void> {
  const temporary = await writeTemporary(path, content);
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Makes `path`, or leaves alone what another process has put there first. */
export async function createDurably(path: string, content: Uint8Array): Promise<void> {
  const temporary = await writeTemporary(path, content);
  try {
    await link(temporary, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    await unlink(temporary);
  }
  await syncDirectory(dirname(path));
}

/** Undefined where there is no such file. */
export async function readIfPresent(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

async function writeTemporary(path: string, content: Uint8Array): Promise<string> {
  const temporary = `${path}.${process.pid}.tmp`;
  const handle = await open(temporary, "w");
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return temporary;
}
