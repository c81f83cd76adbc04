/** What the tests here need besides Node.js, and the words with which they skip where it is missing. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export function isInstalled(command: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A sentence that says what is missing, or undefined. */
export function whatIsMissing(commands: readonly string[], needsRoot: boolean): string | undefined {
  if (process.platform !== "linux") return `needs Linux, and this is ${process.platform}`;
  if (needsRoot && process.getuid?.() !== 0) return "needs root: it mounts or makes network namespaces";
  const missing = commands.filter((command) => !isInstalled(command));
  return missing.length === 0 ? undefined : `needs ${missing.join(" and ")}, which is not installed`;
}
