/** Virtual time for tests with thousands of timers: cancelling is cheap, and timers of one instant run together. */
import type { Cancel, Clock } from "@quorate/raft";
import { settle } from "../transport/world.ts";

export interface ManyTimers extends Clock {
  /** Lets time pass, from instant to instant, and everything happen in between. */
  pass(durationMs: number): Promise<void>;
  /** Time jumps, as for a process that stood still: all timers due meanwhile run at the end, before anything else. */
  stall(durationMs: number): void;
  /** The machine sleeps: only `bootMs` goes on. */
  sleep(durationMs: number): void;
  readonly timers: number;
}

interface Timer {
  readonly dueMs: number;
  readonly fn: () => void;
}

export function manyTimers(): ManyTimers {
  let nowMs = 1_000;
  let sleptMs = 0;
  const timers = new Set<Timer>();

  function runDue(): void {
    const due = [...timers].filter(({ dueMs }) => dueMs <= nowMs).sort((a, b) => a.dueMs - b.dueMs);
    for (const timer of due) if (timers.delete(timer)) timer.fn();
  }

  return {
    nowMs: () => nowMs,
    bootMs: () => nowMs + sleptMs,
    after(delayMs, fn): Cancel {
      const timer = { dueMs: nowMs + delayMs, fn };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    defer: (fn) => void setImmediate(fn),
    async pass(durationMs) {
      const endMs = nowMs + durationMs;
      await settle();
      for (;;) {
        let nextMs = Number.POSITIVE_INFINITY;
        for (const { dueMs } of timers) nextMs = Math.min(nextMs, dueMs);
        if (nextMs > endMs) break;
        nowMs = Math.max(nowMs, nextMs);
        runDue();
        await settle();
      }
      nowMs = endMs;
    },
    stall(durationMs) {
      nowMs += durationMs;
      runDue();
    },
    sleep(durationMs) {
      sleptMs += durationMs;
    },
    get timers() {
      return timers.size;
    },
  };
}
