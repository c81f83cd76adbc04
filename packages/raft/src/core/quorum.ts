/**
 * The arithmetic of quorums, over a `Configuration` and never over a bare count.
 *
 * This file and the type are all that a joint configuration will change. A member that is not a voter is
 * never asked for, so what it answered cannot count, be it a leader outside its own configuration.
 */
import type { Configuration, MemberId } from "./types.ts";

export function quorumSize(configuration: Configuration): number {
  return Math.floor(configuration.voters.length / 2) + 1;
}

export function isVoter(configuration: Configuration, id: MemberId): boolean {
  return configuration.voters.some((voter) => voter.id === id);
}

/** True when the voters for whom `has` is true are a quorum. */
export function hasQuorum(configuration: Configuration, has: (id: MemberId) => boolean): boolean {
  let count = 0;
  for (const voter of configuration.voters) if (has(voter.id)) count += 1;
  return configuration.voters.length > 0 && count >= quorumSize(configuration);
}

/**
 * The highest value that a quorum has reached: of match indexes the index that may commit, of times the
 * moment since which a quorum was heard. Sorted anew each time, for nothing is then kept that could lose its
 * order (openraft#1802).
 */
export function reachedByQuorum(configuration: Configuration, reached: (id: MemberId) => number): number {
  const values: number[] = [];
  for (const voter of configuration.voters) insertDescending(values, reached(voter.id));
  return values[quorumSize(configuration) - 1] ?? 0;
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
