/** `quorate limits`: shows the limits of the store that the cluster shares, and changes those that are given. */
import type { StoreLimits } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import type { OptionName } from "../commandTable.ts";
import { exitCodes } from "../exitCodes.ts";
import { integerOption } from "../optionValues.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";

const named: readonly (readonly [OptionName, keyof StoreLimits])[] = [
  ["history-revisions", "historyRevisions"],
  ["history-bytes", "historyBytes"],
  ["quota-bytes", "quotaBytes"],
];

export async function runLimits(options: GivenOptions): Promise<number> {
  const wanted: { -readonly [Name in keyof StoreLimits]?: number } = {};
  for (const [option, name] of named) {
    const value = integerOption(options, option, { from: 1, to: Number.MAX_SAFE_INTEGER });
    if (value !== undefined) wanted[name] = value;
  }
  const limits = await withCluster(connectionOptions(options), (cluster) => cluster.kv.limit(wanted));
  const lines = named.map(([option, name]) => `${option}\t${limits[name]}`);
  process.stdout.write(`${options.json ? JSON.stringify(limits) : lines.join("\n")}\n`);
  return exitCodes.done;
}
