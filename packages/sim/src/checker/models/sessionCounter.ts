/**
 * A counter that each increment raises exactly once, however often its request was sent.
 *
 * So the last read lies between the sum of the acknowledged increments and that sum plus the unknown ones.
 */
import { type Model, unanswered } from "../model.ts";

export type CounterInput =
  /** Default 1. */
  { readonly kind: "increment"; readonly by?: number } | { readonly kind: "read" };

export type CounterOutput =
  /** What a read saw, or what an increment made. */
  | { readonly kind: "value"; readonly value: number }
  /** An increment took effect, and told no more. */
  | { readonly kind: "done" };

/** 0 at first. */
export function sessionCounterModel(): Model<number, CounterInput, CounterOutput> {
  return {
    name: "session counter",
    initial: 0,
    step(state, input, output) {
      const after = input.kind === "read" ? state : state + (input.by ?? 1);
      if (output === unanswered) return after;
      if (output.kind === "done") return input.kind === "increment" ? after : undefined;
      return output.value === after ? after : undefined;
    },
    key: (state) => state,
    isRead: (input) => input.kind === "read",
  };
}
