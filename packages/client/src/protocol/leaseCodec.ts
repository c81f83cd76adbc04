/** Leases as they are read, as positional arrays, checked field by field (requestCodec.ts). */
import type { Format } from "./commands.ts";
import type {
  CandidateReport,
  GrantEnd,
  LeaseEnding,
  LeaseReport,
  LeaseSet,
  PastGrant,
  SessionLease,
  SessionReport,
} from "./leases.ts";
import {
  maxAcquisitionsOfSession,
  maxCandidateWordBytes,
  maxHolderBytes,
  maxLeaseDataBytes,
  maxLeaseNameBytes,
  maxPreference,
  maxPriority,
  ttlFromWire,
  ttlToWire,
} from "./limits.ts";
import {
  copyOf,
  everyItem,
  isBoolean,
  isBytes,
  isByteText,
  isInteger,
  isTuple,
  wordAt,
} from "./wireFields.ts";

/** By their numbers on the wire: only ever add at the end. */
const states: readonly LeaseReport["state"][] = ["free", "granted", "held", "ending", "delayed"];
/** In snapshots, too. */
export const grantEnds: readonly GrantEnd[] = [
  "released",
  "cancelled",
  "closed",
  "expired",
  "revoked",
  "forced",
  "unclaimed",
  "preempted",
  "lost",
];
const endings: readonly LeaseEnding[] = ["none", "revoked", "preempted"];
const standings: readonly CandidateReport["state"][] = ["waiting", "granted", "held", "ending"];
const formats: readonly Format[] = ["bytes", "text", "json"];

export function reportToWire(report: LeaseReport): unknown[] {
  return [
    report.name,
    states.indexOf(report.state),
    report.term,
    report.transitions,
    report.changed,
    report.session,
    report.holder,
    report.data,
    formats.indexOf(report.format),
    report.handover,
    report.waiting,
  ];
}

export function reportFromWire(value: unknown): LeaseReport | undefined {
  if (!isTuple(value, 11)) return undefined;
  const [name, , term, transitions, changed, session, holder, data, , handover, waiting] = value;
  const state = wordAt(states, value[1]);
  const format = wordAt(formats, value[8]);
  if (!isByteText(name, maxLeaseNameBytes) || state === undefined || format === undefined) return undefined;
  if (!isInteger(term, 0) || !isInteger(transitions, 0) || !isInteger(changed, 0)) return undefined;
  if (!isInteger(session, 0) || !isInteger(waiting, 0) || !isBoolean(handover)) return undefined;
  if (!isByteText(holder, maxHolderBytes) || !isBytes(data, maxLeaseDataBytes)) return undefined;
  const grant = { session, holder, data: copyOf(data), format, handover };
  return { name, state, term, transitions, changed, ...grant, waiting };
}

export function pastGrantToWire({ term, session, holder, toRevision, end }: PastGrant): unknown[] {
  return [term, session, holder, toRevision, grantEnds.indexOf(end)];
}

export function pastGrantFromWire(value: unknown): PastGrant | undefined {
  if (!isTuple(value, 5)) return undefined;
  const [term, session, holder, toRevision] = value;
  const end = wordAt(grantEnds, value[4]);
  if (!isInteger(term, 1) || !isInteger(session, 1) || !isByteText(holder, maxHolderBytes)) return undefined;
  return isInteger(toRevision, term) && end !== undefined
    ? { term, session, holder, toRevision, end }
    : undefined;
}

export function candidateToWire(report: CandidateReport): unknown[] {
  const { session, holder, priority, state, preference, version, zone } = report;
  return [session, holder, priority, standings.indexOf(state), preference, version, zone];
}

export function candidateFromWire(value: unknown): CandidateReport | undefined {
  if (!isTuple(value, 7)) return undefined;
  const [session, holder, priority, , preference, version, zone] = value;
  const state = wordAt(standings, value[3]);
  if (!isInteger(session, 1) || !isByteText(holder, maxHolderBytes) || state === undefined) return undefined;
  if (!isInteger(priority, -maxPriority, maxPriority) || !isInteger(preference, 0, maxPreference))
    return undefined;
  if (!isByteText(version, maxCandidateWordBytes) || !isByteText(zone, maxCandidateWordBytes))
    return undefined;
  return { session, holder, priority, state, preference, version, zone };
}

export function sessionReportToWire(report: SessionReport): unknown[] {
  const { session, ttlMs, silentMs, held, waiting, keys, holder } = report;
  return [session, ttlToWire(ttlMs), silentMs, held, waiting, keys, holder];
}

export function sessionReportFromWire(value: unknown): SessionReport | undefined {
  if (!isTuple(value, 7)) return undefined;
  const [session, ttlMs, silentMs, held, waiting, keys, holder] = value;
  if (!isInteger(session, 1) || !isInteger(ttlMs, 0) || !isInteger(silentMs, 0)) return undefined;
  if (!isInteger(held, 0) || !isInteger(waiting, 0) || !isInteger(keys, 0)) return undefined;
  if (!isByteText(holder, maxHolderBytes)) return undefined;
  return { session, ttlMs: ttlFromWire(ttlMs), silentMs, held, waiting, keys, holder };
}

/** `null`: the asker has it already. */
export function leaseSetToWire(set: LeaseSet | undefined): unknown {
  if (set === undefined) return null;
  const leases = set.leases.map(({ sequence, term, claimed, ending, handover }) => [
    sequence,
    term,
    claimed,
    endings.indexOf(ending),
    handover,
  ]);
  return [set.version, leases];
}

export function leaseSetFromWire(value: unknown): LeaseSet | undefined {
  if (!isTuple(value, 2)) return undefined;
  const [version] = value;
  const leases = everyItem(value[1], maxAcquisitionsOfSession, sessionLeaseFromWire);
  return leases === undefined || !isInteger(version, 0) ? undefined : { version, leases };
}

function sessionLeaseFromWire(value: unknown): SessionLease | undefined {
  if (!isTuple(value, 5)) return undefined;
  const [sequence, term, claimed, , handover] = value;
  const ending = wordAt(endings, value[3]);
  if (!isInteger(sequence, 1) || !isInteger(term, 0) || !isBoolean(claimed)) return undefined;
  if (ending === undefined || !isBoolean(handover)) return undefined;
  return { sequence, term, claimed, ending, handover };
}
