/**
 * A second algorithm for the same question: just-in-time linearization (Lowe, Testing for Linearizability,
 * 2017, section 5; the same idea as `knossos.linear`). It walks once over the events and keeps every
 * configuration that is possible so far; a pending operation takes effect only when the return of one demands
 * it.
 *
 * Breadth first where the checker goes depth first, so mistakes of one are not likely to be those of the
 * other.
 */
import { type Model, type Operation, unanswered } from "@quorate/sim";

interface Configuration<S> {
  readonly state: S;
  /** Called, not returned, and already in effect. */
  readonly inEffect: ReadonlySet<number>;
}

export function isLinearizableJustInTime<S, I, O>(
  model: Model<S, I, O>,
  history: readonly Operation<I, O>[],
): boolean {
  const pending = new Set<number>();
  let possible: Configuration<S>[] = [{ state: model.initial, inEffect: new Set() }];
  for (const { isReturn, operation } of eventsOf(history)) {
    if (!isReturn) pending.add(operation);
    else {
      possible = afterReturn(model, history, pending, possible, operation);
      pending.delete(operation);
      if (possible.length === 0) return false;
    }
  }
  return true;
}

interface Event {
  readonly at: number;
  readonly isReturn: boolean;
  readonly operation: number;
}

function eventsOf(history: readonly Operation<unknown, unknown>[]): Event[] {
  const events: Event[] = [];
  for (const [operation, { calledAt, end }] of history.entries()) {
    if (end.kind === "failed") continue;
    events.push({ at: calledAt, isReturn: false, operation });
    if (end.kind === "ok") events.push({ at: end.at, isReturn: true, operation });
  }
  return events.sort((left, right) => left.at - right.at || Number(left.isReturn) - Number(right.isReturn));
}

/** Every configuration in which `returning` has taken effect, after any pending operations before it. */
function afterReturn<S, I, O>(
  model: Model<S, I, O>,
  history: readonly Operation<I, O>[],
  pending: ReadonlySet<number>,
  possible: readonly Configuration<S>[],
  returning: number,
): Configuration<S>[] {
  const seen = new Set<string>();
  const kept = new Map<string, Configuration<S>>();
  const open = [...possible];
  for (let configuration = open.pop(); configuration !== undefined; configuration = open.pop()) {
    const key = keyOf(model, configuration);
    if (seen.has(key)) continue;
    seen.add(key);
    const { inEffect, state } = configuration;
    if (inEffect.has(returning)) {
      const after = { state, inEffect: new Set([...inEffect].filter((one) => one !== returning)) };
      kept.set(keyOf(model, after), after);
      continue;
    }
    for (const operation of pending) {
      if (inEffect.has(operation)) continue;
      const { end, input } = history[operation] as Operation<I, O>;
      const next = model.step(state, input, end.kind === "ok" ? end.output : unanswered);
      if (next !== undefined) open.push({ state: next, inEffect: new Set([...inEffect, operation]) });
    }
  }
  return [...kept.values()];
}

function keyOf<S>(model: Model<S, never, never>, { inEffect, state }: Configuration<S>): string {
  return `${[...inEffect].sort((left, right) => left - right).join(" ")} | ${model.key(state)}`;
}
