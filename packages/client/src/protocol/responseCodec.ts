/**
 * Responses as positional arrays, which the transport packs: `[id, kind, ...fields]`.
 *
 * Checked field by field like requests (requestCodec.ts). Texts and lists that could be longer than the client takes
 * are cut by the sender, so that a long complaint never makes a whole frame unreadable.
 */
import {
  candidateFromWire,
  candidateToWire,
  leaseSetFromWire,
  leaseSetToWire,
  pastGrantFromWire,
  pastGrantToWire,
  reportFromWire,
  reportToWire,
  sessionReportFromWire,
  sessionReportToWire,
} from "./leaseCodec.ts";
import {
  maxCodeChars,
  maxComplaints,
  maxEndpointChars,
  maxIdChars,
  maxListLimit,
  maxMessageChars,
  maxPastGrantsOfName,
  maxRenewalsAtOnce,
  maxReportedMembers,
} from "./limits.ts";
import { membershipFromWire, membershipToWire } from "./membershipCodec.ts";
import { optionalPairFromWire, optionalPairToWire, pairFromWire, pairToWire } from "./pairCodec.ts";
import type { Failure, ReportedMember, ReportedStatus, Response, ResponseBody } from "./requests.ts";
import { resultFromWire, resultToWire } from "./resultCodec.ts";
import { snapshotResponseFields, snapshotResponseFromWire } from "./snapshotCodec.ts";
import { unreachable } from "./unreachable.ts";
import { watchResponseFields, watchResponseFromWire } from "./watchCodec.ts";
import { everyItem, integersFrom, isBoolean, isInteger, isText, isTuple, wordAt } from "./wireFields.ts";

/** By their numbers on the wire: only ever add at the end. */
const bodyKinds = [
  "executed",
  "got",
  "listed",
  "keptAlive",
  "status",
  "failed",
  "transferred",
  "members",
  "sessionState",
  "lease",
  "leases",
  "compacted",
  "watching",
  "changed",
  "watchProgress",
  "overflowed",
  "snapshotTaken",
  "snapshotPart",
  "leaseHistory",
  "renewedAll",
  "sessions",
  "candidates",
] as const;
const outcomes: readonly Failure["outcome"][] = ["none", "unknown"];
const standings: readonly ReportedStatus["standing"][] = ["unborn", "lost", "born", "closed"];
const roles: readonly ReportedStatus["role"][] = ["follower", "preCandidate", "candidate", "leader"];

/** One frame. */
export function responsesToWire(responses: readonly Response[]): unknown[] {
  return responses.map(responseToWire);
}

/** Undefined where anything is wrong with any of them. */
export function responsesFromWire(value: unknown): Response[] | undefined {
  return everyItem(value, Number.MAX_SAFE_INTEGER, responseFromWire);
}

export function responseToWire(response: Response): unknown[] {
  const { id, body } = response;
  const kind = bodyKinds.indexOf(body.kind);
  switch (body.kind) {
    case "executed":
      return [id, kind, resultToWire(body.result)];
    case "got":
      return [id, kind, optionalPairToWire(body.pair), body.revision];
    case "listed":
      return listedToWire(id, kind, body);
    case "keptAlive":
      return [id, kind, body.alive];
    case "status":
      return [id, kind, statusToWire(body.status)];
    case "failed":
      return [id, kind, failureToWire(body.failure)];
    case "transferred":
      return [id, kind, body.leader, body.term];
    case "members":
      return [id, kind, membershipToWire(body.membership)];
    case "snapshotTaken":
    case "snapshotPart":
      return [id, kind, ...snapshotResponseFields(body)];
    case "sessionState":
      return [id, kind, body.alive, leaseSetToWire(body.set)];
    case "renewedAll":
      return [id, kind, body.apart];
    case "lease":
      return [id, kind, reportToWire(body.lease), body.revision];
    case "leaseHistory":
      return [id, kind, reportToWire(body.lease), body.past.map(pastGrantToWire), body.revision];
    case "leases":
      return [id, kind, body.leases.map(reportToWire), body.more, body.revision];
    case "candidates":
      return [id, kind, body.candidates.map(candidateToWire), body.more, body.revision];
    case "sessions":
      return [id, kind, body.sessions.map(sessionReportToWire), body.more, body.revision];
    default:
      return [id, kind, ...watchResponseFields(body)];
  }
}

/** The response holds nothing of the frame: values are copied, since its user may keep one of them for long. */
export function responseFromWire(value: unknown): Response | undefined {
  if (!Array.isArray(value)) return undefined;
  const fields: readonly unknown[] = value;
  const [id, kind] = fields;
  if (!isInteger(id, 0)) return undefined;
  const body = bodyFromWire(wordAt(bodyKinds, kind), fields);
  return body === undefined ? undefined : { id, body };
}

function bodyFromWire(
  kind: ResponseBody["kind"] | undefined,
  fields: readonly unknown[],
): ResponseBody | undefined {
  switch (kind) {
    case undefined:
      return undefined;
    case "executed": {
      const result = isTuple(fields, 3) ? resultFromWire(fields[2]) : undefined;
      return result === undefined ? undefined : { kind, result };
    }
    case "got":
      return isTuple(fields, 4) ? gotFromWire(fields[2], fields[3]) : undefined;
    case "listed":
      return listedFromWire(fields);
    case "keptAlive": {
      const alive = fields[2];
      return isTuple(fields, 3) && isBoolean(alive) ? { kind, alive } : undefined;
    }
    case "status": {
      const status = isTuple(fields, 3) ? statusFromWire(fields[2]) : undefined;
      return status === undefined ? undefined : { kind, status };
    }
    case "failed": {
      const failure = isTuple(fields, 3) ? failureFromWire(fields[2]) : undefined;
      return failure === undefined ? undefined : { kind, failure };
    }
    case "transferred": {
      const [, , leader, term] = fields;
      if (!isTuple(fields, 4) || !isText(leader, maxIdChars) || !isInteger(term, 0)) return undefined;
      return { kind, leader, term };
    }
    case "members": {
      const membership = isTuple(fields, 3) ? membershipFromWire(fields[2]) : undefined;
      return membership === undefined ? undefined : { kind, membership };
    }
    case "sessionState":
    case "renewedAll":
    case "lease":
    case "leaseHistory":
    case "leases":
    case "sessions":
    case "candidates":
      return leaseResponseFromWire(kind, fields);
    case "snapshotTaken":
    case "snapshotPart":
      return snapshotResponseFromWire(kind, fields);
    default:
      return watchResponseFromWire(kind, fields);
  }
}

function leaseResponseFromWire(
  kind: "sessionState" | "renewedAll" | "lease" | "leaseHistory" | "leases" | "sessions" | "candidates",
  fields: readonly unknown[],
): ResponseBody | undefined {
  const [, , first, second, third] = fields;
  switch (kind) {
    case "sessionState": {
      const set = second === null ? undefined : leaseSetFromWire(second);
      if (!isTuple(fields, 4) || !isBoolean(first) || (set === undefined && second !== null))
        return undefined;
      return { kind, alive: first, set };
    }
    case "renewedAll": {
      const apart = integersFrom(first, 1, maxRenewalsAtOnce);
      return isTuple(fields, 3) && apart !== undefined ? { kind, apart } : undefined;
    }
    case "lease": {
      const lease = reportFromWire(first);
      if (!isTuple(fields, 4) || lease === undefined || !isInteger(second, 0)) return undefined;
      return { kind, lease, revision: second };
    }
    case "leaseHistory": {
      const lease = reportFromWire(first);
      const past = everyItem(second, maxPastGrantsOfName, pastGrantFromWire);
      if (!isTuple(fields, 5) || lease === undefined || past === undefined || !isInteger(third, 0))
        return undefined;
      return { kind, lease, past, revision: third };
    }
    case "leases": {
      const leases = everyItem(first, maxListLimit, reportFromWire);
      if (!isTuple(fields, 5) || leases === undefined || !isBoolean(second) || !isInteger(third, 0))
        return undefined;
      return { kind, leases, more: second, revision: third };
    }
    case "candidates": {
      const candidates = everyItem(first, maxListLimit, candidateFromWire);
      if (!isTuple(fields, 5) || candidates === undefined || !isBoolean(second) || !isInteger(third, 0))
        return undefined;
      return { kind, candidates, more: second, revision: third };
    }
    case "sessions": {
      const sessions = everyItem(first, maxListLimit, sessionReportFromWire);
      if (!isTuple(fields, 5) || sessions === undefined || !isBoolean(second) || !isInteger(third, 0))
        return undefined;
      return { kind, sessions, more: second, revision: third };
    }
    default:
      return unreachable(kind);
  }
}

function gotFromWire(item: unknown, revision: unknown): ResponseBody | undefined {
  const pair = optionalPairFromWire(item);
  if (pair === "wrong" || !isInteger(revision, 0)) return undefined;
  return { kind: "got", pair, revision };
}

type Listed = Extract<ResponseBody, { readonly kind: "listed" }>;

/** The count is there only where it was asked for: who does not know of it never asked. */
function listedToWire(id: number, kind: number, body: Listed): unknown[] {
  const fields = [id, kind, body.pairs.map(pairToWire), body.more, body.revision];
  return body.count === undefined ? fields : [...fields, body.count];
}

function listedFromWire(fields: readonly unknown[]): Listed | undefined {
  const [, , items, more, revision, count] = fields;
  if (!isTuple(fields, 5) && !(isTuple(fields, 6) && isInteger(count, 0))) return undefined;
  const pairs = everyItem(items, maxListLimit, pairFromWire);
  if (pairs === undefined || !isBoolean(more) || !isInteger(revision, 0)) return undefined;
  return { kind: "listed", pairs, more, revision, ...(isInteger(count, 0) ? { count } : {}) };
}

function failureToWire(failure: Failure): unknown[] {
  return [
    failure.code.slice(0, maxCodeChars),
    failure.message.slice(0, maxMessageChars),
    failure.retryable,
    outcomes.indexOf(failure.outcome),
    failure.leaderEndpoint.slice(0, maxEndpointChars),
  ];
}

function failureFromWire(value: unknown): Failure | undefined {
  if (!isTuple(value, 5)) return undefined;
  const [code, message, retryable, , leaderEndpoint] = value;
  const outcome = wordAt(outcomes, value[3]);
  if (!isText(code, maxCodeChars) || !isText(message, maxMessageChars)) return undefined;
  if (!isBoolean(retryable) || outcome === undefined || !isText(leaderEndpoint, maxEndpointChars))
    return undefined;
  return { code, message, retryable, outcome, leaderEndpoint };
}

function statusToWire(status: ReportedStatus): unknown[] {
  return [
    status.id,
    status.pid,
    standings.indexOf(status.standing),
    status.clusterId,
    roles.indexOf(status.role),
    status.term,
    status.leader,
    status.commitIndex,
    status.appliedIndex,
    status.lastIndex,
    status.revision,
    status.mute,
    status.members.slice(0, maxReportedMembers).map((member) => [member.id, member.endpoint]),
    status.complaints.slice(0, maxComplaints).map((complaint) => complaint.slice(0, maxMessageChars)),
  ];
}

function statusFromWire(value: unknown): ReportedStatus | undefined {
  if (!isTuple(value, 14)) return undefined;
  const [id, pid, , clusterId, , term, leader, commitIndex, appliedIndex, lastIndex, revision, mute] = value;
  const standing = wordAt(standings, value[2]);
  const role = wordAt(roles, value[4]);
  const members = everyItem(value[12], maxReportedMembers, memberFromWire);
  const complaints = everyItem(value[13], maxComplaints, complaintFromWire);
  if (!isText(id, maxIdChars) || !isText(clusterId, maxIdChars) || !isText(leader, maxIdChars))
    return undefined;
  if (!isInteger(pid, 0) || !isInteger(term, 0) || !isInteger(revision, 0)) return undefined;
  if (!isInteger(commitIndex, 0) || !isInteger(appliedIndex, 0) || !isInteger(lastIndex, 0)) return undefined;
  if (standing === undefined || role === undefined || !isBoolean(mute)) return undefined;
  if (members === undefined || complaints === undefined) return undefined;
  const counters = { term, commitIndex, appliedIndex, lastIndex, revision };
  return { id, pid, standing, clusterId, role, leader, ...counters, mute, members, complaints };
}

function memberFromWire(value: unknown): ReportedMember | undefined {
  if (!isTuple(value, 2)) return undefined;
  const [id, endpoint] = value;
  return isText(id, maxIdChars) && isText(endpoint, maxEndpointChars) ? { id, endpoint } : undefined;
}

function complaintFromWire(value: unknown): string | undefined {
  return isText(value, maxMessageChars) ? value : undefined;
}
