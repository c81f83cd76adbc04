/** What is fenced, and by which term: checked before anything is done, for a wrong name or term would fence nothing. */
import { QuorateError } from "@quorate/raft";

export interface FencedAct {
  /** What the term protects, 1 to 255 characters of printable ASCII; the lease's name is a good one. */
  readonly resource: string;
  /** The lease's term, an integer from 1 to 2^53 - 1. */
  readonly term: number;
}

export const maxResourceLength = 255;

/** ASCII alone: databases disagree on the order, the case and the width of anything else. */
export function requireResource(resource: unknown): asserts resource is string {
  if (typeof resource === "string" && /^[\x20-\x7e]{1,255}$/.test(resource)) return;
  throw new QuorateError(
    "INVALID_ARGUMENT",
    `The resource ${shown(resource)} is no name: give 1 to ${maxResourceLength} characters of printable ASCII.`,
  );
}

export function requireTerm(term: unknown): asserts term is number {
  if (Number.isSafeInteger(term) && (term as number) >= 1) return;
  throw noTerm(
    `The term ${shown(term)} is none: a lease's term is an integer from 1 to 2^53 - 1. Pass lease.term.`,
  );
}

const withoutTerm = new WeakSet<QuorateError>();

/** What is answered to those that come without a usable term. */
export function noTerm(message: string): QuorateError {
  const error = new QuorateError("INVALID_ARGUMENT", message);
  withoutTerm.add(error);
  return error;
}

/** Not so an argument of something else that is invalid, in the midst of the act. */
export function saysNoTerm(error: unknown): error is QuorateError {
  return error instanceof QuorateError && withoutTerm.has(error);
}

export function requireAct({ resource, term }: FencedAct): void {
  requireResource(resource);
  requireTerm(term);
}

function shown(value: unknown): string {
  if (typeof value !== "string") return String(value);
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}
