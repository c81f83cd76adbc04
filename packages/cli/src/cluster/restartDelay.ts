/** How long a crashed node waits for its next start: longer each time, never long. */

const firstDelayMs = 100;
const delayMaxMs = 5_000;

/** A node that ran this long before it crashed is started again as if for the first time. */
export const stableAfterMs = 10_000;

/** `attempt` counts from 1. */
export function restartDelayMs(attempt: number): number {
  return Math.min(delayMaxMs, firstDelayMs * 2 ** Math.min(attempt - 1, 16));
}
