/**
 * Unknown outcomes made known by the log, where there is one to ask: what took effect without a word to its client
 * ended there at the latest, and what is in no log never happened (patch_history.go of etcd's robustness tests).
 *
 * It must never hide a violation, and cannot: an order that is legal with the later bound, or without the operation, is
 * one for the history as it was told. What was answered or has failed stays as it is.
 */
import type { Operation } from "./operation.ts";

/** What an operation came to, and a time by which it had. */
export interface KnownEffect<O> {
  readonly output: O;
  readonly at: number;
}

/** `effectOf` knows the log to its end: undefined is that an operation is not in it. */
export function settledOperations<I, O>(
  operations: readonly Operation<I, O>[],
  effectOf: (operation: Operation<I, O>, at: number) => KnownEffect<O> | undefined,
): readonly Operation<I, O>[] {
  return operations.map((operation, at) => {
    if (operation.end.kind !== "unknown") return operation;
    const effect = effectOf(operation, at);
    return { ...operation, end: effect === undefined ? { kind: "failed" } : { kind: "ok", ...effect } };
  });
}
