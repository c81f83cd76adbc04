/**
 * Until when a holder may believe in its lease.
 *
 * A renewal that was sent at `s` and confirmed lets it until s + ttl × (1 − drift) − margin: the cluster, which counts
 * a whole TTL from when that renewal arrived, or later, on a clock that runs at most `drift` faster, ends the session
 * only after that. All times are `bootMs`, which also passes while the machine sleeps.
 */
import { type Clock, QuorateError } from "@quorate/raft";

/** How far the rates of two clocks may be apart. */
export const clockDrift = 0.02;

/** For the scheduling of this process; and what the clock itself may be behind. */
export function marginMs(ttlMs: number, { bootLagMs = 0 }: Pick<Clock, "bootLagMs">): number {
  return Math.max(50, 0.05 * ttlMs) + bootLagMs;
}

/** How long after its sending a confirmed renewal keeps the session, whatever the clocks do within their bound. */
export function certainMs(ttlMs: number, clock: Pick<Clock, "bootLagMs">): number {
  if (ttlMs === Number.POSITIVE_INFINITY) return ttlMs;
  return ttlMs * (1 - clockDrift) - marginMs(ttlMs, clock);
}

/** How long after its sending a confirmed renewal lets the holder believe. Throws where nothing would be left. */
export function allowanceMs(
  ttlMs: number,
  clock: Pick<Clock, "bootLagMs">,
  renewDeadlineMs: number = Number.POSITIVE_INFINITY,
): number {
  if (ttlMs === Number.POSITIVE_INFINITY) return ttlMs;
  const marginOfTtlMs = marginMs(ttlMs, clock);
  const allowance = ttlMs * (1 - clockDrift) - marginOfTtlMs;
  if (allowance >= ttlMs / 4) return Math.min(allowance, renewDeadlineMs);
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `A time to live of ${ttlMs} ms leaves its holder ${Math.floor(allowance)} ms after a renewal, less than a quarter: ` +
      `${Math.ceil(marginOfTtlMs)} ms go to the margin for this machine's clock. Take a longer one.`,
  );
}
