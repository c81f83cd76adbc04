/** `quorate put KEY VALUE|-`. Text stays text; what is not UTF-8 is stored as bytes. */
import type { Value, WriteOptions } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { integerOption } from "../optionValues.ts";
import { UsageError } from "../usageError.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";
import { readStandardInput } from "./standardInput.ts";

/** The store's bound of a value; more need not be read. */
const valueBytesMax = 1024 * 1024;

export async function runPut(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [key = "", given = ""] = positionals;
  const connection = connectionOptions(options);
  const condition = writeCondition(options);
  const value = given === "-" ? valueFrom(await readStandardInput("The value", valueBytesMax)) : given;
  const { revision } = await withCluster(connection, (cluster) => cluster.kv.put(key, value, condition));
  process.stdout.write(options.json ? `${JSON.stringify({ revision })}\n` : `${revision}\n`);
  return exitCodes.done;
}

export function writeCondition(options: GivenOptions): WriteOptions {
  const ifRevision = integerOption(options, "if-revision", { from: 1, to: Number.MAX_SAFE_INTEGER });
  if (options["if-absent"] && ifRevision !== undefined) {
    throw new UsageError(
      `--if-absent and --if-revision ${ifRevision} contradict each other: a key that does not exist has no revision.`,
    );
  }
  if (options["if-absent"]) return { ifAbsent: true };
  return ifRevision === undefined ? {} : { ifRevision };
}

/** Text where the bytes are UTF-8, a byte order mark included; else the bytes. */
export function valueFrom(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}
