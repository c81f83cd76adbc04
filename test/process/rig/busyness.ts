/**
 * How much more this machine is asked to do than it can, 1 where it can do everything. Bounds of time are stretched by
 * it: they are promises about Quorate on a machine that has time for it, and tests run on machines that are shared.
 */
import { availableParallelism, loadavg } from "node:os";

export function busyness(): number {
  const [lastMinute = 0] = loadavg();
  return Math.max(1, lastMinute / availableParallelism());
}
