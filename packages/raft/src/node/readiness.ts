/** Whether a node takes a request at all; what becomes of it is the core's business. */
import { QuorateError } from "../errors.ts";

const maxBacklog = 65_536;

/** Why not, or undefined. `driver` is undefined before the node belongs to a cluster. */
export function whyNotReady(
  driver: { readonly backlog: number } | undefined,
  isClosed: boolean,
): QuorateError | undefined {
  if (isClosed) return new QuorateError("CLOSED", "This node is closed.");
  if (driver === undefined) {
    const sentence = "This node does not belong to a cluster yet: it waits for all its peers.";
    return new QuorateError("UNAVAILABLE", sentence, { retryable: true });
  }
  if (driver.backlog <= maxBacklog) return undefined;
  const sentence = "This node has as many requests waiting as it takes. Try again.";
  return new QuorateError("OVERLOADED", sentence, { retryable: true });
}
