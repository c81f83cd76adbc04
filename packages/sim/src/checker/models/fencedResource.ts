/**
 * A resource that takes writes with a fencing token and refuses every token below the highest that it has
 * taken: what makes a lock safe when a holder sleeps past its lease.
 */
import { type Model, unanswered } from "../model.ts";

export type FencedValue = string | number;

export interface FencedState {
  readonly highest: number;
  readonly value: FencedValue | undefined;
}

export type FencedInput =
  | { readonly kind: "write"; readonly token: number; readonly value: FencedValue }
  | { readonly kind: "read" };

export type FencedOutput =
  | { readonly kind: "accepted" }
  | { readonly kind: "rejected" }
  | { readonly kind: "value"; readonly value: FencedValue | undefined };

/** Empty at first, with every token above 0 welcome. */
export function fencedResourceModel(): Model<FencedState, FencedInput, FencedOutput> {
  return {
    name: "fenced resource",
    initial: { highest: 0, value: undefined },
    step(state, input, output) {
      if (input.kind === "read") {
        if (output === unanswered) return state;
        return output.kind === "value" && output.value === state.value ? state : undefined;
      }
      const after = input.token < state.highest ? undefined : { highest: input.token, value: input.value };
      if (output === unanswered) return after ?? state;
      if (output.kind === "rejected") return after === undefined ? state : undefined;
      return output.kind === "accepted" ? after : undefined;
    },
    key: ({ highest, value }) => `${highest} ${JSON.stringify(value)}`,
    isRead: (input) => input.kind === "read",
  };
}
