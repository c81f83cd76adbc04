/** Leases as they are read: by anyone, by name, and by the session that holds or waits. */
import type { ByteString, Format } from "./commands.ts";
import type { Candidacy } from "./leaseCommands.ts";

/** Why a grant is about to end though its holder did not release it; `none`: it is not. */
export type LeaseEnding = "none" | "revoked" | "preempted";

/** One name, as the store sees it. */
export interface LeaseReport {
  readonly name: ByteString;
  /**
   * `granted`: to a waiter that has not claimed it yet. `ending`: still held, by someone who will lose it. `delayed`:
   * lost uncleanly, and granted to nobody until its delay is over, or of a store in its grace period.
   */
  readonly state: "free" | "granted" | "held" | "ending" | "delayed";
  /** Of the last grant; 0 where there was none. */
  readonly term: number;
  /** Grants so far, as long as the store has known the name. */
  readonly transitions: number;
  /** The index of the entry that changed anything of it last: never twice the same. */
  readonly changed: number;
  /** Of the grant in force; 0, and empty, where there is none. */
  readonly session: number;
  readonly holder: ByteString;
  readonly data: Uint8Array;
  readonly format: Format;
  /** Its holder was asked to hand over. */
  readonly handover: boolean;
  /** Places in its queue. */
  readonly waiting: number;
}

/** How a grant came to its end. */
export type GrantEnd =
  /** Its holder gave it back. */
  | "released"
  /** Its acquire was taken back by whoever had asked for it. */
  | "cancelled"
  /** Its session was closed by its own process. */
  | "closed"
  /** Its session was silent for its time to live. */
  | "expired"
  /** It was broken, and ended when its holder could not believe in it any more. */
  | "revoked"
  /** A break ended it at once: with `force`, or before it was claimed. */
  | "forced"
  /** It was granted to a waiter that did not claim it in time, or before one came that comes first. */
  | "unclaimed"
  /** One that comes before its holder took it, and it ended when that could not believe in it any more. */
  | "preempted"
  /** Its holder lost it by its own deadline, or stood still too long, and gave it back since its session lives on. */
  | "lost";

/** A grant that is over. */
export interface PastGrant {
  /** The revision that it was granted at, too. */
  readonly term: number;
  readonly session: number;
  readonly holder: ByteString;
  /** The store's when it ended. */
  readonly toRevision: number;
  readonly end: GrantEnd;
}

/** One who holds a lease, or waits for it. */
export interface CandidateReport extends Candidacy {
  readonly session: number;
  readonly holder: ByteString;
  readonly priority: number;
  /** `granted`: and does not know it yet. */
  readonly state: "waiting" | "granted" | "held" | "ending";
}

/** One session, as the store sees it. */
export interface SessionReport {
  readonly session: number;
  readonly ttlMs: number;
  /** For how long it was silent, as leaders have logged: less than its silence, and 0 as long as that is short. */
  readonly silentMs: number;
  /** Leases that it holds, and those that it waits for; of several names at once, one. */
  readonly held: number;
  readonly waiting: number;
  /** Keys that are attached to it. */
  readonly keys: number;
  /** Who it is, as one of its acquires says; empty where none does. */
  readonly holder: ByteString;
}

/** What a session has by one of its acquires. */
export interface SessionLease {
  /** Of the acquire. */
  readonly sequence: number;
  /** 0 as long as it waits. */
  readonly term: number;
  readonly claimed: boolean;
  readonly ending: LeaseEnding;
  readonly handover: boolean;
}

/** All that a session holds or waits for, as of its version. */
export interface LeaseSet {
  /** The index of the entry that changed the set last; 0: it has always been empty. */
  readonly version: number;
  readonly leases: readonly SessionLease[];
}
