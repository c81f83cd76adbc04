/**
 * Starts a node: wires the ports, waits to be born, then lets the core run.
 *
 * The node stops by itself, loudly, when its log store, its state machine or an invariant fails. It never exits the
 * process: `closed` says why.
 */
import { isNodeId, maxVoters, memberId, type NodeId } from "../core/index.ts";
import { QuorateError } from "../errors.ts";
import type { PeerAddress } from "../ports/birthMessages.ts";
import {
  type Clock,
  type Logger,
  type LogStore,
  type Random,
  type StateMachine,
  silentLogger,
  type Transport,
} from "../ports/index.ts";
import type { CoreObserver } from "./coreDriver.ts";
import { type RaftOptions, resolveRaftOptions } from "./options.ts";
import type { RaftNode } from "./raftNode.ts";
import { RunningNode } from "./runningNode.ts";

export interface StartOptions<Result> {
  readonly nodeId: string;
  /** Every node of the cluster and its address, this one included. Only a first start needs all of them. */
  readonly peers: Readonly<Record<string, string>>;
  /**
   * The id of the cluster that this node, unborn, was added to: it waits for a member to tell it, and founds nothing.
   * `peers` then lists this node alone. Means nothing to a node that is born.
   */
  readonly joins?: string;
  /** Where this node says that it can be reached. */
  readonly address: string;
  /** Opened for `nodeId`; closed by the node. */
  readonly log: LogStore;
  /** Not started; closed by the node. */
  readonly transport: Transport;
  readonly machine: StateMachine<Result>;
  readonly clock: Clock;
  readonly random: Random;
  readonly options?: RaftOptions;
  readonly logger?: Logger;
  readonly observer?: CoreObserver;
}

/** Throws `INVALID_OPTIONS` or `WRONG_DIRECTORY`; everything later is told by the node. */
export function startNode<Result>(options: StartOptions<Result>): RaftNode<Result> {
  const resolved = resolveRaftOptions(options.options);
  const peers = resolvePeers(options);
  const { identity } = options.log;
  if (identity.nodeId !== options.nodeId) {
    throw new QuorateError(
      "WRONG_DIRECTORY",
      `The data directory belongs to node ${identity.nodeId}, not to ${options.nodeId}. ` +
        "Start each node with its own directory.",
    );
  }
  const node = new RunningNode<Result>({
    ...options,
    self: memberId(identity.nodeId, identity.incarnation),
    configuredPeers: peers,
    joins: options.joins,
    resolved,
    logger: options.logger ?? silentLogger,
    observer: options.observer ?? {},
  });
  node.start();
  return node;
}

function resolvePeers(options: {
  nodeId: string;
  peers: Readonly<Record<string, string>>;
}): readonly PeerAddress[] {
  const { nodeId, peers } = options;
  const names = Object.keys(peers).sort();
  for (const name of [nodeId, ...names]) {
    if (!isNodeId(name)) {
      throw new QuorateError(
        "INVALID_OPTIONS",
        `${JSON.stringify(name)} is no node id: use 1 to 63 letters, digits, - and _, ` +
          "beginning with a letter or digit.",
      );
    }
  }
  if (!names.includes(nodeId)) {
    throw new QuorateError(
      "INVALID_OPTIONS",
      `peers lists ${names.join(", ") || "nobody"}, but not this node, ${nodeId}. List every node, this one included.`,
    );
  }
  if (names.length > maxVoters) {
    throw new QuorateError(
      "INVALID_OPTIONS",
      `${names.length} nodes are listed, but at most ${maxVoters} can vote.`,
    );
  }
  return names.map((name) => ({ nodeId: name as NodeId, address: peers[name] as string }));
}
