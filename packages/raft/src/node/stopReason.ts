/** Why a node stopped by itself, as the error that its owner is told. */
import { InvariantError } from "../core/index.ts";
import { QuorateError } from "../errors.ts";

export function asStopReason(error: unknown): QuorateError {
  if (error instanceof QuorateError) return error;
  if (error instanceof InvariantError) {
    return new QuorateError("INVARIANT_BROKEN", `${error.message}. Please report it with the node's log.`, {
      cause: error,
    });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new QuorateError("MACHINE_FAILED", `The state machine threw: ${text}.`, { cause: error });
}
