/**
 * The files of this repository, read from the disk as they are. Installed and built things are not among them.
 *
 * Works without git, so that the rules also hold in an unpacked archive.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

export interface HouseFile {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

export const root: string = join(import.meta.dirname, "..", "..");

const notOurs = new Set([".git", "node_modules", "dist", "quorate-data", "coverage"]);
const withoutProse = new Set(["pnpm-lock.yaml", "LICENSE"]);

/** Every file below `folder`, sorted by path. */
export function filesBelow(folder: string): HouseFile[] {
  const files: HouseFile[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (notOurs.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...filesBelow(path));
    else if (entry.isFile() && !withoutProse.has(entry.name)) {
      files.push({ path: relative(root, path).split(sep).join("/"), text: readFileSync(path, "utf8") });
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function isCode(file: HouseFile): boolean {
  return file.path.endsWith(".ts") && !file.path.includes("/fixtures/");
}
