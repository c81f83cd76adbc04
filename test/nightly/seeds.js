/**
 * Many seeds of the simulator, on all cores, in each layer and profile:
 *
 *   npx --yes pnpm@12 nightly:seeds [--seeds A..B] [--out FOLDER]
 *
 * Without `--seeds` the range begins where the commit says, so that each change runs seeds that none ran before. After a
 * violation the range goes on with the next seed; its schedule, made small, is left in FOLDER, which is told at the end.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "..", "..");
const command = join(root, "packages", "cli", "bin", "quorate.js");

/** Options of `quorate sim`, and which part of the seeds each run gets. */
const plans = [
  { options: ["--layer", "store", "--nodes", "5"], share: 1 },
  { options: ["--layer", "raft", "--nodes", "5"], share: 1 },
  { options: ["--layer", "store", "--nodes", "3"], share: 0.5 },
  { options: ["--layer", "raft", "--nodes", "7"], share: 0.5 },
  { options: ["--layer", "store", "--nodes", "5", "--profile", "churn"], share: 1 },
  ...["network", "partitions", "disks", "crashes", "pauses", "leases"].map((profile) => ({
    options: ["--layer", "store", "--nodes", "5", "--profile", profile],
    share: 0.2,
  })),
];

function rangeOf(given) {
  if (given === undefined) {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
    const from = Number.parseInt(commit.slice(0, 7), 16);
    return { from, to: from + 999 };
  }
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(given) ?? [];
  if (from === undefined || Number(from) > Number(to)) {
    process.stderr.write(`--seeds has to be A..B with A at most B, but is "${given}".\n`);
    process.exit(2);
  }
  return { from: Number(from), to: Number(to) };
}

/** Runs until the first violation. The seed of it, or undefined. */
async function runOnce(options, from, to, folder) {
  const args = [command, "sim", ...options, "--seeds", `${from}..${to}`, "--minimize", "--json"];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let violated;
  let summary;
  for await (const line of createInterface({ input: child.stdout })) {
    const told = JSON.parse(line);
    if (told.violation != null) violated = told;
    if (told.eventsPerS !== undefined) summary = told;
  }
  if (summary === undefined)
    throw new Error(`quorate sim ${args.slice(2).join(" ")} ended without its summary`);
  return { violated, summary };
}

const { values } = parseArgs({ options: { seeds: { type: "string" }, out: { type: "string" } } });
const { from, to } = rangeOf(values.seeds);
const folder = resolve(values.out ?? mkdtempSync(join(tmpdir(), "quorate-nightly-")));
mkdirSync(folder, { recursive: true });
let violations = 0;
for (const { options, share } of plans) {
  const last = from + Math.max(1, Math.round((to - from + 1) * share)) - 1;
  for (let next = from; next <= last; ) {
    const { violated, summary } = await runOnce(options, next, last, folder);
    process.stdout.write(
      `${options.join(" ")} --seeds ${next}..${violated?.seed ?? last}: ${summary.events} events, ` +
        `${Math.round(summary.eventsPerS)} events/s\n`,
    );
    if (violated === undefined) break;
    violations += 1;
    process.stdout.write(
      `  seed ${violated.seed}: ${violated.violation.invariant}: ${violated.violation.sentence}\n`,
    );
    next = violated.seed + 1;
  }
}
process.stdout.write(`${violations} violations${violations === 0 ? "" : `, their schedules in ${folder}`}\n`);
process.exitCode = violations === 0 ? 0 : 1;
