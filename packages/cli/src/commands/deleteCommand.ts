/** `quorate delete KEY`. Deleting what is not there changes nothing and ends with "not found". */
import type { GivenOptions } from "../arguments.ts";
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";
import { writeCondition } from "./putCommand.ts";

export async function runDelete(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [key = ""] = positionals;
  const condition = writeCondition(options);
  const answer = await withCluster(connectionOptions(options), (cluster) =>
    cluster.kv.delete(key, condition),
  );
  const { revision, deleted } = answer;
  if (options.json) process.stdout.write(`${JSON.stringify({ revision, deleted })}\n`);
  if (!deleted) {
    throw new CommandFailure(
      exitCodes.notFound,
      `There was no key ${JSON.stringify(key)}; nothing was deleted.`,
    );
  }
  if (!options.json) process.stdout.write(`${revision}\n`);
  return exitCodes.done;
}
