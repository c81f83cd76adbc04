/** A node's own view of itself, as clients are told it. */
import type { ReportedMember, ReportedStatus } from "@quorate/client/protocol";
import { membersOf, type NodeStatus, nodeIdOf } from "@quorate/raft";

export interface ReportSources {
  readonly status: NodeStatus;
  readonly revision: number;
  /** Of the store. */
  readonly complaints: readonly string[];
  readonly pid: number;
  /** Where this node says that it can be reached. */
  readonly address: string;
  /** What it was told at its start: all that is known of the others before the cluster is born. */
  readonly configuredPeers: Readonly<Record<string, string>>;
}

export function statusReport(sources: ReportSources): ReportedStatus {
  const { status, revision, pid } = sources;
  return {
    id: nodeIdOf(status.member),
    pid,
    standing: status.standing,
    clusterId: status.clusterId ?? "",
    role: status.role,
    term: status.term,
    leader: status.leader === undefined ? "" : nodeIdOf(status.leader),
    commitIndex: status.commitIndex,
    appliedIndex: status.appliedIndex,
    lastIndex: status.lastIndex,
    revision,
    mute: status.floor !== undefined,
    members: reportedMembers(sources),
    complaints: [...status.complaints, ...sources.complaints],
  };
}

function reportedMembers({ status, address, configuredPeers }: ReportSources): ReportedMember[] {
  const own = nodeIdOf(status.member);
  if (status.configuration === undefined) {
    return Object.entries(configuredPeers).map(([id, endpoint]) => ({
      id,
      endpoint: id === own ? address : endpoint,
    }));
  }
  return membersOf(status.configuration).map((each) => {
    const peer = status.peers.find(({ member }) => member === each.id);
    return {
      id: nodeIdOf(each.id),
      endpoint: each.id === status.member ? address : (peer?.address ?? each.address),
    };
  });
}
