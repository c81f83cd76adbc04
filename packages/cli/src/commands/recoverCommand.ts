/**
 * `quorate recover DIR`: the way back from a lost majority. It says what may be lost, and does nothing until it is told
 * the node's name.
 */
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { checkAddress, textOption } from "../optionValues.ts";
import { UsageError } from "../usageError.ts";
import { requireOneNode } from "./doctorCommand.ts";

export async function runRecover(positionals: readonly string[], given: GivenOptions): Promise<number> {
  const [directory = ""] = positionals;
  requireOneNode(directory);
  const listen = textOption(given, "listen");
  const address = listen === undefined ? undefined : checkAddress(listen, "--listen");
  const { lossSentences, newClusterSentences, readDirectoryStore, recoverDirectory } = await import(
    "@quorate/kv/recovery"
  );
  const found = await readDirectoryStore(directory);
  const { nodeId } = found.identity;
  const confirmed = textOption(given, "confirm");
  if (confirmed !== nodeId) {
    const given = confirmed === undefined ? "" : ` (it is not "${confirmed}")`;
    throw new UsageError(
      [
        `${directory} holds the data of node ${nodeId}${given}. Nothing was done.`,
        ...lossSentences(found),
        "Use it only where a majority of the members is gone for good. To make this node the only member of a new " +
          `cluster all the same: quorate recover ${directory} --confirm ${nodeId}`,
      ].join("\n"),
    );
  }
  const grantsAtOnce = given["grant-at-once"] === true;
  const options = { now: new Date(), grantsAtOnce, ...(address === undefined ? {} : { address }) };
  const { record, cluster } = await recoverDirectory(directory, options);
  if (given.json) process.stdout.write(`${JSON.stringify(record)}\n`);
  else {
    const lines = [
      `Node ${nodeId} is the only member of a new cluster, ${cluster.clusterId}, with entries up to ${record.from.index}.`,
      ...newClusterSentences(cluster),
      `The old directory is kept as ${record.from.directory}; what was done is in recovered.json.`,
      "Start the node as before. Add the others again with empty directories: quorate node --join …",
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  return exitCodes.done;
}
