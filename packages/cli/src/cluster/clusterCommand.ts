/**
 * `quorate cluster`: a supervisor of real node processes on this machine. Checks what can be checked, starts the
 * nodes, and only then loads what shows them. Ends when no node is left.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GivenOptions } from "../arguments.ts";
import { type ClusterOptions, clusterOptions, defaultNodeCount, nodeSpecs } from "./clusterOptions.ts";
import { settleNodeCount } from "./clusterRecord.ts";
import { expectFreePorts } from "./freePorts.ts";
import { type NodeSpec, startNodeProcess } from "./nodeProcess.ts";
import { Supervisor } from "./supervisor.ts";
import type { SupervisorEvent } from "./supervisorEvents.ts";
import { lockDataDir } from "./supervisorLock.ts";

/** pnpm passes the terminal's Ctrl-C on, so that one comes twice: what follows this closely is the same. */
const sameSignalMs = 250;

export async function runCluster(given: GivenOptions): Promise<number> {
  const options = clusterOptions(given);
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "quorate-"));
  try {
    const count = settleNodeCount(dataDir, options.nodes ?? (options.dataDir ? undefined : defaultNodeCount));
    const lock = lockDataDir(dataDir);
    try {
      const specs = nodeSpecs(count, options.basePort, dataDir, options.logLevel);
      await expectFreePorts(
        specs.map((_, index) => options.basePort + index),
        lock.wasLeftBehind,
      );
      return await supervise(specs, dataDir, options);
    } finally {
      lock.release();
    }
  } finally {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  }
}

async function supervise(
  specs: readonly NodeSpec[],
  dataDir: string,
  options: ClusterOptions,
): Promise<number> {
  let report: ((event: SupervisorEvent) => void) | undefined;
  const waiting: SupervisorEvent[] = [];
  const supervisor = new Supervisor({
    nodes: specs,
    dataDir,
    startNode: startNodeProcess,
    clock: { nowMs: () => performance.now(), after: afterDelay },
    report: (event) => (report === undefined ? waiting.push(event) : report(event)),
  });
  supervisor.start();
  const forget = stopOnSignals(supervisor);
  try {
    report = await openReporter(options);
    for (const event of waiting) report(event);
    return await supervisor.finished;
  } finally {
    forget();
  }
}

function afterDelay(delayMs: number, fn: () => void): () => void {
  const timer = setTimeout(fn, delayMs);
  return () => clearTimeout(timer);
}

async function openReporter(options: ClusterOptions): Promise<(event: SupervisorEvent) => void> {
  if (options.json) return (await import("./jsonReporter.ts")).jsonReporter(process.stdout, process.stderr);
  const { lineReporter } = await import("./lineReporter.ts");
  const { outWriter, liveTable } = await import("./liveTable.ts");
  const isLive = options.table && process.stdout.isTTY === true;
  const out = isLive ? liveTable(process.stdout) : outWriter(process.stdout, process.stderr);
  return lineReporter(out, { cwd: process.cwd(), basePort: options.basePort });
}

function stopOnSignals(supervisor: Supervisor): () => void {
  let firstMs: number | undefined;
  const asked = (): void => {
    const nowMs = performance.now();
    if (firstMs === undefined) {
      firstMs = nowMs;
      void supervisor.stop();
    } else if (nowMs - firstMs > sameSignalMs) supervisor.stopAtOnce();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, asked);
  return () => {
    for (const signal of signals) process.off(signal, asked);
  };
}
