/**
 * `quorate watch KEY` or `--prefix PREFIX`: one line for each change, until the process is ended or nobody reads it any
 * more. What ends a watch from the other side is an error: nothing is ever left out in silence.
 */
import type { ChangeEvent, KeySet, WatchOptions } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { integerOption, textOption } from "../optionValues.ts";
import { UsageError } from "../usageError.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";
import { pairAsJson } from "./getCommand.ts";
import { onOneLine, pairAsLine } from "./listCommand.ts";

export async function runWatch(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const keys = watchedKeys(positionals[0], textOption(options, "prefix"));
  const from = integerOption(options, "from", { from: 1, to: Number.MAX_SAFE_INTEGER });
  const readerGone = new AbortController();
  process.stdout.once("error", () => readerGone.abort());
  const watching: WatchOptions = {
    ...(from === undefined ? {} : { from }),
    ...(options["prev-kv"] ? { prevKv: true } : {}),
    signal: readerGone.signal,
  };
  const print = options.json ? eventAsJson : eventAsLine;
  return withCluster(connectionOptions(options), async (cluster) => {
    try {
      const watch = cluster.kv.watch(keys, watching);
      // Where no node can be reached, that is to be told, and not waited for without end.
      await watch.started();
      for await (const event of watch) process.stdout.write(`${print(event)}\n`);
    } catch (error) {
      if (!readerGone.signal.aborted) throw error;
    }
    return exitCodes.done;
  });
}

function watchedKeys(key: string | undefined, prefix: string | undefined): KeySet {
  if (key !== undefined && prefix === undefined) return key;
  if (key === undefined && prefix !== undefined) return { prefix };
  throw new UsageError('What is to be watched is a KEY, or --prefix PREFIX; --prefix "" is every key.');
}

/** Revision, kind, key and, of a put, value, separated by tabs. */
export function eventAsLine(event: ChangeEvent): string {
  const what = event.kind === "put" ? pairAsLine(event.entry, false) : onOneLine(event.key);
  return `${event.revision}\t${event.kind}\t${what}`;
}

export function eventAsJson(event: ChangeEvent): string {
  const { revision, kind, key, last, previous } = event;
  return JSON.stringify({
    revision,
    kind,
    ...(event.kind === "put" ? pairAsJson(event.entry) : { key }),
    last,
    ...(previous === undefined ? {} : { previous: pairAsJson(previous) }),
  });
}
