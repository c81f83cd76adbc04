/** `quorate transfer [NODE]`: the leader hands its office to another node. Prints who leads now, and in which term. */
import type { Succession } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { CommandFailure, exitCodeOf, exitCodes, quorateError } from "../exitCodes.ts";
import { connectionOptions, withCluster } from "./clusterConnection.ts";

export async function runTransfer(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [target] = positionals;
  const { leader, term } = await transfer(target, options);
  const words = options.json ? JSON.stringify({ leader, term }) : `${leader} leads in term ${term}`;
  process.stdout.write(`${words}\n`);
  return exitCodes.done;
}

async function transfer(target: string | undefined, options: GivenOptions): Promise<Succession> {
  try {
    return await withCluster(connectionOptions(options), (cluster) =>
      cluster.transferLeadership(target === undefined ? {} : { target }),
    );
  } catch (error) {
    const fields = quorateError(error);
    if (fields?.outcome !== "unknown") throw error;
    // There is no key to be read here.
    throw new CommandFailure(exitCodeOf(error), `${fields.message} "quorate status" shows who leads.`);
  }
}
