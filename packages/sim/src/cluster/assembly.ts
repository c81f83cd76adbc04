/**
 * What runs in a node's process: the shipped runtime, log store and links over simulated ports, with the whole store
 * on top (`storeAssembly`), with nothing but a list of serials (`raftAssembly`) or with a machine of the user's
 * (`machineAssembly`).
 *
 * The log store and the machine are looked at by the checks on their way; nothing else is put between.
 */
import { type AssembledNode, assembleNode } from "@quorate/kv/internal";
import { hashState } from "@quorate/kv/machine";
import {
  type Logger,
  type LogStore,
  memberId,
  type Network,
  type RaftNode,
  type RaftOptions,
  type Random,
  type StateMachine,
  startNode,
} from "@quorate/raft";
import { openLog } from "@quorate/storage/internal";
import { createTransport } from "@quorate/transport/links";
import { openDirectory } from "../disk/stores.ts";
import type { JoinPlan } from "../faults/faultyCluster.ts";
import type { MemberHistory } from "../invariants/history.ts";
import type { Replica, Replicas } from "../machine/replicas.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { admit } from "./admission.ts";
import type { SimulatedCluster, SimulatedHost } from "./cluster.ts";
import { type Listed, type ListMachine, listMachine } from "./listMachine.ts";

export interface RunningNode {
  /** As the node's own `closed`. */
  readonly closed: Promise<void>;
  readonly raft: RaftNode<unknown>;
  /** Equal on nodes whose machines are equal. */
  digest(): string;
  close(): Promise<void>;
  /** Set by `raftAssembly`, `machineAssembly` and `storeAssembly`, respectively. */
  readonly list?: { readonly raft: RaftNode<Listed>; readonly machine: ListMachine };
  readonly replica?: Replica;
  readonly store?: AssembledNode;
}

export interface Assembly {
  start(cluster: SimulatedCluster, host: SimulatedHost, process: SimulatedProcess): Promise<RunningNode>;
}

interface Ports {
  readonly log: LogStore;
  readonly member: MemberHistory;
  readonly network: Network;
  readonly random: Random;
  readonly logger: Logger;
}

/** Where the node is told how to come in, and has no cluster yet: what it takes to be taken in. */
function joinOf(
  cluster: SimulatedCluster,
  host: SimulatedHost,
  process: SimulatedProcess,
  { log }: Ports,
): Promise<string> | undefined {
  if (host.joins === undefined || log.standing.kind !== "unborn") return undefined;
  const { nodeId, incarnation } = log.identity;
  const member = { id: memberId(nodeId, incarnation), address: host.address };
  return admit(cluster, process, member, host.joins);
}

async function openPorts(
  cluster: SimulatedCluster,
  host: SimulatedHost,
  process: SimulatedProcess,
): Promise<Ports> {
  const { world, checks } = cluster;
  const random = world.chance(`node ${host.name} start ${host.starts}`);
  const logger = traceLogger(world, host.name);
  const disk = {
    timeline: world.timeline,
    trace: world.trace,
    chance: world.chance(`disk ${host.name} start ${host.starts}`),
  };
  const stores = openDirectory(disk, process, host.directory, host.temper);
  const log = await openLog({ ...stores, nodeId: host.name, random, logger });
  const member = cluster.opened(host, log);
  return {
    log: checks.log(log, member),
    member,
    network: world.network.portOf(process, host.name),
    random,
    logger,
  };
}

/** A node with nothing above Raft but this machine. */
async function startBare<Result>(
  cluster: SimulatedCluster,
  host: SimulatedHost,
  process: SimulatedProcess,
  options: RaftOptions,
  wrapped: (member: MemberHistory) => StateMachine<Result>,
): Promise<{ raft: RaftNode<Result>; closed: Promise<void>; close: () => Promise<void> }> {
  const ports = await openPorts(cluster, host, process);
  const { log, member, network, random, logger } = ports;
  const joins = await joinOf(cluster, host, process, ports);
  const { clock } = process;
  const transport = createTransport({ network, clock, random, logger });
  const raft = startNode<Result>({
    nodeId: host.name,
    peers: cluster.peersOf(host),
    ...(joins === undefined ? {} : { joins }),
    address: host.address,
    log,
    transport: cluster.checks.transport(transport, member),
    machine: wrapped(member),
    clock,
    random,
    options: { ...options, ...host.timeouts },
    logger,
    observer: cluster.checks.observer(host.name, member),
  });
  const listener = await network.listen(host.address, (hello) =>
    hello.role === "peer"
      ? transport.accept(hello)
      : { kind: "refuse", code: "ROLE", reason: "Only peers are spoken to here." },
  );
  return {
    raft,
    closed: raft.closed,
    async close() {
      await raft.close();
      await listener.close();
    },
  };
}

export function raftAssembly(options: RaftOptions): Assembly {
  return {
    async start(cluster, host, process) {
      const machine = listMachine();
      const bare = await startBare(cluster, host, process, options, (member) =>
        cluster.checks.machine(machine, member, machine.digest),
      );
      return { ...bare, list: { raft: bare.raft, machine }, digest: machine.digest };
    },
  };
}

export function machineAssembly(options: RaftOptions, replicas: Replicas): Assembly {
  return {
    async start(cluster, host, process) {
      const replica = replicas.start(host.name, host.starts, host.directory.isEmpty);
      const bare = await startBare(cluster, host, process, options, (member) => {
        const checked = cluster.checks.machine(replica, member, () => replica.digest());
        return {
          apply(entry): unknown {
            checked.apply(entry);
            return replica.result;
          },
        };
      });
      return { ...bare, replica, digest: () => replica.digest() };
    },
  };
}

/** `staysWhenRemoved`: for an operator who takes removed members in again, as Raft alone allows it. */
export function storeAssembly(
  options: RaftOptions,
  { staysWhenRemoved }: { readonly staysWhenRemoved: boolean },
): Assembly {
  return {
    async start(cluster, host, process) {
      const opened = await openPorts(cluster, host, process);
      const { member, ...ports } = opened;
      const { checks } = cluster;
      // The node itself asks to be taken in, but not in the place of another.
      if (host.joins?.replaces !== undefined) await joinOf(cluster, host, process, opened);
      const store = await assembleNode(
        {
          ...ports,
          clock: process.clock,
          observer: checks.observer(host.name, member),
          wrap: {
            machine: ({ machine, store }) => checks.machine(machine, member, () => hashState(store), store),
            transport: (transport) => checks.transport(transport, member),
          },
        },
        {
          id: host.name,
          listen: host.address,
          peers: host.joins === undefined ? cluster.peersOf(host) : undefined,
          ...(host.joins === undefined ? {} : { via: viaOf(cluster, host, host.joins) }),
          raft: {
            heartbeatMs: 50,
            electionTimeoutMinMs: 150,
            electionTimeoutMaxMs: 300,
            ...options,
            ...host.timeouts,
          },
          client: { requestTimeoutMs: 2_000, sessionTtlMs: 5_000, session: true },
          pid: host.starts,
          staysWhenRemoved,
        },
      );
      return {
        raft: store.raft,
        store,
        closed: store.node.closed,
        digest: () => hashState(store.host.store),
        close: () => store.close(),
      };
    },
  };
}

function viaOf(
  { hosts }: SimulatedCluster,
  host: SimulatedHost,
  { votes }: JoinPlan,
): { readonly endpoints: readonly string[]; readonly votes: boolean } {
  return { endpoints: hosts.filter((other) => other !== host).map(({ address }) => address), votes };
}

/** What a process says, as lines of the trace. */
export function traceLogger(world: World, name: string): Logger {
  const note = (_fields: Readonly<Record<string, unknown>>, message: string): void => {
    world.trace.note(name, `“${message}”`);
  };
  return { debug: () => {}, info: note, warn: note, error: note };
}
