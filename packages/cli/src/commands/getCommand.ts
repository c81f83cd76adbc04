/** `quorate get KEY`: the value's bytes, exactly; with --json also its revisions. */
import type { KeyValue } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";

export async function runGet(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [key = ""] = positionals;
  const pair = await withCluster(connectionOptions(options), (cluster) => cluster.kv.get(key));
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

/** Bytes are written in base64; `format` tells. */
export function pairAsJson(pair: KeyValue): object {
  const { key, format, createRevision, modRevision, version } = pair;
  const value = format === "bytes" ? Buffer.from(pair.bytes).toString("base64") : pair.value;
  return { key, value, format, createRevision, modRevision, version };
}
