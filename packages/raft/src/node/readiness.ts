/** Whether a node takes a request at all; what becomes of it is the core's business. */
import { QuorateError } from "../errors.ts";
import type { Standing } from "../ports/index.ts";

const maxBacklog = 65_536;

/** Of a node whose core does not run. */
export const waitsFor: Readonly<Record<Standing["kind"], string>> = {
  unborn: "This node does not belong to a cluster yet: it waits for all its peers.",
  lost: "This node has lost the record of its cluster, and waits for a member that tells it.",
  born: "This node is starting: it restores its state from its newest snapshot. Try again in a moment.",
};

/** Why not, or undefined. `driver` is undefined before the core runs. */
export function whyNotReady(
  driver: { readonly backlog: number } | undefined,
  standing: Standing["kind"],
  isClosed: boolean,
): QuorateError | undefined {
  if (isClosed) return new QuorateError("CLOSED", "This node is closed.");
  if (driver === undefined) {
    return new QuorateError("UNAVAILABLE", waitsFor[standing], { retryable: true });
  }
  if (driver.backlog <= maxBacklog) return undefined;
  const sentence = "This node has as many requests waiting as it takes. Try again.";
  return new QuorateError("OVERLOADED", sentence, { retryable: true });
}
