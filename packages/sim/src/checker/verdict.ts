/**
 * What a check of a history finds, as data; in words: `explanation.ts`.
 */
import type { Operation } from "./operation.ts";

/** What the check cost. */
export interface CheckEffort {
  readonly operations: number;
  /** Objects that were searched on their own. */
  readonly parts: number;
  readonly steps: number;
  readonly peakMemoryBytes: number;
}

/**
 * A legal order, of some or all operations of one object; `object` is "" where the history is searched as
 * one.
 */
export interface LegalOrder<I, O> {
  readonly object: string;
  readonly operations: readonly Operation<I, O>[];
}

/**
 * Every object has an order of all its answered operations; those unanswered ones that it needs are in it.
 */
export interface LinearizableVerdict<I, O> {
  readonly kind: "linearizable";
  readonly orders: readonly LegalOrder<I, O>[];
  readonly effort: CheckEffort;
}

/** One object has no such order. */
export interface IllegalVerdict<S, I, O> {
  readonly kind: "illegal";
  /** As far as any legal order went. */
  readonly longest: LegalOrder<I, O>;
  /** The model's state at its end. */
  readonly state: S;
  /**
   * Called before the next return and not yet placed: none of them can come next so that the rest still fits.
   */
  readonly candidates: readonly Operation<I, O>[];
  /** One of the candidates, the one that returned first. */
  readonly blocked: Operation<I, O>;
  readonly effort: CheckEffort;
}

/** A bound was met, and nothing was found to be wrong by then. To be treated as a failure. */
export interface UnknownVerdict {
  readonly kind: "unknown";
  readonly reason: "memory" | "steps";
  /** Those that were not decided. */
  readonly objects: readonly string[];
  readonly effort: CheckEffort;
}

export type Verdict<S, I, O> = LinearizableVerdict<I, O> | IllegalVerdict<S, I, O> | UnknownVerdict;
