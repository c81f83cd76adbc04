/**
 * The one base class of every error that Quorate throws, and the codes that it can carry.
 *
 * `docs/reference/errors.md` documents each code; a test keeps the two in step.
 */

/** Whether the request can have taken effect: certainly not, or perhaps. */
export type Outcome = "none" | "unknown";

export const errorCodes = [
  "ABORTED",
  "ADDRESS_IN_USE",
  "CHANGE_REFUSED",
  "CLOSED",
  "COMPACTED",
  "CONFLICT",
  "CONNECTION_FAILED",
  "DATA_LOST",
  "DIRECTORY_IN_USE",
  "FUTURE_REVISION",
  "GRACE_PERIOD",
  "INVALID_ARGUMENT",
  "INVALID_OPTIONS",
  "INVARIANT_BROKEN",
  "LEASE_LOST",
  "MACHINE_FAILED",
  "NEWER_VERSION",
  "NOT_LEADER",
  "OVERFLOW",
  "OVERLOADED",
  "PROPOSAL_LOST",
  "QUOTA_EXCEEDED",
  "REFUSED",
  "REMOVED",
  "SESSION_ENDED",
  "SNAPSHOT_DAMAGED",
  "STALE_TERM",
  "STORAGE_FAILED",
  "TIMED_OUT",
  "TOO_LARGE",
  "TRANSFER_FAILED",
  "UNAVAILABLE",
  "UPGRADE_PENDING",
  "WRONG_DIRECTORY",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export interface ErrorFacts {
  /** May the same request succeed if it is sent again? */
  readonly retryable?: boolean;
  /** Default `none`: the request certainly had no effect. */
  readonly outcome?: Outcome;
  readonly cause?: unknown;
}

/** What happened and what to do about it, in `message`; for programs, `code`, `retryable` and `outcome`. */
export class QuorateError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly outcome: Outcome;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "QuorateError";
    this.code = code;
    this.retryable = facts.retryable ?? false;
    this.outcome = facts.outcome ?? "none";
  }
}
