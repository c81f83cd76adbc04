/** Directories for one test, and copies of them; gone when the test is over. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "quorate-storage-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A copy of `directory` to damage. */
export function copyOf(directory: string): string {
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

/** The files of a directory whose name ends in `suffix`, with their paths. */
export function filesEnding(directory: string, suffix: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .map((name) => join(directory, name))
    .sort();
}

export function flipByte(path: string, offset: number): void {
  const content = readFileSync(path);
  content[offset] = content[offset]! ^ 0x40;
  writeFileSync(path, content);
}

/** Every file's name and content, to see whether anything changed. */
export function fingerprint(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .sort()
    .map((path) => `${path} ${readFileSync(path).toString("base64")}`)
    .join("\n");
}
