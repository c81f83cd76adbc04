/**
 * `cluster.json` in a cluster's data directory: how many nodes its data has. Written before the first node starts, so
 * that a later run with another number is refused instead of founding half a cluster beside the old one.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { UsageError } from "../usageError.ts";
import { defaultNodeCount, type NodeCount, nodeNames } from "./clusterOptions.ts";

const formatVersion = 1;

/** The number of nodes to run; refuses one that the data contradicts. Creates directory and record as needed. */
export function settleNodeCount(dataDir: string, asked: NodeCount | undefined): NodeCount {
  mkdirSync(dataDir, { recursive: true });
  const recorded = readRecord(dataDir);
  const held = recorded ?? countNodeDirectories(dataDir);
  if (held !== undefined && asked !== undefined && asked !== held) {
    throw new UsageError(
      `${dataDir} holds the data of ${held} ${held === 1 ? "node" : "nodes"}, but --nodes is ${asked}. ` +
        `Run it with --nodes ${held}, or give another --data-dir.`,
    );
  }
  const count = held ?? asked ?? defaultNodeCount;
  if (count !== 1 && count !== 3 && count !== 5) {
    throw new UsageError(`${dataDir} holds the data of ${count} nodes; quorate cluster runs 1, 3 or 5.`);
  }
  if (recorded === undefined) writeRecord(dataDir, count);
  return count;
}

/** Undefined where there is none. */
export function readRecord(dataDir: string): number | undefined {
  const path = join(dataDir, "cluster.json");
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CommandFailure(exitCodes.failed, `Cannot read ${path}: ${(error as Error).message}.`);
  }
  const record = parseRecord(content);
  if (record?.formatVersion === formatVersion && Number.isSafeInteger(record.nodes))
    return Number(record.nodes);
  throw new CommandFailure(
    exitCodes.failed,
    `${path} is not a record that this version understands. It should read ` +
      `{"formatVersion":${formatVersion},"nodes":3}, with the number of nodes whose data is beside it.`,
  );
}

function parseRecord(content: string): { formatVersion?: unknown; nodes?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Data without a record, its file lost perhaps, is still not to be mixed with that of another number of nodes. */
function countNodeDirectories(dataDir: string): number | undefined {
  const count = nodeNames.filter((name) => existsSync(join(dataDir, name))).length;
  return count === 0 ? undefined : count;
}

function writeRecord(dataDir: string, nodes: NodeCount): void {
  const path = join(dataDir, "cluster.json");
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ formatVersion, nodes })}\n`);
  renameSync(draft, path);
}
