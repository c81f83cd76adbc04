/**
 * How the process of a node collects its garbage: often, in small pieces, and mostly on its own thread.
 *
 * Under load most of what a node has made is still under way when the young generation is full, and is copied: a small
 * one bounds that by 4 MiB. V8 would have helper threads copy with it, and waits for all of them; where nodes share few
 * processors, a helper may not get one for a tenth of a second. A service that embeds a node decides for itself.
 */
import { setFlagsFromString } from "node:v8";

const youngGeneration = "--max-semi-space-size";

/** For the start of the process: later is too late. Nothing where its user has decided. */
export function nodeExecArgv(nodeOptions: string | undefined): readonly string[] {
  return nodeOptions?.replaceAll("_", "-").includes(youngGeneration) ? [] : [`${youngGeneration}=4`];
}

/** Marking still goes on beside the node, on threads that nobody waits for. */
export const collectorFlags: readonly string[] = [
  "--no-parallel-scavenge",
  "--no-parallel-compaction",
  "--no-parallel-pointer-update",
  // The next collection of the young generation waits until a helper has freed what the one before found.
  "--no-concurrent-array-buffer-sweeping",
  // Arrays go with the objects that hold them, and weigh more than these: the heap may grow by 60 percent, not by 100.
  "--heap-growing-percent=60",
];

/** Of this process. Called first. */
export function collectOnOwnThread(): void {
  for (const flag of collectorFlags) setFlagsFromString(flag);
}
