/**
 * What a change of membership makes of a configuration: arithmetic on plain data, with every refusal named.
 *
 * A new voter always comes in as a learner and is promoted by the leader when it has caught up, so that adding one
 * that is not there never blocks a quorum (Dissertation §4.2.1). Nothing here knows of logs or roles.
 */
import { unreachable } from "./invariant.ts";
import { membersOf } from "./quorum.ts";
import { type Configuration, type Learner, type Member, type MemberId, nodeIdOf } from "./types.ts";

/** At most so many members vote, those that wait for their promotion included. */
export const maxVoters = 7;
/** At most so many members are learners. */
export const maxLearners = 8;

export type MemberChange =
  /** Comes in as a learner; `promotes`: becomes a voter when it has caught up. */
  | { readonly kind: "add"; readonly member: Member; readonly promotes: boolean }
  /** A learner becomes a voter when it has caught up. */
  | { readonly kind: "promote"; readonly id: MemberId }
  /** A voter becomes a learner, or a learner is not to be promoted after all. */
  | { readonly kind: "demote"; readonly id: MemberId }
  | { readonly kind: "remove"; readonly id: MemberId }
  /** `by` comes in as a learner and takes the place of `id`, which leaves in the same step. */
  | { readonly kind: "replace"; readonly id: MemberId; readonly by: Member }
  | { readonly kind: "move"; readonly id: MemberId; readonly address: string };

export type MemberChangeRefusal =
  /** It is a member already. */
  | "isMember"
  /** Another member has this node's name: it is to be replaced or removed. */
  | "nameTaken"
  | "unknownMember"
  /** It is what the change asks for already. */
  | "unchanged"
  | "noVoterLeft"
  | "tooManyMembers";

interface Draft {
  voters: Member[];
  learners: Learner[];
}

/** All changes together, from a configuration that is not joint; the result is not joint either. */
export function changeMembers(
  configuration: Configuration,
  changes: readonly MemberChange[],
): Configuration | MemberChangeRefusal {
  const draft: Draft = { voters: [...configuration.voters], learners: [...configuration.learners] };
  if (changes.length === 0) return "unchanged";
  for (const change of changes) {
    const refusal = applyChange(draft, change);
    if (refusal !== undefined) return refusal;
  }
  const { voters, learners } = draft;
  if (voters.length === 0) return "noVoterLeft";
  const voting = voters.length + learners.filter((one) => one.promotes && one.replaces === undefined).length;
  if (voting > maxVoters || learners.length > maxLearners) return "tooManyMembers";
  return { voters, outgoing: [], learners };
}

function applyChange(draft: Draft, change: MemberChange): MemberChangeRefusal | undefined {
  switch (change.kind) {
    case "add":
      return add(draft, { ...plain(change.member), promotes: change.promotes, replaces: undefined });
    case "promote":
      return editLearner(draft, change.id, true);
    case "demote":
      return demote(draft, change.id);
    case "remove":
      return remove(draft, change.id);
    case "replace":
      return replace(draft, change.id, change.by);
    case "move":
      return move(draft, change.id, change.address);
    default:
      return unreachable(change);
  }
}

function plain({ id, address }: Member): Member {
  return { id, address };
}

function add(draft: Draft, learner: Learner): MemberChangeRefusal | undefined {
  for (const { id } of [...draft.voters, ...draft.learners]) {
    if (id === learner.id) return "isMember";
    // A wiped node comes back under its name: the member that it was goes when it is promoted.
    if (nodeIdOf(id) === nodeIdOf(learner.id) && id !== learner.replaces) return "nameTaken";
  }
  draft.learners.push(learner);
  return undefined;
}

function editLearner(draft: Draft, id: MemberId, promotes: boolean): MemberChangeRefusal | undefined {
  const at = draft.learners.findIndex((learner) => learner.id === id);
  const learner = draft.learners[at];
  if (learner === undefined) return hasVoter(draft, id) ? "unchanged" : "unknownMember";
  if (learner.promotes === promotes) return "unchanged";
  draft.learners[at] = { ...learner, promotes };
  return undefined;
}

function demote(draft: Draft, id: MemberId): MemberChangeRefusal | undefined {
  const voter = draft.voters.find((member) => member.id === id);
  if (voter === undefined) return editLearner(draft, id, false);
  draft.voters = draft.voters.filter((member) => member.id !== id);
  draft.learners.push({ ...plain(voter), promotes: false, replaces: undefined });
  return undefined;
}

function remove(draft: Draft, id: MemberId): MemberChangeRefusal | undefined {
  const { voters, learners } = draft;
  draft.voters = voters.filter((member) => member.id !== id);
  draft.learners = learners.filter((member) => member.id !== id);
  const isGone = draft.voters.length < voters.length || draft.learners.length < learners.length;
  return isGone ? undefined : "unknownMember";
}

function replace(draft: Draft, id: MemberId, by: Member): MemberChangeRefusal | undefined {
  if (hasVoter(draft, id)) return add(draft, { ...plain(by), promotes: true, replaces: id });
  const learner = draft.learners.find((member) => member.id === id);
  if (learner === undefined) return "unknownMember";
  draft.learners = draft.learners.filter((member) => member.id !== id);
  return add(draft, { ...plain(by), promotes: learner.promotes, replaces: learner.replaces });
}

function move(draft: Draft, id: MemberId, address: string): MemberChangeRefusal | undefined {
  const { voters, learners } = draft;
  const known = [...voters, ...learners].find((member) => member.id === id);
  if (known === undefined) return "unknownMember";
  if (known.address === address) return "unchanged";
  draft.voters = voters.map((member) => (member.id === id ? { ...member, address } : member));
  draft.learners = learners.map((member) => (member.id === id ? { ...member, address } : member));
  return undefined;
}

function hasVoter({ voters }: Draft, id: MemberId): boolean {
  return voters.some((member) => member.id === id);
}

/**
 * What takes a node in that asks for it: adds it, or puts it in the place of the member of its name. One that was wiped
 * again while it waited for its promotion takes the place of that learner, not of the voter. One that was added and
 * could not be reached may come back with another address. Undefined: it is a member, and looked for where it is.
 */
export function admission(
  configuration: Configuration,
  member: Member,
  promotes: boolean,
): MemberChange | undefined {
  const members = membersOf(configuration);
  const known = members.find(({ id }) => id === member.id);
  if (known?.address === member.address) return undefined;
  if (known !== undefined) return { kind: "move", id: member.id, address: member.address };
  const isNamesake = ({ id }: Member): boolean => nodeIdOf(id) === nodeIdOf(member.id);
  const before = configuration.learners.find(isNamesake) ?? members.find(isNamesake);
  return before === undefined
    ? { kind: "add", member, promotes }
    : { kind: "replace", id: before.id, by: member };
}

/** A learner that caught up becomes a voter; the one whose place it takes leaves. */
export function promote(configuration: Configuration, learner: Learner): Configuration {
  const staying = configuration.voters.filter((voter) => voter.id !== learner.replaces);
  return {
    voters: [...staying, plain(learner)],
    outgoing: [],
    learners: configuration.learners.filter((other) => other.id !== learner.id),
  };
}

/**
 * The configuration that leads from one to the other: `next` itself where at most one voter comes or goes, for then
 * every two majorities intersect (Dissertation §4.1); else the joint one of both.
 */
export function towards(current: Configuration, next: Configuration): Configuration {
  const coming = missingFrom(current.voters, next.voters);
  const going = missingFrom(next.voters, current.voters);
  return coming + going <= 1 ? next : { ...next, outgoing: current.voters };
}

function missingFrom(these: readonly Member[], those: readonly Member[]): number {
  return those.filter((member) => !these.some((other) => other.id === member.id)).length;
}

/** The end of a joint configuration. */
export function leaveJoint({ voters, learners }: Configuration): Configuration {
  return { voters, outgoing: [], learners };
}
