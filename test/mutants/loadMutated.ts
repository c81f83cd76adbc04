/**
 * Loads the simulator, and with it all of the product, from sources in which one mutant was put.
 *
 * A module loader of its own (vite's, in this process) reads the sources and replaces the text on the way; nothing on
 * the disk changes, and other tests see nothing of it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";
import type { Simulator } from "../sim/scenarios.ts";

/** One text in one file, and what stands there instead. */
export interface Patch {
  /** From the root of the repository. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Loaded {
  readonly sim: Simulator;
  /** Whether the mutated file was loaded at all: a mutant of dead code proves nothing. */
  readonly wasApplied: boolean;
  /** Another module (from the root of the repository), in the same mutated world. */
  load(file: string): Promise<unknown>;
  close(): Promise<void>;
}

/** How often `find` is in the mutant's file; anything but once is a mutant that has gone stale. */
export function occurrences(mutant: Patch): number {
  return readFileSync(join(root, mutant.file), "utf8").split(mutant.find).length - 1;
}

export async function loadMutated(mutant: Patch | undefined): Promise<Loaded> {
  let wasApplied = false;
  const server = await createServer({
    root,
    configFile: false,
    logLevel: "error",
    appType: "custom",
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
    optimizeDeps: { noDiscovery: true, include: [] },
    resolve: { conditions: ["development"] },
    ssr: { resolve: { conditions: ["development", "node", "import", "module", "default"] } },
    plugins: [
      {
        name: "quorate-mutant",
        enforce: "pre",
        transform(code, id) {
          if (mutant === undefined || !id.split("?")[0]?.endsWith(mutant.file)) return undefined;
          wasApplied = true;
          return { code: code.replace(mutant.find, () => mutant.replace), map: null };
        },
      },
    ],
  });
  const sim = (await server.ssrLoadModule(join(root, "packages/sim/src/index.ts"))) as Simulator;
  const load = (file: string): Promise<unknown> => server.ssrLoadModule(join(root, file));
  return { sim, wasApplied, load, close: () => server.close() };
}
