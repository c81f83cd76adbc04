/**
 * How soon a link is tried again.
 *
 * Soon while a peer is merely not there, since a peer that comes back should be found at once; slowly where
 * it answered and refused us, since that takes an operator to change. Everything is jittered, so that nodes
 * which lost each other at the same moment do not meet in step.
 */
import type { Random } from "@quorate/raft";

export interface Pace {
  readonly dialTimeoutMs: number;
  /** The first delay; each further one is twice as long. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  readonly refusedRetryMs: number;
  /** A link that stood for less counts as one that never stood. */
  readonly stoodMs: number;
  /** Over this many bytes that the network has not taken yet, messages are dropped … */
  readonly maxBufferedBytes: number;
  /** … and after this long over it the link is closed. */
  readonly maxJamMs: number;
  /** How long `close` waits for the other sides' goodbyes. */
  readonly closeTimeoutMs: number;
}

export const defaultPace: Pace = {
  dialTimeoutMs: 2_000,
  retryMinMs: 20,
  retryMaxMs: 1_000,
  refusedRetryMs: 5_000,
  stoodMs: 1_000,
  maxBufferedBytes: 8 * 1024 * 1024,
  maxJamMs: 5_000,
  closeTimeoutMs: 2_000,
};

/**
 * The delay after `failures` attempts without a link (1 after the first): doubled each time, 50 to 100 % of
 * it.
 */
export function retryMs(pace: Pace, failures: number, random: Random): number {
  const fullMs = Math.min(pace.retryMaxMs, pace.retryMinMs * 2 ** Math.min(failures - 1, 30));
  return fullMs * (0.5 + fraction(random) / 2);
}

/** 75 to 125 % of the pace for refusals. */
export function refusedRetryMs(pace: Pace, random: Random): number {
  return pace.refusedRetryMs * (0.75 + fraction(random) / 2);
}

function fraction(random: Random): number {
  return random.uint32() / 0x1_0000_0000;
}
