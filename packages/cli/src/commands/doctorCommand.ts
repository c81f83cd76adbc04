/** `quorate doctor DIR`: examines a node's directory, or every node's of a cluster, and changes nothing. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "@quorate/storage";
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { UsageError } from "../usageError.ts";

export async function runDoctor(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [dir = ""] = positionals;
  const directories = nodeDirectories(dir);
  const { examine } = await import("@quorate/storage");
  const reports: Report[] = [];
  for (const directory of directories) reports.push(await examine(directory));
  const lines = reports.flatMap((report) => (options.json ? [JSON.stringify(report)] : reportLines(report)));
  process.stdout.write(`${lines.join("\n")}\n`);
  return reports.every(isHealthy) ? exitCodes.done : exitCodes.failed;
}

/** The directory itself where it is a node's, else those in it that are. */
export function nodeDirectories(dir: string): readonly string[] {
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${dir} is no directory. Give a node's data directory, or a cluster's.`);
  }
  if (isNodeDirectory(dir)) return [dir];
  const within = readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isNodeDirectory(join(dir, entry.name)))
    .map((entry) => join(dir, entry.name))
    .sort();
  if (within.length > 0) return within;
  throw new UsageError(`Neither ${dir} nor a directory in it holds the data of a node.`);
}

/** Says which there are where `dir` is a cluster's; what else is wrong with it is told by who opens it. */
export function requireOneNode(dir: string): void {
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory() || isNodeDirectory(dir)) return;
  const within = readdirSync(dir).filter((name) => isNodeDirectory(join(dir, name)));
  if (within.length === 0) return;
  const names = within.sort().map((name) => join(dir, name));
  throw new UsageError(
    `${dir} is no node's directory; those in it are ${names.join(", ")}: name one of them.`,
  );
}

function isNodeDirectory(dir: string): boolean {
  return ["identity.json", "witness", "log"].some((name) => existsSync(join(dir, name)));
}

/** What a crash leaves behind is worth a line, but is healthy: a start makes a full member of it. */
export function isHealthy({ prognosis, log, snapshots }: Report): boolean {
  const isWhole = log?.fault === undefined && snapshots.every(({ intact }) => intact);
  return ["voter", "unborn", "new"].includes(prognosis) && isWhole;
}

export function reportLines(report: Report): readonly string[] {
  const { directory, pid, identity, clusterId, boot, sequence, term, vote, floor, log } = report;
  const who = identity
    ? `node ${identity.nodeId}, incarnation ${identity.incarnation}`
    : "of an unknown node";
  const slots = (sequence.slots ?? [undefined, undefined]).map((slot) => slot ?? "damaged");
  const lines = [
    `${who}, ${clusterId === undefined ? "of no cluster yet" : `of cluster ${clusterId}`}`,
    `boot ${boot ?? "unknown"}, term ${term ?? "unknown"}, voted for ${vote ?? "nobody"}`,
    `last write: ${sequence.database ?? "damaged"} in the database, ${slots.join(" and ")} in the witness`,
  ];
  if (pid !== undefined) lines.push(`open in process ${pid}`);
  if (log) {
    const { firstIndex, lastIndex, verifiedTo, verifiedTerm } = log;
    lines.push(
      `log: entries ${firstIndex} to ${lastIndex}, verified to ${verifiedTo}, which is of term ${verifiedTerm}`,
    );
  }
  for (const { index, bytes, intact } of report.snapshots) {
    lines.push(`snapshot: entry ${index}, ${bytes} bytes, ${intact ? "intact" : "DAMAGED"}`);
  }
  if (floor) lines.push(`it once had entries up to ${floor.lastIndex} of term ${floor.lastTerm}`);
  lines.push(...report.findings.map((finding) => `- ${finding}`), report.verdict);
  return [directory, ...lines.map((line) => `  ${line}`)];
}
