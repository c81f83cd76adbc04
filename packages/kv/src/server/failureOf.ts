/** Errors as clients are told them: the same fields, as data, and where the leader is. */
import { type Failure, failure } from "@quorate/client/protocol";
import { QuorateError } from "@quorate/raft";

/** An error of another kind is a fault of this node; what it had done by then is not known. */
export function asQuorateError(error: unknown): QuorateError {
  if (error instanceof QuorateError) return error;
  return new QuorateError("INVARIANT_BROKEN", `The node failed at the request: ${String(error)}.`, {
    outcome: "unknown",
    cause: error,
  });
}

/** `nodeName` says whose words these are. A node that is closing is no reason not to ask another. */
export function failureOf(error: QuorateError, nodeName: string, leaderEndpoint: string): Failure {
  const { code, message, outcome } = error;
  const retryable = error.retryable || code === "CLOSED";
  return failure({ code, message: `Node ${nodeName}: ${message}`, retryable, outcome }, leaderEndpoint);
}
