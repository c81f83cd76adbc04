/**
 * A cluster of three real node processes for as long as a demo: system-chosen ports, a temporary directory, ended and
 * removed with it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeSpecs } from "../cluster/clusterOptions.ts";
import { freePortBlock } from "../cluster/freePorts.ts";
import { startNodeProcess } from "../cluster/nodeProcess.ts";
import { Supervisor } from "../cluster/supervisor.ts";
import type { SupervisorEvent } from "../cluster/supervisorEvents.ts";
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { within } from "./within.ts";

const nodeCount = 3;
const readyMs = 30_000;

export interface LocalCluster {
  readonly endpoints: readonly string[];
  stop(): Promise<void>;
}

/** Rejects with a sentence where the cluster does not come up. */
export async function startLocalCluster(): Promise<LocalCluster> {
  const dataDir = mkdtempSync(join(tmpdir(), "quorate-demo-"));
  const basePort = await freePortBlock(nodeCount);
  let tell = (_event: SupervisorEvent): void => {};
  const ready = new Promise<readonly string[]>((resolve, reject) => {
    tell = (event) => {
      if (event.kind === "ready") resolve(event.endpoints);
      if (event.kind === "failed") reject(new CommandFailure(exitCodes.failed, event.message));
    };
  });
  const supervisor = new Supervisor({
    nodes: nodeSpecs(nodeCount, basePort, dataDir, "error"),
    dataDir,
    startNode: startNodeProcess,
    clock: { nowMs: () => performance.now(), after: afterDelay },
    report: (event) => tell(event),
  });
  const stop = async (): Promise<void> => {
    await supervisor.stop();
    await supervisor.finished;
    rmSync(dataDir, { recursive: true, force: true });
  };
  supervisor.start();
  try {
    return { endpoints: await within("the cluster is ready", ready, readyMs), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function afterDelay(delayMs: number, fn: () => void): () => void {
  const timer = setTimeout(fn, delayMs);
  return () => clearTimeout(timer);
}
