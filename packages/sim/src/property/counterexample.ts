/** The smallest case in which a machine breaks, and how it is told. */
import { QuorateError } from "@quorate/raft";
import { describeFault } from "../faults/describeFault.ts";
import type { Violation } from "../invariants/history.ts";
import { shown, shownCommand } from "../machine/replicas.ts";
import { calmWire } from "../network/paths.ts";
import { type Schedule, sizeOf } from "../schedule/schedule.ts";
import type { Happening } from "../workload/workload.ts";

export interface Counterexample {
  /** What was done to the cluster, and nothing after the violation. */
  readonly schedule: Schedule;
  readonly violation: Violation;
  /** What clients sent more than once in it, and where each copy was applied. */
  readonly repetitions: readonly Happening[];
  /** Of the property test, and where in it the case stands: `checkSafety({ ...options, seed, path })` runs it again. */
  readonly seed: number;
  readonly path: string;
  /** It was not looked for: its path was given. */
  readonly isReplay: boolean;
  /** Runs until it was found, and further ones to make it smaller. */
  readonly runs: number;
  readonly attempts: number;
  /** False: the bound on attempts, or the signal, came first, and there may be a smaller one. */
  readonly isSmallest: boolean;
  /** False: the very same case went well when it was run again. */
  readonly isRepeatable: boolean;
}

/** `INVARIANT_BROKEN`: its message tells the case, its fields hold it as data. */
export class CounterexampleError extends QuorateError {
  readonly counterexample: Counterexample;

  constructor(counterexample: Counterexample) {
    const { cause } = counterexample.violation;
    super("INVARIANT_BROKEN", inWords(counterexample), cause === undefined ? {} : { cause });
    this.name = "CounterexampleError";
    this.counterexample = counterexample;
  }

  /** For `simulate({ schedule, machine })`, which tells all of it, and for `writeSchedule`. */
  get schedule(): Schedule {
    return this.counterexample.schedule;
  }

  get violation(): Violation {
    return this.counterexample.violation;
  }
}

function inWords(counterexample: Counterexample): string {
  const { isRepeatable, path, schedule, seed, violation } = counterexample;
  return [
    `"${violation.invariant}" is violated: ${violation.sentence}`,
    "",
    `${originOf(counterexample)}: ${counted(schedule.nodes, "node")}, ${counted(sizeOf(schedule), "event")}`,
    ...eventLines(counterexample),
    line(violation.atMs, "the violation"),
    ...wireLines(schedule),
    "",
    ...(isRepeatable ? [] : [unrepeatable, ""]),
    "The same case again:",
    `  await checkSafety({ ...options, seed: ${seed}, path: ${JSON.stringify(path)} });`,
    "Its trace, with `error.schedule`:",
    "  await simulate({ schedule: error.schedule, machine: options, onLine: console.log });",
  ].join("\n");
}

function originOf({ attempts, isReplay, isSmallest, runs }: Counterexample): string {
  if (isReplay) return "The case of this path";
  const which = isSmallest ? "The smallest case found" : "A case, perhaps not the smallest";
  return `${which} (in run ${runs}, and ${attempts} more to make it smaller)`;
}

const unrepeatable =
  "Run once more, the very same case went well: the machine keeps something outside of itself from run to run, or asks " +
  "for time or chance. What it is to keep belongs into `disk`, which each run has afresh.";

/** Faults, commands and what became of those sent again, by time, one a line. */
function eventLines({ repetitions, schedule, violation }: Counterexample): readonly string[] {
  const { faults, operations = [] } = schedule;
  const events = [
    ...faults.map(({ atMs, fault }) => ({ atMs, what: describeFault(fault) })),
    ...operations.map(({ atMs, operation }) => ({
      atMs,
      what:
        operation.kind === "command"
          ? `client ${operation.client} sends ${shownCommand(operation.command)}`
          : shown(operation),
    })),
    ...repetitions
      .filter(({ atMs }) => atMs <= violation.atMs)
      .map(({ atMs, sentence }) => ({ atMs, what: sentence })),
  ];
  return events.toSorted((one, other) => one.atMs - other.atMs).map(({ atMs, what }) => line(atMs, what));
}

function wireLines({ profile, seed }: Schedule): readonly string[] {
  const { wire } = profile;
  const rough = Object.entries(wire ?? calmWire).filter(
    ([name, value]) => value !== calmWire[name as keyof typeof calmWire],
  );
  const words = rough.map(([name, value]) => `${name} ${value}`).join(", ");
  return [
    `What is not listed, such as the delay of a frame, is drawn from seed ${seed}${
      words === "" ? "" : ` on a wire with ${words}`
    }.`,
  ];
}

function line(atMs: number, what: string): string {
  return `${atMs.toFixed(0).padStart(8)} ms  ${what}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
