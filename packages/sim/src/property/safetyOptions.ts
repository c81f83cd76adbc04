/** What `checkSafety` takes, and what it refuses: options are checked once, before anything runs. */
import type { StateMachine } from "@quorate/raft";
import type { Arbitrary } from "fast-check";
import type { MachineUnderTest } from "../machine/machineUnderTest.ts";
import { refuseUnless, requireInteger, requireNames } from "../requirements.ts";
import { type ListedFaultKind, listedFaultKinds, type ScheduleConstraints } from "./arbitraries.ts";

export interface SafetyOptions<Command, M extends StateMachine<unknown>>
  extends MachineUnderTest<Command, M> {
  /** What clients send. Plain data, unless `encode` is given. */
  readonly commands: Arbitrary<Command>;
  /** How many nodes, or one of these: 1 to 7. Default 3. */
  readonly nodes?: number | readonly number[];
  /** Default 100. */
  readonly runs?: number;
  /** Decides every run. Default 1: give another one for other runs. */
  readonly seed?: number;
  /** Of a case that was found: only that one is run. */
  readonly path?: string;
  /** Virtual time within which faults strike and commands are sent. Default 2,000. */
  readonly durationMs?: number;
  /** A run has at most so many. Default 20. */
  readonly maxCommands?: number;
  /** A run has at most so many. Default 6. */
  readonly maxFaults?: number;
  /** Default: all of them. */
  readonly faults?: readonly ListedFaultKind[];
  /** Runs, at most, to make a case smaller. Default 500. */
  readonly maxAttempts?: number;
  /** Ends it with `ABORTED` after the run under way, or, while a case is made smaller, with the smallest so far. */
  readonly signal?: AbortSignal;
}

export interface ResolvedSafetyOptions extends ScheduleConstraints {
  readonly runs: number;
  readonly seed: number;
  readonly path: string | undefined;
}

const optionNames: Readonly<Record<keyof SafetyOptions<unknown, StateMachine<unknown>>, true>> = {
  machine: true,
  state: true,
  appliedIndex: true,
  commands: true,
  encode: true,
  invariant: true,
  model: true,
  retries: true,
  nodes: true,
  runs: true,
  seed: true,
  path: true,
  durationMs: true,
  maxCommands: true,
  maxFaults: true,
  faults: true,
  maxAttempts: true,
  signal: true,
};

/** Throws `INVALID_OPTIONS` with the name and the value of what cannot be. */
export function resolveSafetyOptions<Command, M extends StateMachine<unknown>>(
  options: SafetyOptions<Command, M>,
): ResolvedSafetyOptions {
  const { commands, durationMs = 2_000, faults = listedFaultKinds, nodes = 3, path } = options;
  const { maxAttempts = 500, maxCommands = 20, maxFaults = 6, retries = 0, runs = 100, seed = 1 } = options;
  requireNames(options, Object.keys(optionNames));
  refuseUnless(
    path === undefined || /^\d+(:\d+)*$/.test(path),
    "path",
    path,
    'numbers with colons between, as "8:1:2", from the message of a counterexample',
  );
  refuseUnless(
    typeof options.machine === "function",
    "machine",
    options.machine,
    "a function that makes one",
  );
  refuseUnless(typeof options.state === "function", "state", options.state, "a function of the machine");
  refuseUnless(isArbitrary(commands), "commands", commands, "an arbitrary of fast-check");
  const counts = typeof nodes === "number" ? [nodes] : nodes;
  refuseUnless(counts.length > 0, "nodes", nodes, "a number, or several");
  for (const count of counts) requireInteger("nodes", count, 1, 7);
  for (const kind of faults) {
    refuseUnless(listedFaultKinds.includes(kind), "faults", kind, `some of ${listedFaultKinds.join(", ")}`);
  }
  requireInteger("seed", seed, 0, 0xffff_ffff);
  requireInteger("runs", runs, 1, 1_000_000);
  requireInteger("durationMs", durationMs, 10, 600_000);
  requireInteger("maxCommands", maxCommands, 0, 10_000);
  requireInteger("maxFaults", maxFaults, 0, 1_000);
  requireInteger("maxAttempts", maxAttempts, 0, 1_000_000);
  requireInteger("retries", retries, 0, 1_000);
  return Object.freeze({
    commands,
    durationMs,
    faults,
    maxFaults,
    maxOperations: maxCommands,
    nodes,
    path,
    runs,
    seed,
  });
}

function isArbitrary(value: unknown): boolean {
  return typeof value === "object" && value !== null && "generate" in value;
}
