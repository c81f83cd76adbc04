/**
 * A store of registers by key, and lists of all of them at once.
 *
 * Without a list in it, a history is searched key by key; one list makes it one object, which is far harder
 * to search: keep such histories short.
 */
import { type Model, unanswered } from "../model.ts";
import {
  type RegisterInput,
  type RegisterOutput,
  type RegisterState,
  type RegisterValue,
  registerKey,
  stepRegister,
} from "./register.ts";

export type KeyValueState = ReadonlyMap<string, RegisterState>;

export type KeyValueInput = (RegisterInput & { readonly key: string }) | { readonly kind: "list" };

export type KeyValueOutput =
  | RegisterOutput
  /** Every pair that was there, in any order. */
  | { readonly kind: "pairs"; readonly pairs: readonly (readonly [key: string, value: RegisterValue])[] };

/** Keys are absent at first. Versions are kept: see `RegisterState`. */
export function keyValueModel(): Model<KeyValueState, KeyValueInput, KeyValueOutput> {
  return {
    name: "key-value store",
    initial: new Map(),
    step(state, input, output) {
      if (input.kind === "list") {
        if (output === unanswered) return state;
        return output.kind === "pairs" && holdsExactly(state, output.pairs) ? state : undefined;
      }
      if (output !== unanswered && output.kind === "pairs") return undefined;
      const before = state.get(input.key) ?? absent;
      const after = stepRegister(before, input, output, true);
      if (after === undefined || after === before) return after === undefined ? undefined : state;
      return withRegister(state, input.key, after);
    },
    key: (state) =>
      [...state]
        .map(([key, register]) => `${JSON.stringify(key)} ${registerKey(register)}`)
        .sort()
        .join("\n"),
    isRead: (input) => input.kind === "get" || input.kind === "list",
    objectOf: (input) => (input.kind === "list" ? undefined : input.key),
  };
}

const absent: RegisterState = { value: undefined, version: 0 };

function withRegister(state: KeyValueState, key: string, register: RegisterState): KeyValueState {
  const next = new Map(state);
  if (register.value === undefined) next.delete(key);
  else next.set(key, register);
  return next;
}

function holdsExactly(state: KeyValueState, pairs: readonly (readonly [string, RegisterValue])[]): boolean {
  const listed = new Map(pairs);
  if (listed.size !== pairs.length || listed.size !== state.size) return false;
  return pairs.every(([key, value]) => state.get(key)?.value === value);
}
