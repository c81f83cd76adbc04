/**
 * Who decides in a simulated cluster: the configurations that may be in force somewhere, and the hosts that speak for
 * their members. A wiped host speaks for nobody until it has come back as a new member.
 */
import { type Configuration, isMember, type MemberId, majorityOf } from "@quorate/raft";
import { isQuorum } from "../invariants/quorums.ts";
import type { FaultyCluster, FaultyHost } from "./faultyCluster.ts";

/** The newest committed configuration, and all that any log holds after it. Empty before anybody was born. */
export function decidingConfigurations({ checks, hosts }: FaultyCluster): readonly Configuration[] {
  const committed = checks.history.configuration;
  if (committed === undefined) return [];
  const after = hosts.flatMap(({ member }) =>
    member === undefined ? [] : checks.history.configurationsAfter(member, committed.index),
  );
  return [...new Set([committed.configuration, ...after])];
}

/** The host whose directory is this member's. */
function hostOf({ hosts }: FaultyCluster, id: MemberId): FaultyHost | undefined {
  return hosts.find((host) => host.member?.member === id);
}

/** Whether those for whom `has` is true are a quorum by every configuration that may be in force. */
export function areQuorum(cluster: FaultyCluster, has: (host: FaultyHost) => boolean): boolean {
  return quorums(cluster, has).every((isOne) => isOne);
}

/** Whether they are a quorum by any of these configurations. */
export function mayBeQuorum(cluster: FaultyCluster, has: (host: FaultyHost) => boolean): boolean {
  return quorums(cluster, has).some((isOne) => isOne);
}

/**
 * Whether they may come to be a quorum, when what is begun goes on: whoever is on its way in takes the place of a
 * voter, or one beside them.
 */
export function mayBecomeQuorum(cluster: FaultyCluster, has: (host: FaultyHost) => boolean): boolean {
  if (mayBeQuorum(cluster, has)) return true;
  const coming = comers(cluster);
  return decidingConfigurations(cluster).some(({ voters }) => {
    const hosts = new Set([...coming, ...voters.map(({ id }) => hostOf(cluster, id))]);
    return [...hosts].filter((host) => host !== undefined && has(host)).length >= majorityOf(voters);
  });
}

function quorums(cluster: FaultyCluster, has: (host: FaultyHost) => boolean): readonly boolean[] {
  const configurations = decidingConfigurations(cluster);
  if (configurations.length === 0) {
    const founders = cluster.hosts.filter((host) => !host.isSpare);
    return [founders.filter(has).length * 2 > founders.length];
  }
  const hasMember = (id: MemberId): boolean => {
    const host = hostOf(cluster, id);
    return host !== undefined && has(host);
  };
  return configurations.map((configuration) => isQuorum(configuration, hasMember));
}

/** How many voters are a majority by the newest committed configuration. */
export function quorumSize({ checks, hosts }: FaultyCluster): number {
  const { configuration } = checks.history.configuration ?? {};
  if (configuration !== undefined) return majorityOf(configuration.voters);
  return (hosts.filter((host) => !host.isSpare).length >> 1) + 1;
}

/** Whether the newest committed configuration names the member that speaks for this host. */
export function belongs({ checks }: FaultyCluster, { member, isSpare }: FaultyHost): boolean {
  const { configuration } = checks.history.configuration ?? {};
  if (configuration === undefined) return !isSpare;
  return member !== undefined && isMember(configuration, member.member);
}

/** Those that are on their way in, and count once they are there. */
export function comers(cluster: FaultyCluster): readonly FaultyHost[] {
  return [...new Set([...promised(cluster), ...joining(cluster)])];
}

/** Those that may come in at any time. */
function joining({ hosts }: FaultyCluster): readonly FaultyHost[] {
  return hosts.filter((host) => host.isJoining && !host.isPaused);
}

/** Those that are to be promoted, by any configuration that may be in force. */
function promised(cluster: FaultyCluster): readonly FaultyHost[] {
  const found = new Set<FaultyHost>();
  for (const { learners } of decidingConfigurations(cluster)) {
    for (const { id, promotes } of learners) {
      const host = promotes ? hostOf(cluster, id) : undefined;
      if (host !== undefined) found.add(host);
    }
  }
  return [...found];
}
