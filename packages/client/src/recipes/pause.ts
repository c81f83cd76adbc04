/** Pauses of recipes, which end early with a signal. */
import type { Clock } from "@quorate/raft";

export function pauseFor(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(delayMs, end);
    signal?.addEventListener("abort", end, { once: true });
  });
}
