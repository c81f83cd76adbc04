/**
 * Sequential objects to make histories of: each model of the checker with arbitrary inputs, an honest answer
 * to each, and arbitrary answers that are mostly lies.
 */
import {
  type AppendListInput,
  type AppendListOutput,
  appendListModel,
  type CounterInput,
  type CounterOutput,
  type FencedInput,
  type FencedOutput,
  type FencedState,
  fencedResourceModel,
  type KeyValueInput,
  type KeyValueOutput,
  type KeyValueState,
  keyValueModel,
  type ListValue,
  type LockInput,
  type LockOutput,
  type LockState,
  lockModel,
  type Model,
  type RegisterInput,
  type RegisterOutput,
  type RegisterState,
  type RegisterValue,
  registerModel,
  sessionCounterModel,
} from "@quorate/sim";
import fc from "fast-check";

export interface Subject<S, I, O> {
  readonly model: Model<S, I, O>;
  readonly inputs: fc.Arbitrary<I>;
  readonly outputs: fc.Arbitrary<O>;
  /** What a correct object answers in this state. */
  answer(state: S, input: I): O;
}

const smallValue = fc.integer({ min: 0, max: 2 });
const smallVersion = fc.integer({ min: 0, max: 3 });

const registerInputs: fc.Arbitrary<RegisterInput> = fc.oneof(
  fc.record({ kind: fc.constant("get" as const) }),
  fc.record({ kind: fc.constant("put" as const), value: smallValue }),
  fc.record({ kind: fc.constant("put" as const), value: smallValue, ifVersion: smallVersion }),
  fc.record({ kind: fc.constant("delete" as const) }),
  fc.record({
    kind: fc.constant("cas" as const),
    expected: fc.option(smallValue, { nil: undefined }),
    value: smallValue,
  }),
);

const registerOutputs: fc.Arbitrary<RegisterOutput> = fc.oneof(
  fc.record({ kind: fc.constant("value" as const), value: fc.option(smallValue, { nil: undefined }) }),
  fc.record({ kind: fc.constant("value" as const), value: smallValue, version: smallVersion }),
  fc.record({ kind: fc.constant("done" as const) }),
  fc.record({ kind: fc.constant("done" as const), version: smallVersion }),
  fc.record({ kind: fc.constant("refused" as const) }),
);

function answerRegister({ value, version }: RegisterState, input: RegisterInput): RegisterOutput {
  switch (input.kind) {
    case "get":
      return { kind: "value", value, version };
    case "delete":
      return { kind: "done" };
    case "cas":
      return value === input.expected ? { kind: "done" } : { kind: "refused" };
    case "put":
      if (input.ifVersion !== undefined && input.ifVersion !== version) return { kind: "refused" };
      return { kind: "done", version: version + 1 };
  }
}

export const versionedRegister: Subject<RegisterState, RegisterInput, RegisterOutput> = {
  model: registerModel({ versions: true }),
  inputs: registerInputs,
  outputs: registerOutputs,
  answer: answerRegister,
};

/** Few states and many ways to them: the hardest for caches. */
export const plainRegister: Subject<RegisterState, RegisterInput, RegisterOutput> = {
  model: registerModel({ initial: 0 }),
  inputs: registerInputs.filter((input) => input.kind !== "put" || input.ifVersion === undefined),
  outputs: registerOutputs.filter((output) => !("version" in output)),
  answer(state, input) {
    if (input.kind === "get") return { kind: "value", value: state.value };
    return input.kind === "put" ? { kind: "done" } : answerRegister(state, input);
  },
};

export const appendList: Subject<readonly ListValue[], AppendListInput, AppendListOutput> = {
  model: appendListModel(),
  inputs: fc.oneof(
    fc.record({ kind: fc.constant("append" as const), value: smallValue }),
    fc.record({ kind: fc.constant("read" as const) }),
  ),
  outputs: fc.oneof(
    fc.record({ kind: fc.constant("appended" as const), length: smallVersion }),
    fc.record({ kind: fc.constant("list" as const), values: fc.array(smallValue, { maxLength: 3 }) }),
  ),
  answer: (state, input) =>
    input.kind === "read" ? { kind: "list", values: state } : { kind: "appended", length: state.length + 1 },
};

export const sessionCounter: Subject<number, CounterInput, CounterOutput> = {
  model: sessionCounterModel(),
  inputs: fc.oneof(
    fc.record({ kind: fc.constant("increment" as const) }),
    fc.record({ kind: fc.constant("increment" as const), by: smallValue }),
    fc.record({ kind: fc.constant("read" as const) }),
  ),
  outputs: fc.oneof(
    fc.record({ kind: fc.constant("done" as const) }),
    fc.record({ kind: fc.constant("value" as const), value: fc.integer({ min: 0, max: 5 }) }),
  ),
  answer(state, input) {
    if (input.kind === "read") return { kind: "value", value: state };
    return input.by === undefined ? { kind: "done" } : { kind: "value", value: state + input.by };
  },
};

const owner = fc.constantFrom("a", "b");
const token = fc.integer({ min: 1, max: 4 });

export const lock: Subject<LockState, LockInput, LockOutput> = {
  model: lockModel(),
  inputs: fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("acquire" as const), owner }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("keepAlive" as const), owner, token }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("release" as const), owner, token }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("expire" as const), owner }) },
  ),
  outputs: fc.oneof(
    fc.record({ kind: fc.constant("granted" as const), token }),
    fc.record({ kind: fc.constantFrom("held" as const, "done" as const, "notHolder" as const) }),
  ),
  answer(state, input) {
    if (input.kind === "acquire") {
      return state.holder === undefined ? { kind: "granted", token: state.floor + 1 } : { kind: "held" };
    }
    if (input.kind === "expire") return { kind: "done" };
    const { holder, floor } = state;
    const holds =
      holder?.owner === input.owner && (holder.token ?? Math.max(floor, input.token)) === input.token;
    return { kind: holds ? "done" : "notHolder" };
  },
};

export const fencedResource: Subject<FencedState, FencedInput, FencedOutput> = {
  model: fencedResourceModel(),
  inputs: fc.oneof(
    fc.record({ kind: fc.constant("write" as const), token, value: smallValue }),
    fc.record({ kind: fc.constant("read" as const) }),
  ),
  outputs: fc.oneof(
    fc.record({ kind: fc.constantFrom("accepted" as const, "rejected" as const) }),
    fc.record({ kind: fc.constant("value" as const), value: fc.option(smallValue, { nil: undefined }) }),
  ),
  answer(state, input) {
    if (input.kind === "read") return { kind: "value", value: state.value };
    return { kind: input.token < state.highest ? "rejected" : "accepted" };
  },
};

const key = fc.constantFrom("x", "y");
const keyedInputs = fc.tuple(registerInputs, key).map(([input, name]) => ({ ...input, key: name }));

function answerKeyValue(state: KeyValueState, input: KeyValueInput): KeyValueOutput {
  if (input.kind !== "list")
    return answerRegister(state.get(input.key) ?? { value: undefined, version: 0 }, input);
  const pairs = [...state].map(([name, { value }]) => [name, value as RegisterValue] as const);
  return { kind: "pairs", pairs };
}

/** Searched key by key, unless it holds a list. */
export const keyValue: Subject<KeyValueState, KeyValueInput, KeyValueOutput> = {
  model: keyValueModel(),
  inputs: fc.oneof(
    { weight: 15, arbitrary: keyedInputs },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("list" as const) }) },
  ),
  outputs: fc.oneof(
    { weight: 6, arbitrary: registerOutputs },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("pairs" as const),
        pairs: fc.uniqueArray(fc.tuple(key, smallValue), { selector: ([name]) => name, maxLength: 2 }),
      }),
    },
  ),
  answer: answerKeyValue,
};
