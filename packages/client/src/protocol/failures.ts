/**
 * Errors as data: what a server sends in place of an answer.
 *
 * Made from any error that has the fields of a `QuorateError`; the client makes one of it again. Pure, so that server
 * and client agree on the words without agreeing on a class.
 */
import { maxCodeChars, maxEndpointChars, maxMessageChars } from "./limits.ts";
import type { Failure } from "./requests.ts";

/** The fields that every error of Quorate has. */
export interface FailureFacts {
  readonly code: string;
  /** What happened, where, and what to do. */
  readonly message: string;
  readonly retryable: boolean;
  readonly outcome: "none" | "unknown";
}

/** `leaderEndpoint` is where to try instead; empty where unknown. */
export function failure(facts: FailureFacts, leaderEndpoint: string = ""): Failure {
  return {
    code: facts.code.slice(0, maxCodeChars),
    message: facts.message.slice(0, maxMessageChars),
    retryable: facts.retryable,
    outcome: facts.outcome,
    leaderEndpoint: leaderEndpoint.length > maxEndpointChars ? "" : leaderEndpoint,
  };
}
