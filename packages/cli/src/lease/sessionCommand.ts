/** `quorate session ACTION`: the sessions of all clients, and the end of one that nobody is behind any more. */
import type { Cluster, SessionInfo } from "@quorate/client";
import type { GivenOptions } from "../arguments.ts";
import { connectionOptions, withCluster } from "../commands/clusterConnection.ts";
import { CommandFailure, exitCodes } from "../exitCodes.ts";
import { integerOption } from "../optionValues.ts";
import { textTable } from "../textTable.ts";
import { UsageError } from "../usageError.ts";

const pageSize = 1_000;

export async function runSession(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [action, id, ...more] = positionals;
  switch (action) {
    case "list":
      if (id !== undefined) throw new UsageError("Use it so: quorate session list.");
      return withCluster(connectionOptions(options), (cluster) => list(cluster, options));
    case "close": {
      if (id === undefined || more.length > 0 || !/^[1-9]\d{0,15}$/.test(id)) {
        throw new UsageError("Use it so: quorate session close ID, with an ID that session list shows.");
      }
      return withCluster(connectionOptions(options), (cluster) => close(cluster, Number(id)));
    }
    default:
      throw new UsageError(`There is no action "${action}": list or close.`);
  }
}

async function list(cluster: Cluster, options: GivenOptions): Promise<number> {
  const most = integerOption(options, "limit", { from: 1, to: 10_000 }) ?? Number.POSITIVE_INFINITY;
  const found: SessionInfo[] = [];
  for (let after = 0; found.length < most; ) {
    const limit = Math.min(pageSize, most - found.length);
    const page = await cluster.sessions.list({ after, limit });
    found.push(...page);
    if (page.length < limit) break;
    after = page.at(-1)?.session ?? after;
  }
  if (options.json) for (const info of found) process.stdout.write(`${JSON.stringify(info)}\n`);
  else process.stdout.write(`${sessionLines(found).join("\n")}\n`);
  return exitCodes.done;
}

async function close(cluster: Cluster, session: number): Promise<number> {
  if (await cluster.sessions.close(session)) return exitCodes.done;
  throw new CommandFailure(exitCodes.notFound, `There is no session ${session}; it may have ended.`);
}

export function sessionLines(sessions: readonly SessionInfo[]): readonly string[] {
  const rows = sessions.map(({ session, ttlMs, silentMs, held, waiting, keys, holder }) => [
    String(session),
    ttlMs === Number.POSITIVE_INFINITY ? "none" : `${ttlMs / 1_000}s`,
    silentMs === 0 ? "-" : `${silentMs / 1_000}s`,
    String(held),
    String(waiting),
    String(keys),
    holder === "" ? "-" : holder,
  ]);
  return textTable(["SESSION", "TTL", "SILENT", "LEASES", "WAITS", "KEYS", "HOLDER"], rows);
}
