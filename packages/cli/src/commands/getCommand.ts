/** `quorate get KEY`: the value's bytes, exactly; with --json also its revisions. */
import type { KeyValue } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { integerOption } from "../optionValues.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";

export async function runGet(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [key = ""] = positionals;
  const pair = await withCluster(connectionOptions(options), (cluster) =>
    cluster.kv.get(key, revisionOption(options)),
  );
  if (pair === undefined)
    throw new CommandFailure(exitCodes.notFound, `There is no key ${JSON.stringify(key)}.`);
  if (options.json) {
    process.stdout.write(`${JSON.stringify(pairAsJson(pair))}\n`);
  } else {
    process.stdout.write(pair.bytes);
    if (process.stdout.isTTY) process.stdout.write("\n");
  }
  return exitCodes.done;
}

/** The revision that is to be read, as an option of the read. */
export function revisionOption(options: GivenOptions): { readonly revision?: number } {
  const revision = integerOption(options, "revision", { from: 1, to: Number.MAX_SAFE_INTEGER });
  return revision === undefined ? {} : { revision };
}

/** Bytes are written in base64; `format` tells. */
export function pairAsJson(pair: KeyValue): object {
  const { key, format, createRevision, modRevision, version } = pair;
  const value = format === "bytes" ? Buffer.from(pair.bytes).toString("base64") : pair.value;
  return { key, value, format, createRevision, modRevision, version };
}
