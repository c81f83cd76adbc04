/** What the nodes say of themselves, put together into one view of the cluster. Asks nobody. */
import type { ClusterStatus, NodeReport } from "./cluster.ts";
import type { ReportedMember, ReportedStatus } from "./protocol/index.ts";

export interface StatusReply {
  readonly endpoint: string;
  /** A status, or a sentence about why there is none. */
  readonly status: ReportedStatus | undefined;
  readonly problem: string;
}

/** Shown as the id of a configured endpoint that never answered and that no node names as a member's. */
const unknownId = "?";

export function clusterStatus(
  replies: readonly StatusReply[],
  members: readonly ReportedMember[],
): ClusterStatus {
  const told = replies.map((reply) => reply.status).filter((status) => status !== undefined);
  const newestTerm = Math.max(0, ...told.map((status) => status.term));
  return {
    clusterId: told.find((status) => status.clusterId !== "")?.clusterId ?? null,
    leader: leaderOf(told.filter((status) => status.term === newestTerm)),
    term: newestTerm,
    revision: Math.max(0, ...told.map((status) => status.revision)),
    nodes: reports(replies, members).sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

/** Whom most of these name. */
function leaderOf(statuses: readonly ReportedStatus[]): string | null {
  const votes = new Map<string, number>();
  for (const { leader } of statuses) {
    if (leader !== "") votes.set(leader, (votes.get(leader) ?? 0) + 1);
  }
  const [first] = [...votes].sort(([, a], [, b]) => b - a);
  return first?.[0] ?? null;
}

/** One report a node: the same node may be known by two endpoints. */
function reports(replies: readonly StatusReply[], members: readonly ReportedMember[]): NodeReport[] {
  const byId = new Map<string, NodeReport>();
  for (const { endpoint, status } of replies) {
    if (status !== undefined && !byId.has(status.id)) byId.set(status.id, reportOf(endpoint, status));
  }
  const silent: NodeReport[] = [];
  for (const { endpoint, status, problem } of replies) {
    if (status !== undefined) continue;
    const id = members.find((member) => member.endpoint === endpoint)?.id ?? unknownId;
    if (!byId.has(id) && !silent.some((report) => report.id === id && id !== unknownId)) {
      silent.push(unreachableReport(id, endpoint, problem));
    }
  }
  return [...byId.values(), ...silent];
}

function reportOf(endpoint: string, status: ReportedStatus): NodeReport {
  return {
    id: status.id,
    pid: status.pid,
    clusterId: status.clusterId === "" ? null : status.clusterId,
    role: roleOf(status),
    term: status.term,
    commitIndex: status.commitIndex,
    appliedIndex: status.appliedIndex,
    endpoint,
    complaints: status.complaints,
  };
}

function roleOf(status: ReportedStatus): NodeReport["role"] {
  if (status.standing === "closed") return "unreachable";
  if (status.standing === "unborn") return "unborn";
  if (status.standing === "lost" || status.mute) return "mute";
  return status.role === "preCandidate" ? "candidate" : status.role;
}

function unreachableReport(id: string, endpoint: string, problem: string): NodeReport {
  return {
    id,
    pid: null,
    clusterId: null,
    role: "unreachable",
    term: null,
    commitIndex: null,
    appliedIndex: null,
    endpoint,
    complaints: [problem],
  };
}
