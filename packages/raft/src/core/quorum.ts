/**
 * The arithmetic of quorums, over a `Configuration` and never over a bare count: a majority of the voters, and while
 * the configuration is joint also one of the outgoing voters (Dissertation §4.3).
 *
 * A member that is not a voter is never asked for, so what it answered cannot count, be it a learner, or a leader
 * outside its own configuration.
 */
import type { Configuration, Member, MemberId } from "./types.ts";

/** A configuration that is not joint and has no learners. */
export function votersOnly(voters: readonly Member[]): Configuration {
  return { voters, outgoing: [], learners: [] };
}

export function isJoint(configuration: Configuration): boolean {
  return configuration.outgoing.length > 0;
}

/** How many of `voters` are a majority: of four it takes three. */
export function majorityOf(voters: readonly Member[]): number {
  return Math.floor(voters.length / 2) + 1;
}

/** True for a voter of either list. */
export function isVoter({ voters, outgoing }: Configuration, id: MemberId): boolean {
  return includes(voters, id) || includes(outgoing, id);
}

export function isMember(configuration: Configuration, id: MemberId): boolean {
  return isVoter(configuration, id) || includes(configuration.learners, id);
}

function includes(members: readonly Member[], id: MemberId): boolean {
  return members.some((member) => member.id === id);
}

/** Everybody who is sent the log: voters, outgoing voters and learners, each once. */
export function membersOf(configuration: Configuration): readonly Member[] {
  const { voters, outgoing, learners } = configuration;
  if (outgoing.length === 0 && learners.length === 0) return voters;
  const members = new Map<MemberId, Member>();
  for (const member of [...voters, ...learners, ...outgoing]) {
    if (!members.has(member.id)) members.set(member.id, member);
  }
  return [...members.values()];
}

/** Everybody who is asked for a vote, each once. */
export function votersOf({ voters, outgoing }: Configuration): readonly Member[] {
  return outgoing.length === 0 ? voters : membersOf({ voters, outgoing, learners: [] });
}

/** True when the voters for whom `has` is true are a quorum. */
export function hasQuorum({ voters, outgoing }: Configuration, has: (id: MemberId) => boolean): boolean {
  return hasMajority(voters, has) && (outgoing.length === 0 || hasMajority(outgoing, has));
}

function hasMajority(voters: readonly Member[], has: (id: MemberId) => boolean): boolean {
  let count = 0;
  for (const voter of voters) if (has(voter.id)) count += 1;
  return count >= majorityOf(voters);
}

/**
 * The highest value that a quorum has reached: of match indexes the index that may commit, of times the
 * moment since which a quorum was heard. Sorted anew each time, for nothing is then kept that could lose its
 * order (openraft#1802).
 */
export function reachedByQuorum(
  { voters, outgoing }: Configuration,
  reached: (id: MemberId) => number,
): number {
  const value = reachedByMajority(voters, reached);
  return outgoing.length === 0 ? value : Math.min(value, reachedByMajority(outgoing, reached));
}

function reachedByMajority(voters: readonly Member[], reached: (id: MemberId) => number): number {
  const values: number[] = [];
  for (const voter of voters) insertDescending(values, reached(voter.id));
  return values[majorityOf(voters) - 1] ?? 0;
}

function insertDescending(values: number[], value: number): void {
  let at = values.length;
  values.push(value);
  while (at > 0 && values[at - 1]! < value) {
    values[at] = values[at - 1]!;
    at -= 1;
  }
  values[at] = value;
}
