/** What `quorate cluster` was asked for, resolved once; what contradicts itself is refused. */
import { resolve } from "node:path";
import type { GivenOptions } from "../arguments.ts";
import { chooseLogLevel } from "../node/nodeOptions.ts";
import { integerOption, textOption } from "../optionValues.ts";
import { UsageError } from "../usageError.ts";
import type { NodeSpec } from "./nodeProcess.ts";

export type NodeCount = 1 | 3 | 5;

export interface ClusterOptions {
  /** Undefined: as many as the data has, else three. */
  readonly nodes: NodeCount | undefined;
  readonly basePort: number;
  /** Absolute; undefined for a temporary directory. */
  readonly dataDir: string | undefined;
  readonly json: boolean;
  readonly table: boolean;
  readonly logLevel: string;
}

export const defaultBasePort = 7101;
export const defaultNodeCount: NodeCount = 3;
const defaultDataDir = "quorate-data";

/** Nodes are called by letters, in the order of their ports. */
export const nodeNames: readonly string[] = ["a", "b", "c", "d", "e"];

export function clusterOptions(given: GivenOptions): ClusterOptions {
  const dataDir = textOption(given, "data-dir");
  if (given.ephemeral && dataDir !== undefined) {
    throw new UsageError(
      `--ephemeral and --data-dir ${dataDir} contradict each other: ephemeral data has a directory of its own.`,
    );
  }
  return Object.freeze({
    nodes: nodeCount(given),
    basePort: integerOption(given, "base-port", { from: 1, to: 65_535 - 4 }) ?? defaultBasePort,
    dataDir: given.ephemeral ? undefined : resolve(dataDir ?? defaultDataDir),
    json: given.json === true,
    table: given["no-table"] !== true,
    logLevel: chooseLogLevel(textOption(given, "log-level") ?? "warn"),
  });
}

function nodeCount(given: GivenOptions): NodeCount | undefined {
  const text = textOption(given, "nodes");
  if (text === undefined) return undefined;
  if (text === "1" || text === "3" || text === "5") return Number(text) as NodeCount;
  throw new UsageError(
    `--nodes must be 1, 3 or 5, but is "${text}": an even number bears no more failures than the odd one below it.`,
  );
}

/** The nodes' command lines. */
export function nodeSpecs(
  count: NodeCount,
  basePort: number,
  dataDir: string,
  logLevel: string,
): readonly NodeSpec[] {
  const ids = nodeNames.slice(0, count);
  const endpointOf = (index: number): string => `ws://127.0.0.1:${basePort + index}`;
  const peers = ids.map((id, index) => `${id}=${endpointOf(index)}`).join(",");
  return ids.map((id, index) => {
    const endpoint = endpointOf(index);
    const words = ["--id", id, "--listen", endpoint, "--peers", peers, "--data-dir", resolve(dataDir, id)];
    return { id, endpoint, args: ["node", ...words, "--log-level", logLevel] };
  });
}
