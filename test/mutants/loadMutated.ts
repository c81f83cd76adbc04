/**
 * Loads the simulator, and with it all of the product, from sources in which one mutant was put.
 *
 * A module loader of its own (vite's, in this process) reads the sources and replaces the text on the way; nothing on
 * the disk changes, and other tests see nothing of it.
 */
import { join } from "node:path";
import { createServer } from "vite";
import type { Simulator } from "../sim/scenarios.ts";
import { fromSources, mutation, type Patch, root } from "./sources.ts";

export interface LoadedSources {
  /** Whether the mutated file was loaded at all: a mutant of dead code proves nothing. */
  readonly wasApplied: boolean;
  /** Another module (from the root of the repository), in the same mutated world. */
  load(file: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface Loaded extends LoadedSources {
  readonly sim: Simulator;
}

export async function loadMutated(mutant: Patch | undefined): Promise<Loaded> {
  const sources = await loadSources(mutant);
  const sim = (await sources.load("packages/sim/src/index.ts")) as Simulator;
  return {
    sim,
    get wasApplied() {
      return sources.wasApplied;
    },
    load: sources.load,
    close: sources.close,
  };
}

/** Nothing is loaded before it is asked for. */
export async function loadSources(mutant: Patch | undefined): Promise<LoadedSources> {
  let wasApplied = false;
  const applied = (): void => {
    wasApplied = true;
  };
  const server = await createServer({
    ...fromSources,
    root,
    configFile: false,
    logLevel: "error",
    appType: "custom",
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
    optimizeDeps: { noDiscovery: true, include: [] },
    plugins: mutant === undefined ? [] : [mutation(mutant, applied)],
  });
  return {
    get wasApplied() {
      return wasApplied;
    },
    load: (file) => server.ssrLoadModule(join(root, file)),
    close: () => server.close(),
  };
}
