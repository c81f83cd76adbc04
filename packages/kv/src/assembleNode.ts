/**
 * A node put together from its ports: log, links to peers, the machine, the server for clients, and a client of its
 * own that reaches this node without a socket.
 *
 *     client ─ loopback ─┐                      ┌─ peers
 *                        ├─ server ─ RaftNode ──┤
 *     other clients ─────┘     machine          └─ log
 *
 * join() gives it real ports and a simulation its own: what is simulated is what ships. Knows no WebSocket, no disk.
 */
import type { Cluster } from "@quorate/client";
import { createCluster, type ResolvedClientOptions } from "@quorate/client/internal";
import type { CommandResult } from "@quorate/client/protocol";
import {
  type Answer,
  type Cancel,
  type Clock,
  type Hello,
  type Listener,
  type Logger,
  type LogStore,
  memberId,
  type Network,
  type NodeStatus,
  QuorateError,
  type RaftNode,
  type RaftOptions,
  type Random,
  type StartOptions,
  type StateMachine,
  type Succession,
  startNode,
  type TransferOptions,
  type Transport,
} from "@quorate/raft";
import { createTransport, memoryNetwork, peerRole } from "@quorate/transport/links";
import { taken } from "./optionNames.ts";
import { type ClientServer, createClientServer } from "./server/clientServer.ts";
import { createMachineHost, type MachineHost } from "./server/machineHost.ts";
import { commitIndexIn, OwnRemoval, type ToldMembership } from "./server/ownRemoval.ts";
import { defaultServerLimits, type ServerLimits } from "./server/serverLimits.ts";

export interface NodePorts {
  /** Opened for this node; closed with it, also where the assembly fails. */
  readonly log: LogStore;
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** See `ClusterPorts`. */
  readonly hold?: () => Cancel;
  readonly observer?: StartOptions<unknown>["observer"];
  /** For checkers, which look at what passes a port. */
  readonly wrap?: {
    machine(host: MachineHost): StateMachine<CommandResult>;
    transport(transport: Transport): Transport;
  };
}

export interface NodeOptions {
  readonly id: string;
  /** Where to listen, for peers and clients alike. Undefined: nobody connects from outside. */
  readonly listen: string | undefined;
  /** By node id. Undefined: a cluster of this node alone, at the address that it really listens at. */
  readonly peers: Readonly<Record<string, string>> | undefined;
  readonly raft: Required<
    Pick<RaftOptions, "heartbeatMs" | "electionTimeoutMinMs" | "electionTimeoutMaxMs">
  > &
    RaftOptions;
  readonly client: Omit<ResolvedClientOptions, "endpoints">;
  /**
   * A node that was removed closes by itself, unless this says that it stays: in simulations, whose operator takes such
   * a node in again with its directory. Raft allows that; clients can ask for it only before that directory was born.
   */
  readonly staysWhenRemoved?: boolean;
  /** A node without a cluster asks these members to take it in, before it starts. */
  readonly via?: { readonly endpoints: readonly string[]; readonly votes: boolean };
  readonly pid: number;
  /** Default: the newest that this release knows; a lower one holds the node back as if it were older. */
  readonly machineVersion?: number;
  readonly limits?: Partial<ServerLimits>;
}

/** The node that runs in this process. */
export interface NodeControl {
  readonly id: string;
  /** Where it says that it can be reached; the port is the real one. */
  readonly address: string;
  status(): NodeStatus;
  /** Hands leadership from this node to another one; see `RaftNode.transferLeadership`. */
  transferLeadership(options?: TransferOptions): Promise<Succession>;
  /** Resolves when it was closed; rejects with why when it had to stop by itself, `REMOVED` if it is no member now. */
  readonly closed: Promise<void>;
}

/** A cluster, seen from one of its nodes. `close` stops that node too. */
export interface NodeCluster extends Cluster {
  readonly node: NodeControl;
}

export interface AssembledNode extends NodeCluster {
  readonly raft: RaftNode<CommandResult>;
  readonly host: MachineHost;
  readonly server: ClientServer;
}

/** The address of a node that listens nowhere: only its own client uses it, over the loopback. */
const inProcessAddress = "ws://in-process:1";

export async function assembleNode(ports: NodePorts, options: NodeOptions): Promise<AssembledNode> {
  const door = new Door();
  let listener: Listener | undefined;
  try {
    if (options.listen !== undefined) {
      listener = await ports.network.listen(options.listen, (hello) => door.answer(hello));
    }
    const address = options.peers?.[options.id] ?? listener?.address ?? inProcessAddress;
    const loopback = memoryNetwork({ defer: (fn) => ports.clock.defer(fn) });
    const near = await loopback.listen(address, (hello) => door.answer(hello));
    const joins = await joinedCluster(ports, options, address);
    return assemble(ports, options, {
      joins,
      door,
      address,
      loopback,
      listeners: listener ? [near, listener] : [near],
    });
  } catch (error) {
    await listener?.close();
    await ports.log.close();
    throw error;
  }
}

/** How long a node asks to be taken in. */
const joinTimeoutMs = 30_000;

/** The cluster that took this node in; undefined for one that belongs to a cluster already, or founds one. */
async function joinedCluster(
  { network, clock, random, logger, log, hold }: NodePorts,
  { via, client }: NodeOptions,
  address: string,
): Promise<string | undefined> {
  if (via === undefined || log.standing.kind !== "unborn") return undefined;
  const ports = { network, clock, random, logger, ...(hold === undefined ? {} : { hold }) };
  const cluster = createCluster(ports, { ...client, session: false, endpoints: via.endpoints });
  const { nodeId, incarnation } = log.identity;
  const request = { member: memberId(nodeId, incarnation), endpoint: address, votes: via.votes };
  try {
    return (await cluster.requestJoin(request, { timeoutMs: joinTimeoutMs })).clusterId;
  } finally {
    await cluster.close();
  }
}

interface Entrance {
  readonly joins: string | undefined;
  readonly door: Door;
  readonly address: string;
  readonly loopback: Network;
  readonly listeners: readonly Listener[];
}

function assemble(ports: NodePorts, options: NodeOptions, entrance: Entrance): AssembledNode {
  const { clock, random, logger, network, log, observer, hold, wrap } = ports;
  const { door, address, loopback, joins } = entrance;
  const { id, raft: raftOptions } = options;
  const peers = options.peers ?? { [id]: address };
  const host = createMachineHost(options.machineVersion);
  const transport = createTransport({ network, clock, random, logger });
  const raft = startNode({
    nodeId: id,
    peers,
    ...(joins === undefined ? {} : { joins }),
    address,
    log,
    transport: wrap?.transport(transport) ?? transport,
    machine: wrap?.machine(host) ?? host.machine,
    clock,
    random,
    options: raftOptions,
    logger,
    ...(observer === undefined ? {} : { observer }),
  });
  const server = createClientServer(
    { node: raft, host, clock, logger },
    {
      pid: options.pid,
      address,
      configuredPeers: peers,
      ...raftOptions,
      limits: { ...defaultServerLimits, ...options.limits },
    },
  );
  door.open((hello) => (hello.role === peerRole ? transport.accept(hello) : server.accept(hello)));
  const client = createCluster(
    {
      network: shortcut(address, loopback, network),
      clock,
      random,
      logger,
      ...(hold === undefined ? {} : { hold }),
    },
    {
      ...options.client,
      endpoints: endpointsOf(address, [...Object.values(peers), ...(options.via?.endpoints ?? [])]),
      preferredEndpoint: address,
    },
  );
  const removal = (removed: (error: QuorateError) => void): OwnRemoval | undefined => {
    if (options.staysWhenRemoved === true) return undefined;
    const known = endpointsOf(address, [...Object.values(peers), ...(options.via?.endpoints ?? [])]).slice(1);
    return new OwnRemoval({
      node: raft,
      clock,
      logger,
      lookEveryMs: looksForLeader * raftOptions.electionTimeoutMaxMs,
      graceMs: raftOptions.electionTimeoutMaxMs,
      ask: (endpoints, signal) =>
        askMembers(ports, { ...options.client, endpoints: [...new Set([...known, ...endpoints])] }, signal),
      removed,
    });
  };
  return handle({ id, address, raft, host, server, client, removal, listeners: entrance.listeners });
}

/** In election timeouts: after which a node without a leader looks again. */
const looksForLeader = 10;

async function askMembers(
  { network, clock, random, logger }: NodePorts,
  client: ResolvedClientOptions,
  signal: AbortSignal,
): Promise<ToldMembership> {
  const cluster = createCluster({ network, clock, random, logger }, { ...client, session: false });
  try {
    const { nodes } = await cluster.status({ signal });
    const list = await cluster.members.list({ signal });
    return { list, commitIndex: commitIndexIn(list, nodes) };
  } finally {
    await cluster.close();
  }
}

/** Its own node first: over the loopback. */
function endpointsOf(address: string, others: readonly string[]): readonly string[] {
  return [...new Set([address, ...others])];
}

/** This node's own address needs no socket. */
function shortcut(address: string, loopback: Network, network: Network): Network {
  return {
    dial: (to, hello, options) => (to === address ? loopback : network).dial(to, hello, options),
    listen: (at, accept) => network.listen(at, accept),
  };
}

interface Parts {
  readonly id: string;
  readonly address: string;
  readonly raft: RaftNode<CommandResult>;
  readonly host: MachineHost;
  readonly server: ClientServer;
  readonly client: ReturnType<typeof createCluster>;
  readonly removal: (removed: (error: QuorateError) => void) => OwnRemoval | undefined;
  readonly listeners: readonly Listener[];
}

function handle(parts: Parts): AssembledNode {
  const { raft, host, server, client, listeners } = parts;
  let closing: Promise<void> | undefined;
  let removed: QuorateError | undefined;
  const removal = parts.removal((error) => {
    removed = error;
    void close(hadToStop(error.message));
  });

  /**
   * The office first, while the node can still tell its clients who has it now; then the client, while the node still
   * serves it; then the door, so that others ask other nodes at once.
   */
  async function end(reason: string): Promise<void> {
    removal?.stop();
    await raft.retire();
    await server.answered();
    await client.stop(reason);
    server.close("this node is closing");
    await raft.close();
    await Promise.all(listeners.map((listener) => listener.close()));
  }
  const close = (reason: string): Promise<void> => {
    closing ??= end(reason);
    return closing;
  };

  const closed = raft.closed.then(
    async () => {
      await close("The node was closed.");
      if (removed !== undefined) throw removed;
    },
    async (error: unknown) => {
      server.close("this node had to stop");
      await close(hadToStop(error instanceof QuorateError ? error.message : String(error)));
      throw error;
    },
  );
  // Whoever cares awaits `closed`; for whoever does not, a stopped node is no unhandled rejection.
  closed.catch(() => {});

  const assembled: AssembledNode = {
    kv: client.kv,
    lease: client.lease,
    election: (name, options) => client.election(name, options),
    lock: client.lock,
    using: (names, ms, work, options) => client.using(names, ms, work, options),
    once: (key, work, options) => client.once(key, work, options),
    members: client.members,
    sessions: client.sessions,
    clock: client.clock,
    status: (options) => client.status(options),
    metrics: () => client.metrics(),
    health: (options) => client.health(options),
    snapshot: (options) => client.snapshot(options),
    transferLeadership: (options) => client.transferLeadership(options),
    node: nodeControl(parts, closed),
    raft,
    host,
    server,
    close: () => close("This cluster object was closed."),
    [Symbol.asyncDispose]: () => assembled.close(),
  };
  return assembled;
}

function nodeControl({ id, address, raft }: Parts, closed: Promise<void>): NodeControl {
  return {
    id,
    address,
    status: () => raft.status(),
    transferLeadership: async (options) => raft.transferLeadership(taken("node.transferLeadership", options)),
    closed,
  };
}

function hadToStop(why: string): string {
  return `The node of this process had to stop: ${why}`;
}

/** Listening begins before there is anybody to answer: until then, callers are told to come again. */
class Door {
  #answer: (hello: Hello) => Answer = () => ({
    kind: "refuse",
    code: "STARTING",
    reason: "This node is starting: try again in a moment.",
  });

  open(answer: (hello: Hello) => Answer): void {
    this.#answer = answer;
  }

  answer(hello: Hello): Answer {
    return this.#answer(hello);
  }
}
