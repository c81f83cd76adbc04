/**
 * `supervisor.lock` in a cluster's data directory: one supervisor at a time. Names the process that holds it, so that
 * the lock of one that was killed is told from that of a living one. The nodes' own locks guard the data; this one is
 * for a clear sentence before anything is started.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure, exitCodes } from "../exitCodes.ts";

export interface SupervisorLock {
  /** The last supervisor did not end by itself: its nodes may still be on their way out. */
  readonly wasLeftBehind: boolean;
  release(): void;
}

interface Holder {
  readonly pid: number;
  /** Tells a process from a later one with the same number; null where the system does not say. */
  readonly startedAt: string | null;
}

export function lockDataDir(dataDir: string): SupervisorLock {
  const path = join(dataDir, "supervisor.lock");
  const draft = `${path}.${process.pid}`;
  const own: Holder = { pid: process.pid, startedAt: startOf(process.pid) };
  writeFileSync(draft, JSON.stringify(own));
  try {
    for (let wasLeftBehind = false; ; wasLeftBehind = true) {
      if (linked(draft, path)) return { wasLeftBehind, release: () => rmSync(path, { force: true }) };
      const holder = readHolder(path);
      if (holder !== undefined && isAlive(holder)) throw inUse(dataDir, holder.pid);
      removeStale(path, holder);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A link appears with its content, and only if nothing has the name. */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Of several that find a stale lock, one removes it; the others must not remove that one's new lock. */
function removeStale(path: string, stale: Holder | undefined): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const moved = readHolder(aside);
  if (moved?.pid !== stale?.pid && moved !== undefined && isAlive(moved)) linked(aside, path);
  rmSync(aside, { force: true });
}

function readHolder(path: string): Holder | undefined {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<Holder>;
    if (!Number.isSafeInteger(value.pid) || Number(value.pid) <= 0) return undefined;
    return {
      pid: Number(value.pid),
      startedAt: typeof value.startedAt === "string" ? value.startedAt : null,
    };
  } catch {
    // Gone meanwhile, or no lock of ours: nobody living is known to hold it.
    return undefined;
  }
}

function isAlive({ pid, startedAt }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return startedAt === null || startOf(pid) === startedAt;
}

/** When a process started, in the kernel's ticks; null where unknown, and for one that only waits to be reaped. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, in parentheses, may hold anything; the state follows it, the start is 19 fields later.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function inUse(dataDir: string, pid: number): CommandFailure {
  return new CommandFailure(
    exitCodes.failed,
    `Another quorate cluster (process ${pid}) runs on ${dataDir}. Stop it first, or give this one another --data-dir.`,
  );
}
