/**
 * What is told outside of the membership: the configuration in force, and with whom to keep links.
 *
 * More than the members: while a change is open, those that it removes, for it may be overwritten; and those that a
 * leader has yet to tell that they left.
 */
import type { MembershipView } from "./contract.ts";
import { type LogState, newestConfiguration, openConfigurations } from "./log.ts";
import { membersOf } from "./quorum.ts";
import type { Leaving } from "./state.ts";
import type { Index, Member, MemberId } from "./types.ts";

export function membershipView(
  log: LogState,
  commitIndex: Index,
  leaving: ReadonlyMap<MemberId, Leaving> | undefined,
): MembershipView {
  const linked = new Map<MemberId, Member>();
  const link = (member: Member): void => {
    if (!linked.has(member.id)) linked.set(member.id, member);
  };
  const open = openConfigurations(log, commitIndex);
  for (let at = open.length - 1; at >= 0; at -= 1) membersOf(open[at]!.configuration).forEach(link);
  for (const { member } of leaving?.values() ?? []) link(member);
  return { inForce: newestConfiguration(log), linked: [...linked.values()] };
}

export function isSameView(one: MembershipView, other: MembershipView): boolean {
  if (one.inForce !== other.inForce || one.linked.length !== other.linked.length) return false;
  return one.linked.every((member, at) => member.id === other.linked[at]?.id);
}
