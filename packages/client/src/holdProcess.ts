/**
 * Keeps this process alive while calls are under way. The clock's timers do not, and between two connections a call
 * may wait for nothing else: a script would end in the middle of its `await`.
 */
import type { Cancel } from "@quorate/raft";

const longestTimerMs = 0x7fff_ffff;

export function holdProcess(): Cancel {
  const timer = setInterval(() => {}, longestTimerMs);
  return () => clearInterval(timer);
}
