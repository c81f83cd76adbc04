/**
 * A lock whose grants carry a rising token, with leases that run out.
 *
 * Expiry is an operation too: record `expire` with the outcome `unknown`, called at the first moment at which
 * the owner's lease may run out. A second grant without it, while the first stands, is then what it is: a
 * broken lock. How a resource uses the token is `fencedResourceModel`.
 */
import { type Model, type Unanswered, unanswered } from "../model.ts";

/** `token` is unknown while the grant's answer got lost; then it is at least `floor`. */
export interface LockHolder {
  readonly owner: string;
  readonly token: number | undefined;
}

export interface LockState {
  /** No token so far is higher than this, as far as it was told. */
  readonly floor: number;
  readonly holder: LockHolder | undefined;
}

export type LockInput =
  | { readonly kind: "acquire"; readonly owner: string }
  | { readonly kind: "keepAlive"; readonly owner: string; readonly token: number }
  | { readonly kind: "release"; readonly owner: string; readonly token: number }
  /** The lease of `owner` ran out, by the clock of whoever decides that. */
  | { readonly kind: "expire"; readonly owner: string };

export type LockOutput =
  | { readonly kind: "granted"; readonly token: number }
  /** An acquire met a holder, perhaps the same owner. */
  | { readonly kind: "held" }
  | { readonly kind: "done" }
  /** A keep-alive or release came from someone who does not hold the lock with that token. */
  | { readonly kind: "notHolder" };

/** Free at first; tokens are integers above 0, and each grant's is higher than all before. */
export function lockModel(): Model<LockState, LockInput, LockOutput> {
  return {
    name: "lock",
    initial: { floor: 0, holder: undefined },
    step(state, input, output) {
      if (input.kind === "acquire") return acquire(state, input.owner, output);
      if (input.kind === "expire") return expire(state, input.owner, output);
      const mayHold = holds(state, input.owner, input.token);
      if (output === unanswered) return mayHold && input.kind === "release" ? freed(state) : state;
      if (output.kind === "notHolder")
        return mayHold && state.holder?.token !== undefined ? undefined : state;
      if (output.kind !== "done" || !mayHold) return undefined;
      const holder = input.kind === "keepAlive" ? { owner: input.owner, token: input.token } : undefined;
      return { floor: input.token, holder };
    },
    key: ({ floor, holder }) => `${floor} ${holder?.token ?? "?"} ${holder?.owner ?? ""}`,
  };
}

function acquire(state: LockState, owner: string, output: LockOutput | Unanswered): LockState | undefined {
  if (output === unanswered) {
    return state.holder === undefined
      ? { floor: state.floor + 1, holder: { owner, token: undefined } }
      : state;
  }
  if (output.kind === "held") return state.holder === undefined ? undefined : state;
  if (output.kind !== "granted" || state.holder !== undefined || output.token <= state.floor)
    return undefined;
  return { floor: output.token, holder: { owner, token: output.token } };
}

function expire(state: LockState, owner: string, output: LockOutput | Unanswered): LockState | undefined {
  if (output !== unanswered && output.kind !== "done") return undefined;
  return state.holder?.owner === owner ? freed(state) : state;
}

function holds({ floor, holder }: LockState, owner: string, token: number): boolean {
  if (holder?.owner !== owner) return false;
  return holder.token === undefined ? token >= floor : token === holder.token;
}

function freed(state: LockState): LockState {
  return { floor: state.floor, holder: undefined };
}
