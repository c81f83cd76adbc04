/**
 * The real clock: performance.now() for order, and for leases a time that also passes while the machine
 * sleeps.
 *
 * Linux stops its monotonic time during suspend (nodejs/node#47724), the machine's uptime goes on. `bootMs`
 * therefore is max(monotonic, uptime − granularity): what uptime is ahead by, once it is more than its
 * granularity, was a suspend and is added for good. Must never read the wall clock: an operator or NTP may
 * set that back.
 */
import { existsSync } from "node:fs";
import { uptime } from "node:os";
import type { Cancel, Clock } from "../ports/clock.ts";

/** What a system clock is read from; tests give their own. */
export interface TimeSources {
  /** Milliseconds that never fall and may stop during suspend. */
  monotonicMs(): number;
  /** Milliseconds since the machine started, suspends included; undefined where no such source is known. */
  uptimeMs(): number | undefined;
  /** How far `uptimeMs` may be off, as a source of coarse steps. */
  readonly uptimeGranularityMs: number;
}

/** `/proc/uptime` counts in 10 ms; where it cannot be read, libuv falls back to whole seconds. */
function systemSources(): TimeSources {
  const isLinux = process.platform === "linux";
  return {
    monotonicMs: () => performance.now(),
    uptimeMs: () => (isLinux ? uptime() * 1_000 : undefined),
    uptimeGranularityMs: existsSync("/proc/uptime") ? 10 : 1_000,
  };
}

/**
 * A reader of `bootMs`: never falls, never behind `monotonicMs`, and behind real time by the granularity at
 * most.
 */
export function bootTime(sources: TimeSources): () => number {
  const startMs = sources.monotonicMs();
  const startUptimeMs = sources.uptimeMs();
  let suspendedMs = 0;
  return () => {
    // Monotonic time is read last: a pause between the two readings must not look like a suspend.
    const uptimeMs = sources.uptimeMs();
    const nowMs = sources.monotonicMs();
    if (startUptimeMs !== undefined && uptimeMs !== undefined) {
      const aheadMs = uptimeMs - startUptimeMs - sources.uptimeGranularityMs - (nowMs - startMs);
      if (aheadMs > suspendedMs) suspendedMs = aheadMs;
    }
    return nowMs + suspendedMs;
  };
}

const maxTimeoutMs = 0x7fff_ffff;

/** The clock of this process. Its timers do not keep the process alive. */
export function systemClock(sources: TimeSources = systemSources()): Clock {
  return {
    nowMs: () => sources.monotonicMs(),
    bootMs: bootTime(sources),
    bootLagMs: sources.uptimeGranularityMs,
    after(delayMs, fn): Cancel {
      const dueMs = sources.monotonicMs() + delayMs;
      let timer = arm(delayMs);
      // Node.js counts from the beginning of a loop's turn, so it may be early by what the turn has taken: 1 ms more
      // spares most timers a second wake-up. It knows no delay above 2^31 ms.
      function fire(): void {
        const leftMs = dueMs - sources.monotonicMs();
        if (leftMs > 0) timer = arm(leftMs);
        else fn();
      }
      function arm(leftMs: number): NodeJS.Timeout {
        return setTimeout(fire, Math.min(Math.ceil(leftMs) + 1, maxTimeoutMs)).unref();
      }
      return () => clearTimeout(timer);
    },
    defer(fn): void {
      setImmediate(fn);
    },
  };
}
