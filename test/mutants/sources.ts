/** How mutated sources are loaded: the settings that all loaders share, and the replacement itself. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin, UserConfig } from "vite";

/** One text in one file, and what stands there instead. */
export interface Patch {
  /** From the root of the repository. */
  readonly file: string;
  /** Is there exactly once. */
  readonly find: string;
  readonly replace: string;
}

export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** Packages come from their sources, not from what was built of them. */
export const fromSources: Pick<UserConfig, "resolve" | "ssr"> = {
  resolve: { conditions: ["development"] },
  ssr: { resolve: { conditions: ["development", "node", "import", "module", "default"] } },
};

/** How often `find` is in the file; anything but once is a mutant that has gone stale. */
export function occurrences(mutant: Patch): number {
  return readFileSync(join(root, mutant.file), "utf8").split(mutant.find).length - 1;
}

/** Nothing on the disk changes. `onApplied` tells that the file was loaded: a mutant of dead code proves nothing. */
export function mutation(mutant: Patch, onApplied: () => void): Plugin {
  const path = join(root, mutant.file);
  return {
    name: "quorate-mutant",
    enforce: "pre",
    transform(code, id) {
      if (id.split("?")[0] !== path) return undefined;
      onApplied();
      return { code: code.replace(mutant.find, () => mutant.replace), map: null };
    },
  };
}
