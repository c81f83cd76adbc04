/**
 * What the state machine is told about leases and about the silence of sessions, and what it answers. Every decision
 * about who holds what is made where these are applied.
 */
import type { ByteString, Format } from "./commands.ts";

/** A lease by its name and the term of one grant: no other grant of the name is meant. */
export interface LeaseAt {
  readonly name: ByteString;
  /** The store's revision of the grant: the fencing token. From 1. */
  readonly term: number;
}

/** What a candidate for a lease says of itself. */
export interface Candidacy {
  /** Compared before the priority; higher ones come first. From 0. */
  readonly preference: number;
  /** For people, UTF-8; empty where it has none. */
  readonly version: ByteString;
  readonly zone: ByteString;
}

export const plainCandidacy: Candidacy = { preference: 0, version: "", zone: "" };

/** It says nothing. */
export function isPlainCandidacy({ preference, version, zone }: Candidacy): boolean {
  return preference === 0 && version === "" && zone === "";
}

/** A session, and how many of its renewals were logged when that was written: a later one makes it out of date. */
export interface SessionAt {
  readonly session: number;
  readonly renewals: number;
}

/** Which of the leader's timers has run out for a grant. */
export type DueKind =
  /** It was granted to a waiter, which has not claimed it in time. */
  | "passOn"
  /** The time that a break left to its holder is over: it is ending from now on. */
  | "revoke"
  /** It was ending, and its holder cannot believe in it any more. */
  | "finish"
  /** The delay after its unclean end is over. */
  | "endDelay"
  /** It waited for the end of the grace period, which is over. Of `boundedEntries`. */
  | "grant";

export interface LeaseDue extends LeaseAt {
  readonly what: DueKind;
}

/** `office` is the Raft term that it was proposed in; applied in another one, it does nothing. */
export type LeaderCommand =
  | { readonly kind: "expireSessions"; readonly office: number; readonly sessions: readonly SessionAt[] }
  /** Each has been silent for another 0.4 of its TTL, as this leader has seen itself. */
  | { readonly kind: "markSilence"; readonly office: number; readonly sessions: readonly SessionAt[] }
  /** Logged renewals, of sessions with a mark: they clear it. */
  | { readonly kind: "renewSessions"; readonly sessions: readonly number[] }
  | { readonly kind: "leasesDue"; readonly office: number; readonly due: readonly LeaseDue[] }
  /** What the holders of the store that this one was made of may have believed is over: grants begin. */
  | { readonly kind: "endGrace"; readonly office: number };

export type LeaseCommand =
  /** By a session. All of the names or none; the grant, and the place in the queue, are known by its sequence. */
  | {
      readonly kind: "acquireLease";
      readonly names: readonly ByteString[];
      /** Takes a place in the queue where it cannot be granted now. */
      readonly wait: boolean;
      /** Higher ones come first, within one preference; within one priority, first come, first served. */
      readonly priority: number;
      /** A holder that comes after it is asked to hand over. */
      readonly asksHandover: boolean;
      /** A holder that comes after it is told that it loses the lease. */
      readonly preempts?: true;
      /** Left out where it is `plainCandidacy`. */
      readonly candidate?: Candidacy;
      /** Who it is, for people. UTF-8. */
      readonly holder: ByteString;
      readonly data: Uint8Array;
      readonly format: Format;
      /** After an unclean loss it is granted to nobody for so long. */
      readonly lockDelayMs: number;
    }
  /** By a session: takes back the acquire of that sequence, whatever has become of it, also before it arrives. */
  | { readonly kind: "cancelAcquire"; readonly sequence: number }
  /** By the session that it was granted to; from then on it counts. */
  | { readonly kind: "claimLease"; readonly lease: LeaseAt }
  /** By its holder's session. */
  | { readonly kind: "releaseLease"; readonly lease: LeaseAt }
  /** By its holder's session, which lives on: its deadline has passed, or it was told that it is about to lose it. */
  | { readonly kind: "loseLease"; readonly lease: LeaseAt }
  | {
      readonly kind: "describeLease";
      readonly lease: LeaseAt;
      readonly data: Uint8Array;
      readonly format: Format;
    }
  /** By an administrator. With `force` it is granted to the next one at once, though its holder may not know. */
  | {
      readonly kind: "breakLease";
      readonly name: ByteString;
      readonly afterMs: number;
      readonly force: boolean;
    }
  /** By an administrator: nobody believes in a lease of the store that this one was made of. Ends its grace period. */
  | { readonly kind: "grantAtOnce" }
  /** Asks its holder to finish and release. */
  | { readonly kind: "requestHandover"; readonly name: ByteString };

export type LeaseResult =
  | { readonly kind: "leaseGranted"; readonly term: number }
  /** It waits behind so many. */
  | { readonly kind: "leaseQueued"; readonly ahead: number }
  /** Not granted, and not asked to wait. `at` is the first of its names that is not free. */
  | {
      readonly kind: "leaseUnavailable";
      readonly at: number;
      /** 0 where nobody holds it: others wait, or the delay after an unclean end runs. */
      readonly term: number;
      readonly holder: ByteString;
    }
  /**
   * The answer to `grantAtOnce`, 0 where leases were granted already. Of an acquire that was not to wait: nothing is
   * granted yet, for the store was made of another one, whose holders may believe in their leases for so long after
   * this one's leader took office.
   */
  | { readonly kind: "gracePeriod"; readonly forMs: number }
  /** Done to the grant of `term`. */
  | { readonly kind: "leaseDone"; readonly term: number }
  /** That grant is over, or was never this session's; `term` is that of the grant in force, 0 where there is none. */
  | { readonly kind: "leaseNotHeld"; readonly term: number }
  /** The answer to a cancel, and to the acquire that it has cancelled. */
  | { readonly kind: "acquireCancelled" }
  /** A write under a fence: its grant is not in force. `term` as in `leaseNotHeld`. */
  | { readonly kind: "staleFence"; readonly term: number };
