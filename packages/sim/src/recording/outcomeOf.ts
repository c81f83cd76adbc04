/** How an operation that threw ended, by what its error says of it. */
import type { Outcome } from "../page/browser/recording.ts";

export function outcomeOf(error: unknown): Outcome {
  const isDefinite = error instanceof Error && "outcome" in error && error.outcome === "none";
  return isDefinite ? "failed" : "unknown";
}
