/** `quorate doctor DIR`: examines a node's directory, or every node's of a cluster, and changes nothing. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { GivenOptions } from "../arguments.ts";
import { exitCodes } from "../exitCodes.ts";
import { UsageError } from "../usageError.ts";

interface Examination {
  readonly findings: readonly string[];
}

export async function runDoctor(positionals: readonly string[], options: GivenOptions): Promise<number> {
  const [dir = ""] = positionals;
  const directories = nodeDirectories(dir);
  const { examine } = (await import("@quorate/storage")) as unknown as {
    examine(directory: string): Promise<Examination>;
  };
  const examined: { directory: string; examination: Examination }[] = [];
  for (const directory of directories) examined.push({ directory, examination: await examine(directory) });
  if (options.json) {
    const lines = examined.map(({ directory, examination }) => JSON.stringify({ directory, ...examination }));
    process.stdout.write(`${lines.join("\n")}\n`);
  } else {
    for (const { directory, examination } of examined) {
      process.stdout.write(`${directory}\n${examination.findings.join("\n")}\n`);
    }
  }
  const isHealthy = examined.every(({ examination }) => examination.findings.length === 0);
  return isHealthy ? exitCodes.done : exitCodes.failed;
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
  // What has nothing of a node in it is examined as it is: a wiped directory is a finding too.
  return within.length === 0 ? [dir] : within;
}

function isNodeDirectory(dir: string): boolean {
  return ["identity.json", "witness", "log"].some((name) => existsSync(join(dir, name)));
}
