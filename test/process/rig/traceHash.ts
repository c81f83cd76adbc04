/** The trace hashes of a seed in a process of its own, by any Node.js and any of its options. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const script = fileURLToPath(new URL("./traceHash.js", import.meta.url));

export interface TraceRun {
  readonly seed: number;
  /** Default: the Node.js that runs this. */
  readonly node?: string;
  readonly nodeOptions?: readonly string[];
  readonly inWorker?: boolean;
}

/** Of layer `raft`, then of layer `store`. */
export async function traceHashes(run: TraceRun): Promise<string> {
  const { seed, node = process.execPath, nodeOptions = [], inWorker = false } = run;
  const args = [...nodeOptions, script, String(seed), ...(inWorker ? ["worker"] : [])];
  const { stdout } = await promisify(execFile)(node, args, { timeout: 120_000 });
  return stdout.trim();
}
