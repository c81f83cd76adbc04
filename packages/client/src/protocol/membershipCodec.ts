/**
 * Members and their changes as positional arrays, for requests (requestCodec.ts) and responses (responseCodec.ts).
 * Rare, and checked field by field like everything else.
 */
import { maxEndpointChars, maxIdChars, maxMembershipChanges, maxReportedMembers } from "./limits.ts";
import type { MemberReport, MembershipChange, MembershipReport } from "./requests.ts";
import { unreachable } from "./unreachable.ts";
import { everyItem, isBoolean, isInteger, isText, isTuple, wordAt } from "./wireFields.ts";

/** By their numbers on the wire: only ever add at the end. */
const changeKinds = ["promote", "demote", "remove", "move"] as const;
const memberRoles: readonly MemberReport["role"][] = ["voter", "learner"];

export function changeToWire(change: MembershipChange): unknown[] {
  const kind = changeKinds.indexOf(change.kind);
  return change.kind === "move" ? [kind, change.member, change.endpoint] : [kind, change.member];
}

export function changesFromWire(value: unknown): MembershipChange[] | undefined {
  return everyItem(value, maxMembershipChanges, changeFromWire);
}

function changeFromWire(value: unknown): MembershipChange | undefined {
  if (!Array.isArray(value)) return undefined;
  const [word, member, endpoint]: readonly unknown[] = value;
  const kind = wordAt(changeKinds, word);
  if (!isText(member, maxIdChars)) return undefined;
  switch (kind) {
    case undefined:
      return undefined;
    case "promote":
    case "demote":
    case "remove":
      return isTuple(value, 2) ? { kind, member } : undefined;
    case "move":
      return isTuple(value, 3) && isText(endpoint, maxEndpointChars) ? { kind, member, endpoint } : undefined;
    default:
      return unreachable(kind);
  }
}

export function membershipToWire({ clusterId, index, members }: MembershipReport): unknown[] {
  return [clusterId, index, members.slice(0, maxReportedMembers).map(memberToWire)];
}

export function membershipFromWire(value: unknown): MembershipReport | undefined {
  if (!isTuple(value, 3)) return undefined;
  const [clusterId, index] = value;
  const members = everyItem(value[2], maxReportedMembers, memberFromWire);
  if (!isText(clusterId, maxIdChars) || !isInteger(index, 0) || members === undefined) return undefined;
  return { clusterId, index, members };
}

function memberToWire(report: MemberReport): unknown[] {
  const { id, member, endpoint, role, leaving, promotes, replaces } = report;
  return [id, member, endpoint, memberRoles.indexOf(role), leaving, promotes, replaces];
}

function memberFromWire(value: unknown): MemberReport | undefined {
  if (!isTuple(value, 7)) return undefined;
  const [id, member, endpoint, word, leaving, promotes, replaces] = value;
  const role = wordAt(memberRoles, word);
  if (!isText(id, maxIdChars) || !isText(member, maxIdChars) || !isText(replaces, maxIdChars))
    return undefined;
  if (!isText(endpoint, maxEndpointChars) || !isBoolean(leaving) || !isBoolean(promotes)) return undefined;
  return role === undefined ? undefined : { id, member, endpoint, role, leaving, promotes, replaces };
}
