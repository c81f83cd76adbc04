/**
 * How long it takes until `ready` is printed: in a fresh clone with an empty package store, in the same clone when
 * everything is installed, and by the command itself.
 *
 *   pnpm bench:start
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "quorate-start-"));
const clone = join(folder, "clone");
const options = ["--json", "--ephemeral", "--base-port", "18101"];

/**
 * A new user's: nothing of the package manager that may have started this, which tells its children not to install;
 * and with folders of its own for the store and for what is downloaded.
 */
function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^p?npm_/i.test(name));
  const own = { XDG_DATA_HOME: join(folder, "data"), XDG_CACHE_HOME: join(folder, "cache") };
  return { ...Object.fromEntries(inherited), ...own };
}

async function msUntilReady(command: string, words: readonly string[]): Promise<number> {
  const startMs = performance.now();
  const child = spawn(command, words, {
    cwd: clone,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: environment(),
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('"event":"ready"')) return Math.round(performance.now() - startMs);
    }
    throw new Error("It ended before it was ready.");
  } finally {
    // As a terminal's Ctrl-C would: to the whole group.
    process.kill(-(child.pid as number), "SIGINT");
    await once(child, "exit");
  }
}

try {
  const startMs = performance.now();
  execFileSync("git", ["clone", "--quiet", root, clone]);
  const cloneMs = Math.round(performance.now() - startMs);
  const pnpmStart = ["--yes", "pnpm@12", "start", ...options];
  const freshMs = cloneMs + (await msUntilReady("npx", pnpmStart));
  const installedMs = await msUntilReady("npx", pnpmStart);
  const commandMs = await msUntilReady(join(clone, "node_modules", ".bin", "quorate"), [
    "cluster",
    ...options,
  ]);
  console.log(JSON.stringify({ freshMs, installedMs, commandMs }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
