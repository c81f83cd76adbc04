/**
 * The seeds that a search found (kept.json), and what each of them shows. Any change of the core's or the simulator's
 * timing may make them say nothing: `pnpm mutants --refresh` searches anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InvariantName, SimulationOptions, Violation } from "@quorate/sim";
import type { Simulator } from "../sim/scenarios.ts";
import type { Search } from "./mutant.ts";
import { root } from "./sources.ts";

export interface KeptSeed {
  readonly seed: number;
  readonly invariant: InvariantName;
}

/** By the mutant's name. The first seeds that find it, at most `keptSeeds`. */
export type Kept = Readonly<Record<string, readonly KeptSeed[]>>;

/** More than one, so that a change that shifts a run's timing seldom leaves a mutant without. */
export const keptSeeds = 3;

const file = join(root, "test", "mutants", "kept.json");

export function readKept(): Kept {
  return JSON.parse(readFileSync(file, "utf8")) as Kept;
}

const lineWidth = 110;

/** As the formatter would: a single seed stays on the line of its mutant, where it fits. */
export function writeKept(kept: Kept): void {
  const lines = Object.entries(kept).map(([name, seeds]) => {
    const key = `  ${JSON.stringify(name)}:`;
    const items = seeds.map(
      ({ seed, invariant }) => `{ "seed": ${seed}, "invariant": ${JSON.stringify(invariant)} }`,
    );
    const short = `${key} [${items.join(", ")}]`;
    if (items.length === 1 && short.length < lineWidth) return short;
    return `${key} [\n${items.map((item) => `    ${item}`).join(",\n")}\n  ]`;
  });
  writeFileSync(file, `{\n${lines.join(",\n")}\n}\n`);
}

/** What the run of a seed violates first, with the simulator that is given. */
export async function violationOf(
  sim: Simulator,
  search: Search,
  seed: number,
): Promise<Violation | undefined> {
  return (await sim.simulate(optionsOf(sim, search, seed))).violations[0];
}

export function optionsOf(sim: Simulator, search: Search, seed: number): SimulationOptions {
  const { layer, nodes, durationMs, profile = "swarm" } = search;
  return { seed, layer, nodes, durationMs, profile: sim.namedProfiles[profile].profile };
}
