/** The error with which a resource refuses an act under a term that a newer one has replaced. */
import { QuorateError } from "@quorate/raft";

/**
 * Code `STALE_TERM`, never retryable, outcome `none`: nothing was written. The lease of this term is lost for good,
 * whatever its holder believes; stop, and acquire it again.
 */
export class StaleTermError extends QuorateError {
  readonly resource: string;
  /** The term of the act that was refused. */
  readonly term: number;
  /** The newer term that the resource has seen; of the store, the one in force, 0 where nobody holds the lease. */
  readonly highest: number;

  constructor(
    resource: string,
    term: number,
    highest: number,
    why: string = `it has seen term ${highest}, so another holder has the lease`,
  ) {
    super(
      "STALE_TERM",
      `${JSON.stringify(resource)} refuses term ${term}: ${why}. ` +
        "Nothing was written. Stop this work; it may go on only under a lease that is acquired again.",
    );
    this.name = "StaleTermError";
    this.resource = resource;
    this.term = term;
    this.highest = highest;
  }
}
