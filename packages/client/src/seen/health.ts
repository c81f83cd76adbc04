/**
 * Whether this process can count on the cluster now, and whether the cluster can count on it: for a service's own
 * health check. Asks every node, and a quorum by way of one linearizable read.
 */
import type { ClusterStatus, MemberList } from "../cluster.ts";
import type { ClusterMetrics, SessionMetrics } from "./clusterMetrics.ts";
import type { LeaseMetrics } from "./leaseCounts.ts";

export interface ClusterHealth {
  /** There are no problems. */
  readonly isHealthy: boolean;
  /** Sentences. What does not work now, or may do harm: work that goes on after its lease was lost is one. */
  readonly problems: readonly string[];
  /** Sentences. What works, and needs somebody's eye. */
  readonly warnings: readonly string[];
  /** A majority answered a linearizable read just now. */
  readonly hasQuorum: boolean;
  /** Node id, as most nodes of the newest term say. */
  readonly leader: string | null;
  readonly term: number;
  /** Of this process, with what is left of each. */
  readonly sessions: readonly SessionMetrics[];
  readonly leases: readonly LeaseMetrics[];
}

export interface HealthSources {
  readonly status: ClusterStatus;
  /** Or why no quorum answered. */
  readonly members: MemberList | { readonly problem: string };
  readonly metrics: ClusterMetrics;
}

export function healthOf({ status, members, metrics }: HealthSources): ClusterHealth {
  const hasQuorum = !("problem" in members);
  const problems = [
    ...("problem" in members ? [`No quorum answers: ${members.problem}`] : []),
    ...metrics.sessions.open.filter(({ remainingMs }) => remainingMs <= 0).map(sessionProblem),
    ...metrics.overdueWork.map(
      ({ name, term, overdueMs }) =>
        `The work under the lease ${JSON.stringify(name)} of term ${term} goes on, ${Math.round(overdueMs)} ms after ` +
        "that was lost: somebody else may do the same. End it, or this process.",
    ),
  ];
  const warnings = [
    ...nodeWarnings(status, members),
    ...metrics.leases.held
      .filter((lease) => lease.status === "jeopardy")
      .map(
        ({ name, remainingMs }) =>
          `The lease ${JSON.stringify(name)} is in jeopardy: ${Math.round(remainingMs)} ms are left of it.`,
      ),
  ];
  return {
    isHealthy: problems.length === 0,
    problems,
    warnings,
    hasQuorum,
    leader: status.leader,
    term: status.term,
    sessions: metrics.sessions.open,
    leases: metrics.leases.held,
  };
}

function sessionProblem({ id, ttlMs }: SessionMetrics): string {
  return `Session ${id} may be over: no renewal was confirmed for as long as its time to live of ${ttlMs} ms allows.`;
}

function nodeWarnings({ nodes }: ClusterStatus, members: HealthSources["members"]): readonly string[] {
  const voters = "problem" in members ? [] : members.members.filter(({ role }) => role === "voter");
  const away = voters.filter(({ id }) =>
    nodes.some((node) => node.id === id && node.role === "unreachable"),
  ).length;
  const spare = Math.ceil(voters.length / 2) - 1 - away;
  const thin =
    away > 0 && spare <= 0
      ? [`${away} of ${voters.length} voters are away: the loss of one more stops all writes.`]
      : [];
  return [
    ...thin,
    ...nodes.flatMap(({ id, complaints }) => complaints.map((sentence) => `${id}: ${sentence}`)),
  ];
}
