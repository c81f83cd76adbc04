/**
 * A node's operating system process: started in a group of its own, so that the terminal's Ctrl-C reaches the
 * supervisor alone, and tied to it by a channel whose end the node takes as its own.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { nodeExecArgv } from "../node/garbageCollection.ts";
import { nodeEnvironment } from "../node/memoryAllocation.ts";
import { type NodeMessage, supervisedVariable } from "../node/nodeMessages.ts";

export interface NodeSpec {
  readonly id: string;
  readonly endpoint: string;
  /** What follows `quorate` on its command line. */
  readonly args: readonly string[];
}

export interface NodeProcess {
  readonly pid: number | null;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

export interface NodeProcessHandlers {
  message(message: NodeMessage): void;
  /** A line of its standard error. */
  line(text: string): void;
  /** Called once, last. */
  exited(code: number | null, signal: string | null): void;
}

/** `args` are those after `quorate`. */
export type StartNode = (args: readonly string[], handlers: NodeProcessHandlers) => NodeProcess;

/** Characters of one line that are kept. */
const lineLengthMax = 16_384;

const command = fileURLToPath(new URL("../../bin/quorate.js", import.meta.url));

export const startNodeProcess: StartNode = (args, handlers) => {
  const child = spawn(process.execPath, [...nodeExecArgv(process.env.NODE_OPTIONS), command, ...args], {
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { ...nodeEnvironment(process.env), [supervisedVariable]: "1" },
  });
  let ended = false;
  const end = (code: number | null, signal: string | null): void => {
    if (ended) return;
    ended = true;
    handlers.exited(code, signal);
  };
  child.on("message", (message) => handlers.message(message as NodeMessage));
  child.on("error", (error) => {
    handlers.line(error.message);
    if (child.pid === undefined) end(null, null);
  });
  // "close" comes after the last line was read, "exit" may come before it.
  child.on("close", end);
  child.stderr?.setEncoding("utf8");
  child.stderr?.on("data", lineReader(handlers.line));
  return {
    pid: child.pid ?? null,
    kill(signal): void {
      child.kill(signal);
    },
  };
};

/** Cuts text into lines; a line that never ends is passed on in pieces. */
export function lineReader(line: (text: string) => void): (chunk: string) => void {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) if (text !== "") line(text.slice(0, lineLengthMax));
    if (rest.length < lineLengthMax) return;
    line(rest.slice(0, lineLengthMax));
    rest = "";
  };
}
