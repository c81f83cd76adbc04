/**
 * A list that only grows: append and read.
 *
 * A read shows the whole past in order, so nearly every mistake is visible at once, and the search stays
 * short (Kingsbury and Alvaro, Elle: Inferring Isolation Anomalies from Experimental Observations, 2020).
 */
import { type Model, unanswered } from "../model.ts";

export type ListValue = string | number;

export type AppendListInput =
  | { readonly kind: "append"; readonly value: ListValue }
  | { readonly kind: "read" };

export type AppendListOutput =
  /** `length` of the list after the append, where it was told. */
  | { readonly kind: "appended"; readonly length?: number }
  | { readonly kind: "list"; readonly values: readonly ListValue[] };

/** Empty at first. */
export function appendListModel(): Model<readonly ListValue[], AppendListInput, AppendListOutput> {
  return {
    name: "append-only list",
    initial: [],
    step(state, input, output) {
      if (input.kind === "read") {
        if (output === unanswered) return state;
        return output.kind === "list" && isSame(output.values, state) ? state : undefined;
      }
      const after = [...state, input.value];
      if (output === unanswered) return after;
      if (output.kind !== "appended") return undefined;
      return output.length === undefined || output.length === after.length ? after : undefined;
    },
    key: (state) => JSON.stringify(state),
    isRead: (input) => input.kind === "read",
  };
}

function isSame(left: readonly ListValue[], right: readonly ListValue[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}
