/**
 * Is there one legal order of all operations of a history that keeps the order of real time?
 *
 * Each object is searched on its own, all of them in turns of doubling length, and the first one that has no
 * order ends the check: a hopeless search of one object never keeps the short proof of another from being
 * found (Horn and Kroening, Faster Linearizability Checking via P-Compositionality, 2015). Memory and steps
 * are bounded; where a bound is met the verdict is `unknown`, which is no pass.
 */
import { QuorateError } from "@quorate/raft";
import { explain } from "./explanation.ts";
import { MemoryBudget } from "./memoryBudget.ts";
import type { Model } from "./model.ts";
import type { Operation } from "./operation.ts";
import { type PreparedPart, prepare } from "./preparedHistory.ts";
import { Search, type SearchState } from "./search.ts";
import type { CheckEffort, IllegalVerdict, LegalOrder, Verdict } from "./verdict.ts";

export interface CheckOptions {
  /**
   * For configurations and states that the search remembers, in bytes; default 256 MiB. Half as much again at
   * peaks.
   */
  readonly maxMemoryBytes?: number;
  /** Attempts to place an operation; default 50 million, which takes some ten seconds. */
  readonly maxSteps?: number;
}

const defaultMemoryBytes = 256 * 1024 * 1024;
const defaultSteps = 50_000_000;
const firstTurnSteps = 2_000;

/**
 * Decides whether `operations`, in any order, are linearizable with respect to `model`. Runs to its end, or a
 * bound.
 */
export function checkLinearizability<S, I, O>(
  model: Model<S, I, O>,
  operations: readonly Operation<I, O>[],
  options: CheckOptions = {},
): Verdict<S, I, O> {
  const { maxMemoryBytes = defaultMemoryBytes, maxSteps = defaultSteps } = options;
  const budget = new MemoryBudget(maxMemoryBytes);
  const parts = prepare(model, operations);
  const orders: LegalOrder<I, O>[] = [];
  const undecided: string[] = [];
  let steps = 0;
  const effort = (): CheckEffort => ({
    operations: operations.length,
    parts: parts.length,
    steps,
    peakMemoryBytes: budget.peakBytes,
  });

  const turn = (search: Search<S, I, O>, length: number): SearchState => {
    const { state, taken } = search.run(Math.min(length, maxSteps - steps));
    steps += taken;
    if (state === "linearizable") orders.push(legalOrder(search.part, search.order));
    if (state === "out of memory") undecided.push(search.part.name);
    return state;
  };

  let running: Iterable<Search<S, I, O>> = searches(model, parts, budget);
  for (let length = firstTurnSteps; ; length *= 2) {
    const still: Search<S, I, O>[] = [];
    for (const search of running) {
      const state = turn(search, length);
      if (state === "running") still.push(search);
      else if (state === "illegal") return { ...illegal(search), effort: effort() };
      else search.release();
    }
    if (still.length === 0) break;
    if (steps >= maxSteps) {
      const objects = [...undecided, ...still.map((search) => search.part.name)];
      return { kind: "unknown", reason: "steps", objects, effort: effort() };
    }
    running = still;
  }
  if (undecided.length > 0) {
    return { kind: "unknown", reason: "memory", objects: undecided, effort: effort() };
  }
  return { kind: "linearizable", orders, effort: effort() };
}

/**
 * Throws unless the history is linearizable: with the longest legal order, or, where unknown, with what to
 * do.
 */
export function assertLinearizable<S, I, O>(
  model: Model<S, I, O>,
  operations: readonly Operation<I, O>[],
  options: CheckOptions = {},
): void {
  const verdict = checkLinearizability(model, operations, options);
  if (verdict.kind === "linearizable") return;
  const code = verdict.kind === "illegal" ? "INVARIANT_BROKEN" : "TOO_LARGE";
  throw new QuorateError(code, explain(model, verdict));
}

/** Made only when their first turn comes: most objects are decided in it. */
function* searches<S, I, O>(
  model: Model<S, I, O>,
  parts: readonly PreparedPart<I, O>[],
  budget: MemoryBudget,
): Generator<Search<S, I, O>> {
  for (const part of parts) yield new Search(model, part, budget);
}

function legalOrder<I, O>(part: PreparedPart<I, O>, order: readonly number[]): LegalOrder<I, O> {
  return { object: part.name, operations: pick(part, order) };
}

function illegal<S, I, O>(search: Search<S, I, O>): Omit<IllegalVerdict<S, I, O>, "effort"> {
  const { farthest, part, transitions } = search;
  const placed = new Set(farthest.placed);
  const limit = part.returnPosition[farthest.blocked] as number;
  const candidates = [...part.operations.keys()].filter(
    (operation) => !placed.has(operation) && (part.callPosition[operation] as number) < limit,
  );
  return {
    kind: "illegal",
    longest: legalOrder(part, farthest.placed),
    state: transitions.stateOf(farthest.state),
    candidates: pick(part, candidates),
    blocked: part.operations[farthest.blocked] as Operation<I, O>,
  };
}

function pick<I, O>(part: PreparedPart<I, O>, indexes: readonly number[]): Operation<I, O>[] {
  return indexes.map((index) => part.operations[index] as Operation<I, O>);
}
