/** `quorate snapshot ACTION FILE`: a backup of the store, a look at it, and a new cluster made of it. */

import type { SnapshotSummary } from "@quorate/kv/recovery";
import { isNodeId } from "@quorate/raft";
import type { GivenOptions } from "../arguments.ts";
import type { OptionName } from "../commandTable.ts";
import { exitCodes } from "../exitCodes.ts";
import { checkAddress, textOption } from "../optionValues.ts";
import { UsageError } from "../usageError.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";
import { requireOneNode } from "./doctorCommand.ts";

const connectionOptionNames: readonly OptionName[] = ["endpoints", "timeout", "secret-file", "tls-ca"];

export async function runSnapshot(positionals: readonly string[], given: GivenOptions): Promise<number> {
  const [action = "", file = ""] = positionals;
  switch (action) {
    case "save":
      return save(file, given);
    case "inspect":
      refuseOptions(
        given,
        ["data-dir", "id", "listen", "grant-at-once", ...connectionOptionNames],
        "inspect",
      );
      return inspect(file, given);
    case "restore":
      return restore(file, given);
    default:
      throw new UsageError(`There is no action "${action}": save, inspect and restore are there.`);
  }
}

async function save(file: string, given: GivenOptions): Promise<number> {
  refuseOptions(given, ["id", "listen", "grant-at-once"], "save");
  const directory = textOption(given, "data-dir");
  const { saveDirectory, saveStoreSnapshot } = await import("@quorate/kv/recovery");
  if (directory !== undefined) {
    refuseOptions(given, connectionOptionNames, "save --data-dir DIR");
    requireOneNode(directory);
    printSummary(await saveDirectory(directory, file), given);
    return exitCodes.done;
  }
  const summary = await withCluster(connectionOptions(given), async (cluster) =>
    saveStoreSnapshot(await cluster.snapshot(), file),
  );
  printSummary(summary, given);
  return exitCodes.done;
}

async function inspect(file: string, given: GivenOptions): Promise<number> {
  const { inspectSnapshot } = await import("@quorate/kv/recovery");
  printSummary(await inspectSnapshot(file), given);
  return exitCodes.done;
}

async function restore(file: string, given: GivenOptions): Promise<number> {
  const usage = "restore FILE --data-dir DIR --id ID --listen ADDRESS";
  refuseOptions(given, connectionOptionNames, "restore");
  const dataDir = requiredOption(given, "data-dir", usage);
  const nodeId = requiredOption(given, "id", usage);
  const address = checkAddress(requiredOption(given, "listen", usage), "--listen");
  if (!isNodeId(nodeId)) throw new UsageError(`--id is "${nodeId}", which is no name of a node.`);
  const grantsAtOnce = given["grant-at-once"] === true;
  const { newClusterSentences, restoreSnapshot } = await import("@quorate/kv/recovery");
  const cluster = await restoreSnapshot(file, { dataDir, nodeId, address, grantsAtOnce });
  if (given.json) {
    process.stdout.write(`${JSON.stringify(cluster)}\n`);
    return exitCodes.done;
  }
  const lines = [
    `${dataDir} is the directory of the first member of a new cluster, ${cluster.clusterId}.`,
    ...newClusterSentences(cluster),
    `Start it:  quorate node --id ${nodeId} --listen ${address} --peers ${nodeId}=${address} --data-dir ${dataDir}`,
    `Add other nodes with empty directories:  quorate node --join ${address} …`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  return exitCodes.done;
}

export function printSummary(summary: SnapshotSummary, given: GivenOptions): void {
  const lines = given.json ? [JSON.stringify(summary)] : summaryLines(summary);
  process.stdout.write(`${lines.join("\n")}\n`);
}

function summaryLines(summary: SnapshotSummary): readonly string[] {
  const { path, clusterId, index, term, revision, pairs, sessions, leases, bytes, checksum, members } =
    summary;
  return [
    `${path}: verified, ${bytes} bytes, checksum ${checksum.toString(16).padStart(8, "0")}`,
    `  of cluster ${clusterId}, members ${members.join(", ")}`,
    `  up to entry ${index} of term ${term}, revision ${revision}`,
    `  ${pairs} pairs, ${sessions} sessions, ${leases} leases`,
  ];
}

function requiredOption(given: GivenOptions, name: OptionName, usage: string): string {
  const value = textOption(given, name);
  if (value === undefined)
    throw new UsageError(`--${name} is missing. Use it so: quorate snapshot ${usage}.`);
  return value;
}

function refuseOptions(given: GivenOptions, names: readonly OptionName[], action: string): void {
  const wrong = names.find((name) => given[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`quorate snapshot ${action} does not take --${wrong}.`);
}
