/**
 * What a quorum is, worked out again: a check that asked the core would believe a core that counts wrongly.
 *
 * More than half of the voters, and while the configuration is joint more than half of the outgoing ones too.
 */
import type { Configuration, Member, MemberId } from "@quorate/raft";

export function isQuorum({ voters, outgoing }: Configuration, has: (id: MemberId) => boolean): boolean {
  return isMajority(voters, has) && (outgoing.length === 0 || isMajority(outgoing, has));
}

function isMajority(voters: readonly Member[], has: (id: MemberId) => boolean): boolean {
  return voters.filter(({ id }) => has(id)).length * 2 > voters.length;
}
