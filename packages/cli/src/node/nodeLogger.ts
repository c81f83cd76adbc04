/**
 * A node's log on standard error: pino's JSON lines, or lines for people on a terminal. pino is loaded by the first
 * line that is to be written, so that a quiet node starts without it. Must never stop or fail the node: a reader that
 * has gone or is slow costs log lines.
 */
import { createRequire } from "node:module";
import type { Logger } from "@quorate/raft";
import type { Logger as Pino, pino } from "pino";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export function isLogLevel(text: string): text is LogLevel {
  return (logLevels as readonly string[]).includes(text);
}

/** Bytes that wait for a slow reader at most; what comes then is dropped. */
const backlogBytesMax = 1024 * 1024;

export interface NodeLogger extends Logger {
  /** Writes what still waits. Called before the process ends. */
  flush(): void;
}

export function nodeLogger(level: LogLevel, nodeId: string): NodeLogger {
  let writer: { log: Pino; flush: () => void } | undefined;
  const threshold = logLevels.indexOf(level);
  const method = (name: "debug" | "info" | "warn" | "error"): Logger["info"] => {
    if (logLevels.indexOf(name) < threshold) return () => {};
    return (fields, message) => {
      writer ??= openWriter(level, nodeId);
      writer.log[name](fields, message);
    };
  };
  return {
    debug: method("debug"),
    info: method("info"),
    warn: method("warn"),
    error: method("error"),
    flush: () => writer?.flush(),
  };
}

function openWriter(level: LogLevel, nodeId: string): { log: Pino; flush: () => void } {
  const load = createRequire(import.meta.url);
  const makePino = load("pino") as typeof pino;
  const options = { level, base: { node: nodeId } };
  if (process.stderr.isTTY) {
    const pretty = load("pino-pretty") as typeof import("pino-pretty");
    const stream = pretty({
      destination: 2,
      sync: true,
      singleLine: true,
      ignore: "node",
      translateTime: "SYS:HH:MM:ss.l",
    });
    return { log: makePino(options, stream), flush: () => {} };
  }
  const destination = makePino.destination({ fd: 2, sync: false, maxLength: backlogBytesMax });
  destination.on("error", () => {});
  const flush = (): void => {
    try {
      destination.flushSync();
    } catch {
      // The reader of standard error has gone: nobody is left to be told.
    }
  };
  return { log: makePino(options, destination), flush };
}
