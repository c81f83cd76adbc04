/** `quorate list [PREFIX]`: one page, in byte order of the keys. */
import type { KeyValue, Page } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { integerOption, textOption } from "../optionValues.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";
import { pairAsJson, revisionOption } from "./getCommand.ts";

export async function runList(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [prefix = ""] = positionals;
  const keysOnly = options["keys-only"] === true;
  const limit = integerOption(options, "limit", { from: 1, to: 10_000 });
  const cursor = textOption(options, "cursor");
  const revision = revisionOption(options);
  const page = await withCluster(connectionOptions(options), (cluster) =>
    cluster.kv.list(
      { prefix },
      {
        keysOnly,
        ...(limit === undefined ? {} : { limit }),
        ...(cursor === undefined ? {} : { cursor }),
        ...revision,
      },
    ),
  );
  if (options.json) process.stdout.write(`${JSON.stringify(pageAsJson(page, keysOnly))}\n`);
  else printLines(page, keysOnly);
  return exitCodes.done;
}

export function pageAsJson(page: Page, keysOnly: boolean): object {
  const entries = page.entries.map((pair) => {
    if (!keysOnly) return pairAsJson(pair);
    const { key, createRevision, modRevision, version } = pair;
    return { key, createRevision, modRevision, version };
  });
  return { entries, cursor: page.cursor ?? null, revision: page.revision };
}

function printLines(page: Page, keysOnly: boolean): void {
  const lines = page.entries.map((pair) => `${pairAsLine(pair, keysOnly)}\n`);
  process.stdout.write(lines.join(""));
  if (page.cursor === undefined) return;
  process.stderr.write(`quorate: there are more; for the next page add --cursor ${page.cursor}\n`);
}

/** Key, tab, value on one line, whatever is in them. */
export function pairAsLine(pair: KeyValue, keysOnly: boolean): string {
  const key = onOneLine(pair.key);
  if (keysOnly) return key;
  const text = pair.format === "bytes" ? Buffer.from(pair.bytes).toString("latin1") : undefined;
  if (text !== undefined) return `${key}\t${onOneLine(text)}`;
  return `${key}\t${onOneLine(Buffer.from(pair.bytes).toString("utf8"))}`;
}

export function onOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that would spoil the line
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (char) => {
    const json = JSON.stringify(char).slice(1, -1);
    return json === char ? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}` : json;
  });
}
