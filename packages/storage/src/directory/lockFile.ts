/**
 * `lock`: the process that has the directory open. For messages only: LevelDB's lock, which the kernel
 * drops when a process dies, is what decides, so that a file left behind by a SIGKILL never blocks a start.
 */
import { readdir, readlink, unlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { codeOf, readIfPresent } from "./durableFiles.ts";
import type { Layout } from "./layout.ts";

export async function writeLockFile({ lock }: Layout): Promise<void> {
  await writeFile(lock, `${process.pid}\n`);
}

export async function removeLockFile({ lock }: Layout): Promise<void> {
  try {
    await unlink(lock);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** The process that has the directory open, as far as can be told from outside. */
export async function holderOf(layout: Layout): Promise<number | undefined> {
  const text = (await readIfPresent(layout.lock))?.toString("latin1").trim();
  if (text === undefined || !/^[1-9][0-9]{0,9}$/.test(text)) return undefined;
  const pid = Number(text);
  return isAlive(pid) && (await mayHold(pid, layout)) ? pid : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** A process id may have been given to another program since: where /proc tells, it is asked. */
async function mayHold(pid: number, { log }: Layout): Promise<boolean> {
  const descriptors = `/proc/${pid}/fd`;
  const wanted = resolve(log, "LOCK");
  let names: readonly string[];
  try {
    names = await readdir(descriptors);
  } catch {
    return true; // no /proc, or another user's process: the file's word stands
  }
  for (const name of names) {
    const target = await readlink(join(descriptors, name)).catch(() => undefined);
    if (target === wanted) return true;
  }
  return false;
}
