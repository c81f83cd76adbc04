/** What a mutant is: a bug as one replacement of text, and how it must be found. */
import type { InvariantName, ProfileName } from "@quorate/sim";
import type { Patch } from "./sources.ts";

export interface Mutant extends Patch {
  /** What is broken, as a clause. */
  readonly name: string;
  /** Who shipped it, or the rule that it breaks. */
  readonly source: string;
  /** The named case that fails with it, in every change's tests. */
  readonly killedBy: NamedCase;
  /** How seeds are searched for one that shows it; or why none can. */
  readonly search: Search | Unsearched;
}

/** Of `it.each`, the title that a run prints. */
export interface NamedCase {
  readonly file: string;
  readonly title: string;
}

export interface Search {
  readonly kind: "seeds";
  /** The fastest layer that can show the bug. */
  readonly layer: "core" | "raft" | "store";
  readonly nodes: number;
  readonly durationMs: number;
  /** Default `swarm`. */
  readonly profile?: ProfileName;
  /** The violation that it must be found by; any of these. */
  readonly as: readonly InvariantName[];
}

export interface Unsearched {
  readonly kind: "none";
  readonly because: string;
}

export function inFile(file: string): (title: string) => NamedCase {
  return (title) => ({ file, title });
}

export function unsearched(because: string): Unsearched {
  return { kind: "none", because };
}

/** Runs with clients that take leases. */
export const leaseRuns = {
  kind: "seeds",
  layer: "store",
  nodes: 3,
  durationMs: 12_000,
  profile: "leases",
} as const;

export const narrowRace: Unsearched = unsearched(
  "the race is too narrow for random runs; the exploration of leases goes through it",
);
