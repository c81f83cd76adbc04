/** Leases as they are read: by anyone, by name, and by the session that holds or waits. */
import type { ByteString, Format } from "./commands.ts";

/** Why a grant is about to end though its holder did not release it; `none`: it is not. */
export type LeaseEnding = "none" | "revoked";

/** One name, as the store sees it. */
export interface LeaseReport {
  readonly name: ByteString;
  /**
   * `granted`: to a waiter that has not claimed it yet. `ending`: still held, by someone who will lose it. `delayed`:
   * lost uncleanly, and granted to nobody until its delay is over.
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
