/** A node's status, gathered from its parts as plain data. */
import { asIndex, asTerm, type Configuration, type MemberId } from "../core/index.ts";
import { configurationOf } from "../core/log.ts";
import type { LogStore } from "../ports/index.ts";
import type { CoreDriver } from "./coreDriver.ts";
import type { PeerRegistry } from "./peerRegistry.ts";
import type { NodeStatus, PeerStatus } from "./raftNode.ts";

export interface StatusSources<Result> {
  readonly member: MemberId;
  readonly log: LogStore;
  readonly driver: CoreDriver<Result> | undefined;
  readonly peers: PeerRegistry;
  readonly ownAddress: string;
  readonly complaints: readonly string[];
  readonly closed: boolean;
}

export function nodeStatus<Result>(sources: StatusSources<Result>): NodeStatus {
  const { member, log, driver, complaints, closed } = sources;
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
      role: "follower",
      term: asTerm(0),
      leader: undefined,
      leaderAddress: undefined,
      commitIndex: asIndex(0),
      appliedIndex: asIndex(0),
      lastIndex: asIndex(0),
      durableIndex: asIndex(0),
      configuration: undefined,
      floor: standing.kind === "lost" ? standing.floor : undefined,
      peers: [],
    };
  }
  const { state } = driver;
  const configuration = configurationOf(state.log);
  return {
    ...common,
    role: state.role,
    term: state.currentTerm,
    leader: state.leader,
    leaderAddress: state.leader === undefined ? undefined : addressOf(sources, state.leader, configuration),
    commitIndex: state.commitIndex,
    appliedIndex: driver.appliedIndex,
    lastIndex: state.log.lastIndex,
    durableIndex: state.disk.durableIndex,
    configuration,
    floor: state.floor,
    peers: peerStatuses(sources, configuration, (peer) => state.leading?.peers.get(peer)?.match),
  };
}

function peerStatuses<Result>(
  sources: StatusSources<Result>,
  configuration: Configuration,
  matchIndexOf: (peer: MemberId) => PeerStatus["matchIndex"],
): readonly PeerStatus[] {
  return configuration.voters
    .filter((voter) => voter.id !== sources.member)
    .map((voter) => ({
      member: voter.id,
      address: addressOf(sources, voter.id, configuration) ?? voter.address,
      linked: sources.peers.isLinked(voter.id),
      matchIndex: matchIndexOf(voter.id),
    }));
}

function addressOf<Result>(
  { member, ownAddress, peers }: StatusSources<Result>,
  wanted: MemberId,
  configuration: Configuration,
): string | undefined {
  return wanted === member ? ownAddress : peers.addressOf(wanted, configuration);
}
