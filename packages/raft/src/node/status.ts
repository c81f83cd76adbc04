/** A node's status, gathered from its parts as plain data. */
import {
  asIndex,
  asTerm,
  type Configuration,
  isBehind,
  isMember,
  type MemberId,
  membersOf,
  newestConfiguration,
  type Progress,
  type RaftState,
} from "../core/index.ts";
import type { LogStore } from "../ports/index.ts";
import type { CoreDriver } from "./coreDriver.ts";
import type { OwnMembership } from "./ownMembership.ts";
import type { PeerRegistry } from "./peerRegistry.ts";
import type { NodeStatus, PeerStatus } from "./raftNode.ts";
import { waitsFor } from "./readiness.ts";

export interface StatusSources<Result> {
  readonly member: MemberId;
  readonly log: LogStore;
  readonly driver: CoreDriver<Result> | undefined;
  readonly peers: PeerRegistry;
  readonly ownAddress: string;
  readonly own: Pick<OwnMembership, "removedAt">;
  readonly complaints: readonly string[];
  readonly closed: boolean;
}

const notNamed =
  "The members that this node knows of do not include it: it was removed, or the log that adds it is on its way.";

export function nodeStatus<Result>(sources: StatusSources<Result>): NodeStatus {
  const { member, log, driver, own, complaints, closed } = sources;
  const { standing } = log;
  const common = {
    member,
    standing: closed ? ("closed" as const) : standing.kind,
    clusterId: standing.kind === "born" ? standing.birth.clusterId : undefined,
    boot: log.boot,
    complaints,
  };
  if (driver === undefined) {
    return {
      ...common,
      waitsFor: closed ? undefined : waitsFor[standing.kind],
      role: "follower",
      term: asTerm(0),
      leader: undefined,
      leaderAddress: undefined,
      candidateAddress: undefined,
      commitIndex: asIndex(0),
      appliedIndex: asIndex(0),
      lastIndex: asIndex(0),
      durableIndex: asIndex(0),
      compactedIndex: asIndex(0),
      snapshot: undefined,
      isBehind: false,
      configuration: undefined,
      configurationIndex: asIndex(0),
      removedAt: undefined,
      floor: standing.kind === "lost" ? standing.floor : undefined,
      peers: [],
    };
  }
  const { state } = driver;
  const { index: configurationIndex, configuration } = newestConfiguration(state.log);
  return {
    ...common,
    waitsFor: undefined,
    complaints: isMember(configuration, member) ? complaints : [...complaints, whyNotNamed(sources)],
    role: state.role,
    term: state.currentTerm,
    leader: state.leader,
    leaderAddress: state.leader === undefined ? undefined : addressOf(sources, state.leader),
    candidateAddress: candidateAddress(sources, state),
    commitIndex: state.commitIndex,
    appliedIndex: driver.appliedIndex,
    lastIndex: state.log.lastIndex,
    durableIndex: state.disk.durableIndex,
    compactedIndex: state.log.boundary.index,
    snapshot: snapshotStatus(state),
    isBehind: isBehind(state),
    configuration,
    configurationIndex,
    removedAt: own.removedAt,
    floor: state.floor,
    peers: peerStatuses(sources, configuration, (peer) => state.leading?.peers.get(peer)),
  };
}

/** No advice: the log may still bring the entry that took it in again. */
function whyNotNamed<Result>({ own }: StatusSources<Result>): string {
  return own.removedAt === undefined
    ? notNamed
    : `Entry ${own.removedAt} of its log removes this node, and nothing that it knows of takes it in again.`;
}

function candidateAddress<Result>(
  sources: StatusSources<Result>,
  { leader, vote }: RaftState,
): string | undefined {
  const isKnown = leader === undefined && vote !== undefined && vote !== sources.member;
  return isKnown ? addressOf(sources, vote) : undefined;
}

function snapshotStatus({ snapshots }: RaftState): NodeStatus["snapshot"] {
  const { newest } = snapshots;
  return newest === undefined ? undefined : { index: newest.boundary.index, bytes: newest.bytes };
}

function peerStatuses<Result>(
  sources: StatusSources<Result>,
  configuration: Configuration,
  progressOf: (peer: MemberId) => Progress | undefined,
): readonly PeerStatus[] {
  return membersOf(configuration)
    .filter((peer) => peer.id !== sources.member)
    .map((peer) => ({
      member: peer.id,
      address: addressOf(sources, peer.id) ?? peer.address,
      linked: sources.peers.isLinked(peer.id),
      machine: sources.peers.machineOf(peer.id),
      ...progressStatus(progressOf(peer.id)),
    }));
}

function progressStatus(
  progress: Progress | undefined,
): Pick<PeerStatus, "matchIndex" | "mode" | "snapshot"> {
  const transfer = progress?.transfer;
  return {
    matchIndex: progress?.match,
    mode: progress?.mode,
    snapshot:
      transfer === undefined
        ? undefined
        : { index: transfer.header.boundary.index, sentBytes: transfer.offset, bytes: transfer.header.bytes },
  };
}

function addressOf<Result>(
  { member, ownAddress, peers }: StatusSources<Result>,
  wanted: MemberId,
): string | undefined {
  return wanted === member ? ownAddress : peers.addressOf(wanted);
}
