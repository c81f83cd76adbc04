/** Whether a process still runs anything. */
import { readFileSync } from "node:fs";

/** A zombie, which nobody has fetched yet, runs nothing any more: what has lost its parent may stay one for long. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
