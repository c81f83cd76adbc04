/** The error that says that a lease is not held any more: the one that its holder branches on. */
import { QuorateError } from "@quorate/raft";

/** Why a lease is not held any more. */
export type LossReason =
  /** Its session was ended by the cluster, which had not heard of it for its time to live. */
  | "expired"
  /** Its holder gave it back. */
  | "released"
  /** Its cluster object was closed, which gives all leases back. */
  | "closed"
  /** An administrator broke it. */
  | "revoked"
  /** One that comes before its holder took it. */
  | "preempted"
  /** No renewal was confirmed in time: the cluster, or the way to it, was not there. */
  | "unreachable"
  /** The machine slept. */
  | "suspended"
  /** This process stood still, or was kept busy, for too long. */
  | "stalled"
  /** Its work reported no progress, or was to renew it itself and did not. */
  | "no-progress";

/**
 * Code `LEASE_LOST`, outcome `none`: what was to be done under the lease was not done. Final: nothing revives it. Stop
 * the work, and acquire it again to go on. From a recipe it has as its `cause` what the work threw, if that was
 * something else than the loss.
 */
export class LeaseLostError extends QuorateError {
  readonly lease: string;
  readonly term: number;
  readonly reason: LossReason;

  /** `cause`: what the work under it threw, of its own, after the loss. */
  constructor(lease: string, term: number, reason: LossReason, cause?: unknown) {
    super(
      "LEASE_LOST",
      `The lease ${JSON.stringify(lease)} of term ${term} is not held any more: ${words[reason]}. ` +
        "Stop what needs it; it may go on only under a lease that is acquired again.",
      { cause },
    );
    this.name = "LeaseLostError";
    this.lease = lease;
    this.term = term;
    this.reason = reason;
  }
}

const words: Readonly<Record<LossReason, string>> = {
  expired: "its session was ended, since the cluster had not heard of it for its time to live",
  released: "it was released here",
  closed: "its cluster object was closed",
  revoked: "it was broken by an administrator",
  preempted: "one that comes before its holder took it",
  unreachable: "no renewal was confirmed in time",
  suspended: "this machine slept past its deadline",
  stalled: "this process stood still past its deadline",
  "no-progress": "its work reported no progress, or did not renew it",
};
