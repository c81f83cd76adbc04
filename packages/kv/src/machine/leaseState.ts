/**
 * Leases as the state holds them. Nothing here is ever changed, only replaced, so that a view of the state costs
 * nothing.
 */
import type { ByteString, Candidacy, Format, LeaseEnding, PastGrant } from "@quorate/client/protocol";

/** One acquire of a session: a place in the queues of its names, or the grant of all of them. */
export interface Acquisition {
  readonly session: number;
  /** Of the acquire, by which the session knows it. */
  readonly sequence: number;
  readonly names: readonly ByteString[];
  readonly priority: number;
  readonly candidate: Candidacy;
  /** The index of the acquire's entry: its identity, and first come, first served. */
  readonly ticket: number;
  readonly holder: ByteString;
  readonly data: Uint8Array;
  readonly format: Format;
  readonly lockDelayMs: number;
  /** The store's revision of the grant, the same for all of its names; 0: it waits. */
  readonly term: number;
  /** Granted to a waiter it counts only when that has said that it knows. */
  readonly claimed: boolean;
  readonly ending: LeaseEnding;
  /** A break leaves it so long, and marks it `ending` then; undefined: it was not broken. */
  readonly breakAfterMs: number | undefined;
  /** Somebody asked it to hand over. */
  readonly handover: boolean;
}

export type Rank = Pick<Acquisition, "priority" | "candidate">;

export interface LeaseState {
  readonly name: ByteString;
  /** Of the last grant; 0 before the first. Only rises, since it is a revision. */
  readonly term: number;
  /** Grants so far. */
  readonly transitions: number;
  /** The index of the entry that changed it last. */
  readonly changed: number;
  readonly grant: Acquisition | undefined;
  /** In the order in which they are granted. */
  readonly queue: readonly Acquisition[];
  /** Its last holder was lost uncleanly, and it is granted to nobody for so long; 0: it may be granted. */
  readonly delayMs: number;
  /** Its grants that are over, the oldest first, as far as they are remembered: see pastGrants.ts. */
  readonly past: readonly PastGrant[];
}

/** Whoever comes first in a queue: the better one, then the earlier one. The same order in all queues. */
export function comesBefore(a: Acquisition, b: Acquisition): boolean {
  return isBetter(a, b) || (a.ticket < b.ticket && !isBetter(b, a));
}

/** By preference, then by priority. */
export function isBetter(a: Rank, b: Rank): boolean {
  const [preferred, other] = [a.candidate.preference, b.candidate.preference];
  return preferred === other ? a.priority > b.priority : preferred > other;
}

export function isSame(a: Acquisition | undefined, b: Acquisition): boolean {
  return a?.ticket === b.ticket;
}
