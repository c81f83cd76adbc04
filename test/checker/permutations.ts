/**
 * The definition of linearizability, tried out in every order: for histories of a handful of operations.
 *
 * It shares nothing with the checker but the model: no bits, no cache, no splitting, no assumption that
 * models are total.
 */
import { type Model, type Operation, unanswered } from "@quorate/sim";

/** Is there an order of all answered and any of the unknown operations that is legal and keeps real time? */
export function somePermutationIsLegal<S, I, O>(
  model: Model<S, I, O>,
  history: readonly Operation<I, O>[],
): boolean {
  const happened = history.filter(({ end }) => end.kind !== "failed");
  return canFinish(model, model.initial, happened);
}

function canFinish<S, I, O>(model: Model<S, I, O>, state: S, left: readonly Operation<I, O>[]): boolean {
  if (left.every(({ end }) => end.kind === "unknown")) return true;
  return left.some((operation) => {
    if (left.some((other) => endsBefore(other, operation))) return false;
    const output = operation.end.kind === "ok" ? operation.end.output : unanswered;
    const next = model.step(state, operation.input, output);
    return (
      next !== undefined &&
      canFinish(
        model,
        next,
        left.filter((other) => other !== operation),
      )
    );
  });
}

export function endsBefore(left: Operation<unknown, unknown>, right: Operation<unknown, unknown>): boolean {
  return left.end.kind === "ok" && left.end.at < right.calledAt;
}
