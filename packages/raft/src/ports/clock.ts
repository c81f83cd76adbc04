/** Time and its passing. Everything that waits, waits through this port, so that a simulator can own time. */

/** Cancels what was scheduled; harmless when it ran or was cancelled already. */
export type Cancel = () => void;

export interface Clock {
  /** Monotonic milliseconds from an arbitrary origin. Never falls. May stop while the machine is suspended. */
  nowMs(): number;
  /** Milliseconds that also pass during suspend, from an arbitrary origin. For leases and sessions. */
  bootMs(): number;
  /** How far `bootMs` may be behind the time that has really passed. Default: 0. */
  readonly bootLagMs?: number;
  /** Runs `fn` once, not before `delayMs` have passed. Does not keep a process alive by itself. */
  after(delayMs: number, fn: () => void): Cancel;
  /**
   * Runs `fn` once, after what has already arrived from the outside has been delivered (after the event loop's poll
   * phase). Gathers a turn's events into one batch.
   */
  defer(fn: () => void): void;
}
