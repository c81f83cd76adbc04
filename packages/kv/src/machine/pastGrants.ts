/**
 * Who held a lease before, by which term, and how that ended: kept by the machine, so that every node tells the same.
 *
 * Bounded twice. A name remembers its last grants; where all names together remember too many, a name that loses
 * another grant remembers that one alone. What is forgotten of a name as a whole takes its past along.
 */
import { type GrantEnd, maxPastGrants, maxPastGrantsOfName, type PastGrant } from "@quorate/client/protocol";
import type { Acquisition, LeaseState } from "./leaseState.ts";
import type { StoreState } from "./storeState.ts";

/** Its holder did not finish first: whatever it was at is left as it was. */
export function isUnclean(end: GrantEnd): boolean {
  return end === "expired" || end === "revoked" || end === "preempted" || end === "lost";
}

/** The past of the lease once this grant of it is over. */
export function pastWith(
  state: StoreState,
  { past }: LeaseState,
  { term, session, holder }: Acquisition,
  end: GrantEnd,
): readonly PastGrant[] {
  const kept = state.pastGrants < maxPastGrants ? maxPastGrantsOfName : 1;
  const next = [...past, { term, session, holder, toRevision: state.revision, end }].slice(-kept);
  state.pastGrants += next.length - past.length;
  return next;
}

export function forgetPast(state: StoreState, { past }: LeaseState): void {
  state.pastGrants -= past.length;
}
