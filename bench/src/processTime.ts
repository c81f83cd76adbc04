/** How much processor time a process has used, from Linux's `/proc`. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** Seconds of user and system time since the process began. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command's name stands in brackets and may hold spaces; what follows it does not.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The share of one core, in per cent, that these processes used together over `seconds`. */
export async function shareOfOneCore(pids: readonly number[], seconds: number): Promise<number> {
  const before = pids.map(processorSeconds);
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const elapsed = (performance.now() - began) / 1_000;
  const used = pids.reduce((sum, pid, position) => sum + processorSeconds(pid) - (before[position] ?? 0), 0);
  return (100 * used) / elapsed;
}
