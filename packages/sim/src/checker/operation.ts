/**
 * What a client did and what it was told: the one form in which the checker reads a history.
 *
 * How an operation ended must be classified strictly: an unknown outcome that is called a failure makes good
 * histories bad as soon as the write shows up after all, and one that is called a success does so when it
 * never does.
 */
import { QuorateError } from "@quorate/raft";

export type OperationEnd<O> =
  /** Answered: it took effect once, between its call and `at`. */
  | { readonly kind: "ok"; readonly output: O; readonly at: number }
  /** It certainly had no effect, now or later: refused before it was proposed. */
  | { readonly kind: "failed" }
  /** Timed out, or the connection broke: it took effect once, at any time after its call, or never. */
  | { readonly kind: "unknown" };

/**
 * One operation of one client. Times may be of any unit, as long as one clock gave all of them; of two events
 * at the same time, calls come before returns, so that such operations overlap.
 */
export interface Operation<I, O> {
  readonly client: string;
  readonly input: I;
  readonly calledAt: number;
  readonly end: OperationEnd<O>;
}

/** Refuses what no clock can have given. */
export function requireWellTimed(operation: Operation<unknown, unknown>): void {
  const { calledAt, end } = operation;
  const wellTimed = Number.isFinite(calledAt) && (end.kind !== "ok" || end.at >= calledAt);
  if (wellTimed) return;
  const returned = end.kind === "ok" ? `, returned at ${end.at}` : "";
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `An operation of client ${operation.client} was called at ${calledAt}${returned}: ` +
      "a call has a finite time, and no return is before its call.",
  );
}
