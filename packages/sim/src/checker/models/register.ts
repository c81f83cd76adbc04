/** A register: get, put, delete, compare-and-set by value, and by version where versions are kept. */
import { QuorateError } from "@quorate/raft";
import { type Model, type Unanswered, unanswered } from "../model.ts";

export type RegisterValue = string | number | boolean | null;

/**
 * `version` is the number of puts since the register was last absent; 0 while absent, and where none are
 * kept.
 */
export interface RegisterState {
  readonly value: RegisterValue | undefined;
  readonly version: number;
}

export type RegisterInput =
  | { readonly kind: "get" }
  /** With `ifVersion`, only on top of that version; 0 means only if absent. */
  | { readonly kind: "put"; readonly value: RegisterValue; readonly ifVersion?: number }
  | { readonly kind: "delete" }
  /** Sets `value` if the register holds `expected`; `undefined` means absent. */
  | { readonly kind: "cas"; readonly expected: RegisterValue | undefined; readonly value: RegisterValue };

export type RegisterOutput =
  | { readonly kind: "value"; readonly value: RegisterValue | undefined; readonly version?: number }
  /** A put, delete or cas took effect; `version` is the one that it made. */
  | { readonly kind: "done"; readonly version?: number }
  /** The condition of a put or cas did not hold. */
  | { readonly kind: "refused" };

export interface RegisterOptions {
  /** Default `undefined`: absent. */
  readonly initial?: RegisterValue;
  /**
   * Default false: versions in outputs are refused. Keeping them makes states differ, and the search longer.
   */
  readonly versions?: boolean;
}

/** Values that are never written twice make mistakes visible; a few values only make many clients collide. */
export function registerModel(
  options: RegisterOptions = {},
): Model<RegisterState, RegisterInput, RegisterOutput> {
  const { initial, versions = false } = options;
  return {
    name: "register",
    initial: { value: initial, version: versions && initial !== undefined ? 1 : 0 },
    step(state, input, output) {
      if (!versions) refuseVersions(input, output);
      return stepRegister(state, input, output, versions);
    },
    key: registerKey,
    isRead: (input) => input.kind === "get",
  };
}

export function registerKey(state: RegisterState): string {
  return state.value === undefined ? "absent" : `${state.version} ${JSON.stringify(state.value)}`;
}

export function stepRegister(
  state: RegisterState,
  input: RegisterInput,
  output: RegisterOutput | Unanswered,
  versions: boolean,
): RegisterState | undefined {
  if (input.kind === "get") {
    if (output === unanswered) return state;
    return output.kind === "value" && output.value === state.value && isVersion(output, state.version)
      ? state
      : undefined;
  }
  const after = allows(state, input) ? applied(state, input, versions) : undefined;
  if (output === unanswered) return after ?? state;
  if (output.kind === "refused") return after === undefined ? state : undefined;
  if (output.kind !== "done" || after === undefined) return undefined;
  return isVersion(output, after.version) ? after : undefined;
}

type RegisterWrite = Exclude<RegisterInput, { kind: "get" }>;

function allows(state: RegisterState, input: RegisterWrite): boolean {
  if (input.kind === "cas") return input.expected === state.value;
  return input.kind === "delete" || input.ifVersion === undefined || input.ifVersion === state.version;
}

function applied(state: RegisterState, input: RegisterWrite, versions: boolean): RegisterState {
  if (input.kind === "delete") return { value: undefined, version: 0 };
  return { value: input.value, version: versions ? state.version + 1 : 0 };
}

function isVersion(output: { readonly version?: number }, version: number): boolean {
  return output.version === undefined || output.version === version;
}

function refuseVersions(input: RegisterInput, output: RegisterOutput | Unanswered): void {
  const named =
    (input.kind === "put" && input.ifVersion !== undefined) ||
    (output !== unanswered && "version" in output && output.version !== undefined);
  if (!named) return;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    "The history names versions, and the model keeps none: make it with registerModel({ versions: true }).",
  );
}
