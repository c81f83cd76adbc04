/**
 * `quorate txn FILE|-`: a transaction described in JSON, `{"if": […], "then": […], "else": […]}`, in the words of
 * `kv.txn()`. Its values are JSON: a string is stored as text, everything else as JSON.
 */
import { readFileSync } from "node:fs";
import type { KeyValue, TxnCompare, TxnOp } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { UsageError } from "../usageError.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";
import { pairAsJson } from "./getCommand.ts";
import { pairAsLine } from "./listCommand.ts";
import { readStandardInput } from "./standardInput.ts";

/** What the store takes of a transaction, with room for how JSON writes it. */
const maxDescriptionBytes: number = 8 * 1024 * 1024;

interface Description {
  readonly if: readonly TxnCompare[];
  readonly then: readonly TxnOp[];
  readonly else: readonly TxnOp[];
}

interface OpResult {
  readonly deleted?: number;
  readonly entry?: KeyValue | undefined;
  readonly entries?: readonly KeyValue[];
  readonly more?: boolean;
}

export async function runTxn(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [file = "-"] = positionals;
  const connection = connectionOptions(options);
  const description = parseDescription(await readDescription(file));
  const done = await withCluster(connection, (cluster) =>
    cluster.kv
      .txn()
      .if(...description.if)
      .then(...description.then)
      .else(...description.else)
      .commit(),
  );
  const { succeeded, revision } = done;
  const results: readonly OpResult[] = done.results;
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ succeeded, revision, results: results.map(resultAsJson) })}\n`);
  } else {
    const lines = [`${succeeded ? "then" : "else"}\t${revision}`, ...results.flatMap(resultAsLines)];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  return succeeded ? exitCodes.done : exitCodes.conflict;
}

async function readDescription(file: string): Promise<string> {
  if (file === "-") {
    const bytes = await readStandardInput("The transaction", maxDescriptionBytes);
    return new TextDecoder().decode(bytes);
  }
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`The transaction cannot be read: ${(error as Error).message}.`);
  }
}

/** Its shape; what is in the lists is checked as the arguments of `kv.txn()` are. */
export function parseDescription(text: string): Description {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`The transaction is no JSON: ${(error as Error).message}.`);
  }
  const shape = 'The transaction is an object {"if": […], "then": […], "else": […]}; each may be left out.';
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new UsageError(shape);
  // biome-ignore lint/suspicious/noThenProperty: a list, which nobody takes for a promise.
  const parts: Record<string, unknown> = { if: [], then: [], else: [], ...value };
  for (const [name, items] of Object.entries(parts)) {
    const isList = Array.isArray(items) && items.every((item) => typeof item === "object" && item !== null);
    if (!["if", "then", "else"].includes(name) || !isList) throw new UsageError(shape);
  }
  return parts as unknown as Description;
}

function resultAsJson(result: OpResult): object {
  const { deleted, entry, entries, more } = result;
  if (deleted !== undefined) return { deleted };
  if (entries !== undefined) return { entries: entries.map(pairAsJson), more };
  return "entry" in result ? { entry: entry === undefined ? null : pairAsJson(entry) } : {};
}

/** What reads have found, one pair a line. */
function resultAsLines({ entry, entries }: OpResult): string[] {
  const pairs = entries ?? (entry === undefined ? [] : [entry]);
  return pairs.map((pair) => pairAsLine(pair, false));
}
