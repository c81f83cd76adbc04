/**
 * What options may be, said in one sentence each: checked once, before anything runs. A name that does not exist is
 * refused too, since a misspelt option would quietly leave its default in force.
 */
import { inspect } from "node:util";
import { QuorateError, refuseUnknownOptions } from "@quorate/raft";
import { layers } from "./layer.ts";
import type { ReplayOptions, SimulationOptions } from "./simulate.ts";
import type { WorldOptions } from "./simulation.ts";

const worldNames: Readonly<Record<keyof WorldOptions, true>> = {
  seed: true,
  nodes: true,
  layer: true,
  machine: true,
  profile: true,
  linearizability: true,
  keptLines: true,
  onLine: true,
  recorder: true,
};

const runNames: Readonly<Record<keyof SimulationOptions, true>> = {
  ...worldNames,
  durationMs: true,
  maxEvents: true,
  recovers: true,
};

/** Of `openSimulation`, which `simulate` calls with its own ones. */
export function requireWorldOptions(options: WorldOptions): void {
  const { keptLines = 0, layer, linearizability, nodes, seed } = options;
  requireNames(options, Object.keys(runNames));
  requireInteger("seed", seed, 0, 0xffff_ffff);
  requireInteger("nodes", nodes, 1, 7);
  requireInteger("keptLines", keptLines, 0, 1_000_000);
  if (layer !== undefined) requireOneOf("layer", layer, layers);
  if (linearizability !== undefined) {
    requireOneOf("linearizability", linearizability, ["sample", "always", "never"]);
  }
}

export function requireSimulationOptions(options: SimulationOptions | ReplayOptions): void {
  if ("schedule" in options) {
    requireNames(options, ["schedule", "machine", "linearizability", "keptLines", "onLine", "recorder"]);
    return;
  }
  requireNames(options, Object.keys(runNames));
  const { durationMs = 0, maxEvents = 1 } = options;
  refuseUnless(durationMs >= 0 && durationMs < 1e9, "durationMs", durationMs, "a number of milliseconds");
  refuseUnless(maxEvents >= 0, "maxEvents", maxEvents, "a number of events");
}

export function requireNames(options: object, names: readonly string[]): void {
  refuseUnknownOptions(options, {
    call: "this call",
    names: Object.fromEntries(names.toSorted().map((name) => [name, true])),
  });
}

export function requireInteger(name: string, value: number, from: number, to: number): void {
  const fits = Number.isInteger(value) && value >= from && value <= to;
  refuseUnless(fits, name, value, `an integer from ${from} to ${to}`);
}

function requireOneOf(name: string, value: string, values: readonly string[]): void {
  refuseUnless(values.includes(value), name, value, `one of ${values.join(", ")}`);
}

export function refuseUnless(fits: boolean, name: string, value: unknown, expected: string): void {
  if (fits) return;
  const given = typeof value === "string" ? value : inspect(value, { depth: 1, breakLength: 200 });
  throw new QuorateError("INVALID_OPTIONS", `${name} must be ${expected}, but is ${given}.`);
}
