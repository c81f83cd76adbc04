/**
 * Requests as positional arrays, which the transport packs: `[id, timeoutMs, kind, ...fields]`.
 *
 * A frame is an array of requests, bounded by the frame's bytes. Nothing is trusted: each field's shape and range is
 * checked, and one wrong field refuses the whole frame, since its sender is broken or hostile.
 *
 * Keys travel as strings of one character a byte. ASCII keys, so nearly all of them, then cost neither a conversion
 * nor an extra byte; a byte from 0x80 costs two. Byte arrays would cost an object and a conversion for every key.
 */
import type { ByteString } from "./commands.ts";
import { FrameCopies, maxSharedBytes } from "./frameCopies.ts";
import {
  maxEndpointChars,
  maxIdChars,
  maxLeaseNameBytes,
  maxListLimit,
  maxRenewalsAtOnce,
  maxRequestBytes,
  maxRequestTimeoutMs,
} from "./limits.ts";
import { changesFromWire, changeToWire } from "./membershipCodec.ts";
import type { Consistency, LeaseRequest, Request, RequestBody } from "./requests.ts";
import { snapshotRequestFromWire } from "./snapshotCodec.ts";
import { unreachable } from "./unreachable.ts";
import { watchFromWire, watchToWire } from "./watchCodec.ts";
import {
  everyItem,
  integersFrom,
  isBoolean,
  isBytes,
  isByteText,
  isInteger,
  isRangeBound,
  isText,
  isTuple,
  isWireKey,
  wordAt,
} from "./wireFields.ts";

/** By their numbers on the wire: only ever add at the end. */
const bodyKinds = [
  "execute",
  "get",
  "list",
  "keepAlive",
  "status",
  "transfer",
  "listMembers",
  "changeMembers",
  "joinCluster",
  "renew",
  "awaitSession",
  "getLease",
  "awaitLease",
  "listLeases",
  "watch",
  "watchCredit",
  "unwatch",
  "takeSnapshot",
  "snapshotPart",
  "leaseHistory",
  "renewAll",
  "listSessions",
  "listCandidates",
] as const;
const consistencies: readonly Consistency[] = ["linearizable", "local"];

/** One frame. */
export function requestsToWire(requests: readonly Request[]): unknown[] {
  return requests.map(requestToWire);
}

/** Undefined where anything is wrong with any of them. */
export function requestsFromWire(value: unknown): Request[] | undefined {
  const copies = new FrameCopies(smallProposalBytes(value));
  return everyItem(value, Number.MAX_SAFE_INTEGER, (item) => requestFromWire(item, copies));
}

/** Reads and what else is in a frame does not outlive it, and may be nearly all of it. */
function smallProposalBytes(value: unknown): number {
  let bytes = 0;
  for (const item of Array.isArray(value) ? (value as readonly unknown[]) : []) {
    if (!Array.isArray(item) || wordAt(bodyKinds, item[2]) !== "execute") continue;
    const proposal: unknown = item[3];
    if (isBytes(proposal, maxSharedBytes)) bytes += proposal.length;
  }
  return bytes;
}

export function requestToWire(request: Request): unknown[] {
  const { id, timeoutMs, body } = request;
  const kind = bodyKinds.indexOf(body.kind);
  switch (body.kind) {
    case "execute":
      return [id, timeoutMs, kind, body.proposal];
    case "get": {
      const fields = [id, timeoutMs, kind, body.key, consistencies.indexOf(body.consistency)];
      return body.revision === undefined ? fields : [...fields, body.revision];
    }
    case "list": {
      const { range, limit, reverse, keysOnly, revision, count } = body;
      const consistency = consistencies.indexOf(body.consistency);
      const fields = [id, timeoutMs, kind, range.from, range.to, limit, reverse, keysOnly, consistency];
      return revision === undefined && !count ? fields : [...fields, revision ?? 0, count ?? false];
    }
    case "keepAlive":
      return [id, timeoutMs, kind, body.session];
    case "status":
    case "listMembers":
    case "takeSnapshot":
      return [id, timeoutMs, kind];
    case "snapshotPart":
      return [id, timeoutMs, kind, body.snapshot, body.part];
    case "transfer":
      return [id, timeoutMs, kind, body.target];
    case "changeMembers":
      return [id, timeoutMs, kind, body.changes.map(changeToWire), body.ifIndex];
    case "joinCluster":
      return [id, timeoutMs, kind, body.member, body.endpoint, body.votes];
    case "renew":
    case "awaitSession":
      return [id, timeoutMs, kind, body.session, body.version];
    case "renewAll":
      return [id, timeoutMs, kind, body.sessions, body.versions];
    case "getLease":
    case "leaseHistory":
      return [id, timeoutMs, kind, body.name, consistencies.indexOf(body.consistency)];
    case "awaitLease":
      return [id, timeoutMs, kind, body.name, body.changed];
    case "listLeases": {
      const { range, limit, consistency } = body;
      return [id, timeoutMs, kind, range.from, range.to, limit, consistencies.indexOf(consistency)];
    }
    case "listCandidates":
      return [id, timeoutMs, kind, body.name, body.limit, consistencies.indexOf(body.consistency)];
    case "listSessions":
      return [id, timeoutMs, kind, body.from, body.limit, consistencies.indexOf(body.consistency)];
    case "watch":
      return [id, timeoutMs, kind, ...watchToWire(body)];
    case "watchCredit":
      return [id, timeoutMs, kind, body.watch, body.consumedBytes];
    case "unwatch":
      return [id, timeoutMs, kind, body.watch];
    default:
      return unreachable(body);
  }
}

/** The request holds nothing of the frame: a proposal, which outlives it in the log, is copied. */
export function requestFromWire(value: unknown, copies: FrameCopies): Request | undefined {
  if (!Array.isArray(value)) return undefined;
  const fields: readonly unknown[] = value;
  const [id, timeoutMs, kind] = fields;
  if (!isInteger(id, 0) || !isInteger(timeoutMs, 1, maxRequestTimeoutMs)) return undefined;
  const body = bodyFromWire(wordAt(bodyKinds, kind), fields, copies);
  return body === undefined ? undefined : { id, timeoutMs, body };
}

function bodyFromWire(
  kind: RequestBody["kind"] | undefined,
  fields: readonly unknown[],
  copies: FrameCopies,
): RequestBody | undefined {
  switch (kind) {
    case undefined:
      return undefined;
    case "execute": {
      const proposal = fields[3];
      if (!isTuple(fields, 4) || !isBytes(proposal, maxRequestBytes)) return undefined;
      return { kind, proposal: copies.copyOf(proposal) };
    }
    case "get":
      return getFromWire(fields);
    case "list":
      return listFromWire(fields);
    case "keepAlive": {
      const session = fields[3];
      return isTuple(fields, 4) && isInteger(session, 1) ? { kind, session } : undefined;
    }
    case "status":
    case "listMembers":
      return isTuple(fields, 3) ? { kind } : undefined;
    case "transfer": {
      const target = fields[3];
      return isTuple(fields, 4) && isText(target, maxIdChars) ? { kind, target } : undefined;
    }
    case "changeMembers": {
      const ifIndex = fields[4];
      const changes = isTuple(fields, 5) ? changesFromWire(fields[3]) : undefined;
      return changes === undefined || !isInteger(ifIndex, -1) ? undefined : { kind, changes, ifIndex };
    }
    case "joinCluster": {
      const [, , , member, endpoint, votes] = fields;
      if (!isTuple(fields, 6) || !isText(member, maxIdChars) || !isText(endpoint, maxEndpointChars))
        return undefined;
      return isBoolean(votes) ? { kind, member, endpoint, votes } : undefined;
    }
    case "watch":
      return watchFromWire(fields);
    case "watchCredit": {
      const [, , , watch, consumedBytes] = fields;
      if (!isTuple(fields, 5) || !isInteger(watch, 0) || !isInteger(consumedBytes, 0)) return undefined;
      return { kind, watch, consumedBytes };
    }
    case "unwatch": {
      const watch = fields[3];
      return isTuple(fields, 4) && isInteger(watch, 0) ? { kind, watch } : undefined;
    }
    case "takeSnapshot":
    case "snapshotPart":
      return snapshotRequestFromWire(kind, fields);
    default:
      return leaseRequestFromWire(kind, fields);
  }
}

function leaseRequestFromWire(
  kind: LeaseRequest["kind"],
  fields: readonly unknown[],
): LeaseRequest | undefined {
  const [, , , first, second] = fields;
  switch (kind) {
    case "renew":
    case "awaitSession":
      if (!isTuple(fields, 5) || !isInteger(first, 1) || !isInteger(second, 0)) return undefined;
      return { kind, session: first, version: second };
    case "renewAll": {
      const sessions = integersFrom(first, 1, maxRenewalsAtOnce);
      const versions = integersFrom(second, 0, maxRenewalsAtOnce);
      if (!isTuple(fields, 5) || sessions === undefined || sessions.length < 1) return undefined;
      return versions?.length === sessions.length ? { kind, sessions, versions } : undefined;
    }
    case "getLease":
    case "leaseHistory": {
      const consistency = wordAt(consistencies, second);
      if (!isTuple(fields, 5) || !isLeaseName(first) || consistency === undefined) return undefined;
      return { kind, name: first, consistency };
    }
    case "awaitLease":
      if (!isTuple(fields, 5) || !isLeaseName(first) || !isInteger(second, 0)) return undefined;
      return { kind, name: first, changed: second };
    case "listLeases": {
      const limit = fields[5];
      const consistency = wordAt(consistencies, fields[6]);
      if (!isTuple(fields, 7) || !isRangeBound(first) || !isRangeBound(second)) return undefined;
      if (!isInteger(limit, 1, maxListLimit) || consistency === undefined) return undefined;
      return { kind, range: { from: first, to: second }, limit, consistency };
    }
    case "listCandidates": {
      const consistency = wordAt(consistencies, fields[5]);
      if (!isTuple(fields, 6) || !isLeaseName(first) || !isInteger(second, 1, maxListLimit)) return undefined;
      return consistency === undefined ? undefined : { kind, name: first, limit: second, consistency };
    }
    case "listSessions": {
      const consistency = wordAt(consistencies, fields[5]);
      if (!isTuple(fields, 6) || !isInteger(first, 0) || !isInteger(second, 1, maxListLimit))
        return undefined;
      return consistency === undefined ? undefined : { kind, from: first, limit: second, consistency };
    }
    default:
      return unreachable(kind);
  }
}

function isLeaseName(value: unknown): value is ByteString {
  return isByteText(value, maxLeaseNameBytes) && value.length > 0;
}

/** What came with version 3 stands after the rest, and only where it says something: older servers never see it. */
function getFromWire(fields: readonly unknown[]): RequestBody | undefined {
  const [, , , key, , revision = 0] = fields;
  const consistency = wordAt(consistencies, fields[4]);
  if (!isTuple(fields, 5) && !isTuple(fields, 6)) return undefined;
  if (!isWireKey(key) || consistency === undefined || !isInteger(revision, 0)) return undefined;
  return { kind: "get", key, consistency, ...(revision === 0 ? {} : { revision }) };
}

function listFromWire(fields: readonly unknown[]): RequestBody | undefined {
  const [, , , from, to, limit, reverse, keysOnly, , revision = 0, count = false] = fields;
  const consistency = wordAt(consistencies, fields[8]);
  if (!isTuple(fields, 9) && !isTuple(fields, 11)) return undefined;
  if (!isRangeBound(from) || !isRangeBound(to) || !isInteger(limit, 1, maxListLimit)) return undefined;
  if (!isBoolean(reverse) || !isBoolean(keysOnly) || consistency === undefined) return undefined;
  if (!isInteger(revision, 0) || !isBoolean(count)) return undefined;
  const past = { ...(revision === 0 ? {} : { revision }), ...(count ? { count } : {}) };
  return { kind: "list", range: { from, to }, limit, reverse, keysOnly, consistency, ...past };
}
