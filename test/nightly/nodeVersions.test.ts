/**
 * The same seed leaves the same trace on every Node.js that is supported. Their binaries come from the npm registry,
 * into a temporary directory; without it, or on a platform that it has none for, the test skips and says so.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { traceHashes } from "../process/rig/traceHash.ts";

const versions = ["20", "22", "24"];
const folder = mkdtempSync(join(tmpdir(), "quorate-node-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The binary, or a sentence that says why there is none. */
async function install(version: string): Promise<{ node: string } | { missing: string }> {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const prefix = join(folder, version);
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", prefix];
  try {
    await promisify(execFile)("npm", [...args, `${name}@${version}`], { timeout: 600_000 });
  } catch (error) {
    return { missing: `${name}@${version} could not be installed: ${String(error).split("\n").at(-1)}` };
  }
  return {
    node: join(prefix, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node"),
  };
}

describe("the same seed", () => {
  it(`leaves the same trace on Node.js ${versions.join(", ")}`, { timeout: 3_600_000 }, async ({ skip }) => {
    const found = new Map<string, string>();
    for (const version of versions) {
      const installed = await install(version);
      if ("missing" in installed) return skip(installed.missing);
      const hashes: string[] = [];
      for (const seed of [7, 8, 9]) hashes.push(await traceHashes({ seed, node: installed.node }));
      found.set(version, hashes.join(", "));
      console.log(`Node.js ${version}: ${hashes.join(", ")}`);
    }
    expect(new Set(found.values()).size).toBe(1);
  });
});
