/**
 * A history as the search wants it: without what constrains nothing, split by object, in the order of its
 * events.
 *
 * Dropped are definite failures, which never happened, and reads without an answer, which leave no trace. An
 * operation with an unknown outcome returns at no time: it overlaps with everything after its call.
 */
import { serialize } from "node:v8";
import { QuorateError } from "@quorate/raft";
import { type Model, type Unanswered, unanswered } from "./model.ts";
import { type Operation, requireWellTimed } from "./operation.ts";

/** What the search's keys have room for. */
const maxOperations = 1_000_000;

/**
 * Operations of one object. First the `answered` ones, then the others, both in the order of their calls: an
 * operation is known by its index in `operations`. Positions number calls and returns together, in the order
 * of time.
 */
export interface PreparedPart<I, O> {
  readonly name: string;
  readonly operations: readonly Operation<I, O>[];
  readonly answered: number;
  readonly outputs: readonly (O | Unanswered)[];
  readonly isRead: readonly boolean[];
  readonly callPosition: Int32Array;
  /** Of the answered ones. */
  readonly returnPosition: Int32Array;
  /** Equal for operations with equal input and output, which no model can tell apart. */
  readonly sort: Int32Array;
}

export function prepare<S, I, O>(
  model: Model<S, I, O>,
  operations: readonly Operation<I, O>[],
): PreparedPart<I, O>[] {
  operations.forEach(requireWellTimed);
  if (operations.length > maxOperations) {
    throw new QuorateError(
      "TOO_LARGE",
      `A history of ${operations.length} operations, at most ${maxOperations}: check each object on its own.`,
    );
  }
  const relevant = operations.filter(
    ({ end, input }) => end.kind === "ok" || (end.kind === "unknown" && model.isRead?.(input) !== true),
  );
  return [...split(model, relevant)].map(([name, part]) => preparePart(model, name, part));
}

/** Also of one object is a history in which some operation concerns several. */
function split<S, I, O>(
  model: Model<S, I, O>,
  operations: readonly Operation<I, O>[],
): Map<string, Operation<I, O>[]> {
  const parts = new Map<string, Operation<I, O>[]>();
  for (const operation of operations) {
    const object = model.objectOf?.(operation.input);
    if (object === undefined) return new Map([["", [...operations]]]);
    const part = parts.get(object);
    if (part === undefined) parts.set(object, [operation]);
    else part.push(operation);
  }
  return parts;
}

function preparePart<S, I, O>(
  model: Model<S, I, O>,
  name: string,
  part: readonly Operation<I, O>[],
): PreparedPart<I, O> {
  const byCall = [...part].sort((left, right) => left.calledAt - right.calledAt);
  const operations = [
    ...byCall.filter((operation) => operation.end.kind === "ok"),
    ...byCall.filter((operation) => operation.end.kind !== "ok"),
  ];
  const answered = byCall.filter((operation) => operation.end.kind === "ok").length;
  return {
    name,
    operations,
    answered,
    outputs: operations.map(({ end }) => (end.kind === "ok" ? end.output : unanswered)),
    isRead: operations.map(({ input }) => model.isRead?.(input) ?? false),
    ...positions(operations, answered),
    sort: sortsOf(operations),
  };
}

function positions(
  operations: readonly Operation<unknown, unknown>[],
  answered: number,
): { callPosition: Int32Array; returnPosition: Int32Array } {
  const events: { at: number; isReturn: boolean; operation: number }[] = [];
  for (const [operation, { calledAt, end }] of operations.entries()) {
    events.push({ at: calledAt, isReturn: false, operation });
    if (end.kind === "ok") events.push({ at: end.at, isReturn: true, operation });
  }
  events.sort(
    (left, right) =>
      compareTimes(left.at, right.at) ||
      Number(left.isReturn) - Number(right.isReturn) ||
      left.operation - right.operation,
  );
  const callPosition = new Int32Array(operations.length);
  const returnPosition = new Int32Array(answered);
  for (const [position, { isReturn, operation }] of events.entries()) {
    (isReturn ? returnPosition : callPosition)[operation] = position;
  }
  return { callPosition, returnPosition };
}

/** Unlike a difference, also right for infinite times. */
function compareTimes(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function sortsOf(operations: readonly Operation<unknown, unknown>[]): Int32Array {
  const sorts = new Map<string, number>();
  return Int32Array.from(operations, ({ input, end }, operation) => {
    const text = plainText([input, end.kind === "ok" ? [end.output] : []]) ?? `operation ${operation}`;
    const sort = sorts.get(text) ?? sorts.size;
    sorts.set(text, sort);
    return sort;
  });
}

/**
 * Equal only for equal plain data; `undefined` for what is not data, and then the operation is of its own
 * sort.
 */
function plainText(value: unknown): string | undefined {
  try {
    return serialize(value).toString("latin1");
  } catch {
    return undefined;
  }
}
