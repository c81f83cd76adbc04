/**
 * What a sequential object does: the specification that a concurrent history is held against.
 *
 * A model is pure: `step` never changes the state that it is given, and knows no clock and no chance.
 */

/** Stands in for the output of an operation whose outcome is unknown. */
export const unanswered: unique symbol = Symbol("unanswered");
export type Unanswered = typeof unanswered;

/**
 * A sequential object with states `S`, inputs `I` and outputs `O`. Inputs and outputs are plain data.
 *
 * `step` must be **total** for `unanswered`: apply the operation if the state allows it, else leave the state
 * as it is. Nobody knows what such an operation answered, so nothing about it can be wrong; "it never
 * happened" is covered, since it can be placed after everything else. A model that refuses there declares
 * good histories bad; the checker throws.
 */
export interface Model<S, I, O> {
  /** For messages. */
  readonly name: string;
  readonly initial: S;
  /**
   * The state after `input` was answered with `output`; `undefined` if it cannot have been, in this state.
   */
  step(state: S, input: I, output: O | Unanswered): S | undefined;
  /** Equal for equal states, and only for those. */
  key(state: S): string | number;
  /** Does this input leave **every** state as it is? Such operations are placed without search. */
  isRead?(input: I): boolean;
  /**
   * The one independent object that `input` concerns: a history is linearizable if and only if that of each
   * object is (Herlihy and Wing, Linearizability, 1990, theorem 1), so each is searched on its own.
   * `undefined`: it concerns several, and then the whole history is searched as one.
   */
  objectOf?(input: I): string | undefined;
}

/** Many independent objects of one model, told apart by `key` in the input. */
export function perKey<S, I, O>(model: Model<S, I, O>): Model<S, I & { readonly key: string }, O> {
  return {
    name: `${model.name} of each key`,
    initial: model.initial,
    step: (state, input, output) => model.step(state, input, output),
    key: (state) => model.key(state),
    isRead: (input) => model.isRead?.(input) ?? false,
    objectOf: (input) => input.key,
  };
}
