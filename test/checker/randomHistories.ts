/**
 * Histories by chance: honest ones, made by giving each operation a moment at which it takes effect, and bent
 * ones, in which some answers, times or outcomes were changed afterwards.
 */
import type { Operation, OperationEnd } from "@quorate/sim";
import fc from "fast-check";
import type { Subject } from "./subjects.ts";

/**
 * How an operation came out in truth: `lost` took effect and nobody was told, `dropped` never did, and nobody
 * was told.
 */
type Fate = "answered" | "lost" | "dropped" | "failed";

interface Plan<I> {
  readonly client: number;
  readonly input: I;
  readonly fate: Fate;
  /** Since the effect of the one before. */
  readonly gap: number;
  readonly before: number;
  readonly after: number;
}

export interface HistorySize {
  readonly maxLength: number;
  /** How long before and after its effect an operation may be called and return. */
  readonly overlap: number;
  /** Time between two effects, so that not all operations overlap: bias is towards the least. */
  readonly leastGap: number;
  /** Of 30 operations that were answered, how many others were not. */
  readonly unanswered: number;
}

function plansOf<S, I, O>(subject: Subject<S, I, O>, size: HistorySize): fc.Arbitrary<Plan<I>[]> {
  const plan = fc.record({
    client: fc.nat(3),
    input: subject.inputs,
    fate: fc.oneof(
      { weight: 30, arbitrary: fc.constant<Fate>("answered") },
      { weight: size.unanswered, arbitrary: fc.constantFrom<Fate>("lost", "dropped", "failed") },
    ),
    gap: fc.integer({ min: size.leastGap, max: 4 }),
    before: fc.nat(size.overlap),
    after: fc.nat(size.overlap),
  });
  return fc.array(plan, { maxLength: size.maxLength, size: "max" });
}

/** Linearizable by construction. */
export function honestHistories<S, I, O>(
  subject: Subject<S, I, O>,
  size: HistorySize,
): fc.Arbitrary<Operation<I, O>[]> {
  return honestRuns(subject, size).map((run) => run.map(({ operation }) => operation));
}

/** Each operation with what a log would tell of it; undefined: it never took effect. */
export interface TrueOperation<I, O> {
  readonly operation: Operation<I, O>;
  readonly effect: { readonly output: O; readonly at: number } | undefined;
}

export function honestRuns<S, I, O>(
  subject: Subject<S, I, O>,
  size: HistorySize,
): fc.Arbitrary<TrueOperation<I, O>[]> {
  return plansOf(subject, size).map((plans) => execute(subject, plans));
}

function execute<S, I, O>(subject: Subject<S, I, O>, plans: readonly Plan<I>[]): TrueOperation<I, O>[] {
  let state = subject.model.initial;
  let effectAt = 0;
  return plans.map(({ after, before, client, fate, gap, input }) => {
    effectAt += gap;
    const called = { client: `c${client}`, input, calledAt: effectAt - before };
    if (fate === "failed") return { operation: { ...called, end: { kind: "failed" } }, effect: undefined };
    if (fate === "dropped") return { operation: { ...called, end: { kind: "unknown" } }, effect: undefined };
    const output = subject.answer(state, input);
    const next = subject.model.step(state, input, output);
    if (next === undefined) throw new Error(`${subject.model.name} refuses its own answer`);
    state = next;
    const end: OperationEnd<O> =
      fate === "lost" ? { kind: "unknown" } : { kind: "ok", output, at: effectAt + after };
    return { operation: { ...called, end }, effect: { output, at: effectAt } };
  });
}

/** Honest ones with a few changes: some are still linearizable, most are not. */
export function bentHistories<S, I, O>(
  subject: Subject<S, I, O>,
  size: HistorySize,
): fc.Arbitrary<Operation<I, O>[]> {
  const change = fc.record({
    position: fc.nat(),
    kind: fc.constantFrom("answer" as const, "earlier" as const, "unknown" as const, "failed" as const),
    output: subject.outputs,
    by: fc.integer({ min: 1, max: size.overlap + 2 }),
  });
  return fc
    .tuple(honestHistories(subject, size), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([history, changes]) => {
      const bent = [...history];
      for (const { by, kind, output, position } of changes) {
        const index = bent.length === 0 ? 0 : position % bent.length;
        const operation = bent[index];
        if (operation?.end.kind !== "ok") continue;
        const end: OperationEnd<O> = operation.end;
        const calledAt = operation.calledAt - (kind === "earlier" ? by : 0);
        if (kind === "answer") bent[index] = { ...operation, end: { ...end, output } };
        else if (kind === "unknown" || kind === "failed") bent[index] = { ...operation, end: { kind } };
        else bent[index] = { ...operation, calledAt, end: { ...end, at: Math.max(calledAt, end.at - by) } };
      }
      return bent;
    });
}
