/** What can be read of leases. Nothing here changes the state. */
import type {
  ByteString,
  CandidateReport,
  KeyRange,
  LeaseAt,
  LeaseReport,
  LeaseSet,
  PastGrant,
  SessionLease,
} from "@quorate/client/protocol";
import { pairOverheadBytes } from "@quorate/client/protocol";
import { leaseOf } from "./leaseQueues.ts";
import type { Acquisition, LeaseState } from "./leaseState.ts";
import type { StoreState } from "./storeState.ts";

const noBytes = new Uint8Array(0);

/** Whether that very grant is in force, and known to its holder. What a fenced write asks. */
export function holdsLease(state: StoreState, { name, term }: LeaseAt): boolean {
  const grant = state.leases.get(name)?.grant;
  return grant?.term === term && grant.claimed;
}

/** Of the grant in force; 0 where there is none. */
export function termInForce(state: StoreState, name: ByteString): number {
  return state.leases.get(name)?.grant?.term ?? 0;
}

/** A name that was never heard of is free, and was granted 0 times. */
export function getLease(state: StoreState, name: ByteString): LeaseReport {
  return reportOf(state, leaseOf(state, name));
}

/** Of a name that was never heard of: none. The oldest first. */
export function pastGrantsOf(state: StoreState, name: ByteString): readonly PastGrant[] {
  return state.leases.get(name)?.past ?? [];
}

/** In byte order of the names. It ends before its leases would exceed `maxBytes`, but has one at least. */
export function listLeases(
  state: StoreState,
  range: KeyRange,
  limit: number,
  maxBytes: number = Number.POSITIVE_INFINITY,
): { readonly leases: readonly LeaseReport[]; readonly more: boolean } {
  const leases: LeaseReport[] = [];
  let bytes = 0;
  for (const [name, lease] of state.leases.entries(range.from)) {
    if (range.to !== "" && name >= range.to) break;
    const report = reportOf(state, lease);
    bytes += pairOverheadBytes + name.length + report.holder.length + report.data.length;
    if (leases.length >= limit || (bytes > maxBytes && leases.length > 0)) return { leases, more: true };
    leases.push(report);
  }
  return { leases, more: false };
}

/** Who holds it, then who waits for it, in the order in which they would be granted it. */
export function listCandidates(
  state: StoreState,
  name: ByteString,
  limit: number,
): { readonly candidates: readonly CandidateReport[]; readonly more: boolean } {
  const { grant, queue } = leaseOf(state, name);
  const all = grant === undefined ? queue : [grant, ...queue];
  return { candidates: all.slice(0, limit).map(candidateOf), more: all.length > limit };
}

function candidateOf(acquisition: Acquisition): CandidateReport {
  const { session, holder, priority, candidate, term } = acquisition;
  const state = term === 0 ? "waiting" : standingOf(acquisition);
  return { session, holder, priority, state, ...candidate };
}

function standingOf({
  claimed,
  ending,
}: Pick<Acquisition, "claimed" | "ending">): "granted" | "held" | "ending" {
  if (!claimed) return "granted";
  return ending === "none" ? "held" : "ending";
}

/** Undefined where the session is not alive. */
export function leaseSetOf(state: StoreState, session: number): LeaseSet | undefined {
  const found = state.sessions.get(session);
  if (found === undefined) return undefined;
  const acquisitions = [...found.acquisitions.values()].sort((a, b) => a.sequence - b.sequence);
  return { version: found.version, leases: acquisitions.map(sessionLeaseOf) };
}

function sessionLeaseOf({ sequence, term, claimed, ending, handover }: Acquisition): SessionLease {
  return { sequence, term, claimed, ending, handover };
}

function reportOf(state: StoreState, lease: LeaseState): LeaseReport {
  const { name, term, transitions, changed, grant, queue } = lease;
  return {
    name,
    state: stateOf(state, lease),
    term,
    transitions,
    changed,
    session: grant?.session ?? 0,
    holder: grant?.holder ?? "",
    data: grant?.data ?? noBytes,
    format: grant?.format ?? "bytes",
    handover: grant?.handover ?? false,
    waiting: queue.length,
  };
}

function stateOf({ graceMs }: StoreState, { grant, delayMs }: LeaseState): LeaseReport["state"] {
  if (grant === undefined) return delayMs > 0 || graceMs > 0 ? "delayed" : "free";
  return standingOf(grant);
}
