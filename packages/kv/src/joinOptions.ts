/**
 * What join() may be told, resolved once into a full, frozen object. Unsafe and contradictory options are refused
 * here, before a directory is touched or a port is opened, with the numbers in the message.
 */
import { resolveClientOptions } from "@quorate/client/internal";
import {
  type Clock,
  isNodeId,
  type Logger,
  maxPriority,
  maxVoters,
  type Network,
  type NodeId,
  QuorateError,
  type RaftOptions,
  type Random,
} from "@quorate/raft";
import { checkListenAddress, type TlsOptions } from "@quorate/transport";
import { formatAddress, parseAddress } from "@quorate/transport/links";
import type { NodeOptions } from "./assembleNode.ts";
import { taken, takenWithin } from "./optionNames.ts";

export interface JoinOptions {
  /** This node's name, the same at every start: letters, digits, `-` and `_`. */
  readonly id: string;
  /**
   * Every node of the cluster and its address, this one included: 1 to 7. Left out: a cluster of this node alone.
   */
  readonly peers?: Readonly<Record<string, string>>;
  /**
   * Addresses of members of a running cluster, in place of `peers`: a node without a cluster asks them to take it in.
   * A node of the same id whose directory was wiped takes its own place. Later starts may give it too; it then means
   * nothing.
   */
  readonly via?: readonly string[];
  /** With `via`: stays a learner, which is sent everything and does not vote. */
  readonly learner?: boolean;
  /** Where to listen, for peers and clients. Default: this node's address in `peers`; without peers, nowhere. */
  readonly listen?: string;
  /** Where the node keeps its log. A node alone that has none keeps everything in memory. */
  readonly dataDir?: string;
  /** Keeps everything in memory: for tests. Such a node of several cannot come back after it was stopped. */
  readonly memory?: boolean;
  /** Shared by all nodes and clients, at least 16 characters: whoever does not know it is refused. */
  readonly secret?: string | undefined;
  readonly tls?: TlsOptions;
  /** Listen off the loopback with neither TLS nor a secret: anyone who reaches the port can read and write. */
  readonly insecure?: boolean;
  /** Silent by default; pino fits. */
  readonly logger?: Logger;
  /** Default 50. */
  readonly heartbeatMs?: number;
  /** Timeouts are drawn from [min, max). Default 150 to 300. */
  readonly electionTimeoutMs?: { readonly min: number; readonly max: number };
  /** 1 to 100, default 1: a leader hands over to a node of higher priority that is there and keeps up. */
  readonly priority?: number;
  /** A leader whose own disk takes longer for a write hands over to a node that keeps more. Default 2,000. */
  readonly diskStallMs?: number;
  /** When the state is saved and the log cut behind it. The defaults suit nearly everybody. */
  readonly snapshots?: SnapshotOptions;
  /** How long a request of this object is tried, retries included. Default 5,000. */
  readonly requestTimeoutMs?: number;
  /** How long the cluster remembers this process when it falls silent. Default 15,000; from 4 election timeouts. */
  readonly sessionTtlMs?: number;
  /** For tests, in place of WebSockets, the system's clock and its chance. */
  readonly network?: Network;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Each as the option of the same meaning in `RaftOptions` says. */
export interface SnapshotOptions {
  /** A snapshot is taken after so many entries. Default 100,000. */
  readonly everyEntries?: number | undefined;
  /** Or after so many bytes of them. Default 64 MiB. */
  readonly everyBytes?: number | undefined;
  /** Entries that stay in the log for slow followers. Default 10,000. */
  readonly keptEntries?: number | undefined;
  /** What sending a snapshot takes of a link at most. Default 64 MiB a second. */
  readonly maxBytesPerSecond?: number | undefined;
}

export interface ResolvedJoin {
  readonly node: NodeOptions;
  readonly nodeId: NodeId;
  /** Undefined: in memory. */
  readonly dataDir: string | undefined;
}

export function resolveJoinOptions(options: JoinOptions): ResolvedJoin {
  const { id, dataDir, memory = false } = taken("join", options);
  if (typeof id !== "string" || !isNodeId(id)) {
    throw invalid(
      `The id ${JSON.stringify(id)} is no node id: use 1 to 63 letters, digits, - and _, beginning with a letter or ` +
        "digit",
    );
  }
  const peers = resolvePeers(id, options.peers);
  const isAlone = peers === undefined || Object.keys(peers).length === 1;
  if (memory && dataDir !== undefined) {
    throw invalid(`memory and dataDir (${dataDir}) contradict each other: a node keeps its log in one place`);
  }
  if (!isAlone && !memory && dataDir === undefined) {
    throw invalid(
      `Node ${id} is one of ${Object.keys(peers ?? {}).length} and has no dataDir to keep its promises in. ` +
        "Give it one, or say memory: true in a test",
    );
  }
  const raft = resolveRaft(options);
  const via = resolveVia(options);
  const node: NodeOptions = {
    id,
    listen: resolveListen(id, options, peers),
    peers,
    raft,
    client: resolveClient(options, raft.electionTimeoutMaxMs),
    ...(via === undefined ? {} : { via }),
    pid: process.pid,
  };
  return Object.freeze({ node: Object.freeze(node), nodeId: id, dataDir });
}

function resolvePeers(
  id: string,
  given: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (given === undefined) return undefined;
  const names = Object.keys(given);
  if (!names.includes(id)) {
    throw invalid(`peers lists ${names.join(", ") || "nobody"}, but not this node, ${id}. List every node`);
  }
  if (names.length > maxVoters)
    throw invalid(`peers lists ${names.length} nodes; at most ${maxVoters} can vote`);
  const peers: Record<string, string> = {};
  for (const [name, address] of Object.entries(given)) {
    if (!isNodeId(name)) throw invalid(`peers lists ${JSON.stringify(name)}, which is no node id`);
    const parsed = parseAddress(address);
    if (parsed.port === 0 && names.length > 1) {
      throw invalid(`The address of ${name} in peers is ${address}: others cannot know which port 0 becomes`);
    }
    const twin = Object.entries(peers).find(([, other]) => other === formatAddress(parsed));
    if (twin !== undefined) throw invalid(`peers gives ${twin[0]} and ${name} the same address, ${address}`);
    peers[name] = formatAddress(parsed);
  }
  return Object.freeze(peers);
}

function resolveVia({ id, via, learner, peers, listen, dataDir, memory }: JoinOptions): NodeOptions["via"] {
  if (via === undefined) {
    if (learner) throw invalid("learner is for a node that joins a running cluster: say which with via");
    return undefined;
  }
  if (peers !== undefined) {
    throw invalid("peers founds a cluster and via joins one that runs: give one of them");
  }
  if (listen === undefined)
    throw invalid(`Node ${id} joins a cluster, whose members have to reach it: set listen`);
  if (parseAddress(listen).port === 0) {
    throw invalid(`listen is ${listen}, but a member has to be found at the same port again: name one`);
  }
  if (/^wss?:\/\/(0\.0\.0\.0|\[::\]):/.test(listen)) {
    throw invalid(`listen is ${listen}, which is no address for others: name the one that the members reach`);
  }
  if (dataDir === undefined && memory !== true) {
    throw invalid(`Node ${id} joins a cluster and has no dataDir to keep its promises in`);
  }
  const { endpoints } = resolveClientOptions({ endpoints: via });
  return Object.freeze({ endpoints, votes: learner !== true });
}

function resolveListen(
  id: string,
  options: JoinOptions,
  peers: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const listen = options.listen ?? peers?.[id];
  if (listen === undefined) return undefined;
  const { port } = parseAddress(listen);
  if (port === 0 && peers !== undefined) {
    throw invalid(
      `listen is ${listen}, but peers says ${peers[id]}: with peers, name the port. Port 0 is for a node alone`,
    );
  }
  const { tls, secret, insecure } = options;
  checkListenAddress(listen, {
    ...(tls === undefined ? {} : { tls }),
    ...(secret === undefined ? {} : { secret }),
    ...(insecure === undefined ? {} : { insecure }),
  });
  return listen;
}

function resolveRaft(options: JoinOptions): NodeOptions["raft"] {
  const { heartbeatMs = 50, electionTimeoutMs = { min: 150, max: 300 } } = options;
  const { min, max } = takenWithin("electionTimeoutMs", electionTimeoutMs);
  const { priority = 1, diskStallMs = 2_000 } = options;
  for (const [name, value] of Object.entries({
    heartbeatMs,
    "electionTimeoutMs.min": min,
    "electionTimeoutMs.max": max,
    priority,
    diskStallMs,
  })) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw invalid(`${name} is ${value}; it is a whole number from 1`);
  }
  if (min >= max) {
    throw invalid(
      `electionTimeoutMs.min (${min}) has to be below electionTimeoutMs.max (${max}): timeouts are drawn between the ` +
        "two, and equal ones make elections tie",
    );
  }
  if (heartbeatMs * 2 > min) {
    throw invalid(
      `heartbeatMs (${heartbeatMs}) has to be at most half of electionTimeoutMs.min (${min}): otherwise one late ` +
        "heartbeat deposes a healthy leader",
    );
  }
  if (priority > maxPriority) throw invalid(`priority is ${priority}, and goes from 1 to ${maxPriority}`);
  return Object.freeze({
    heartbeatMs,
    electionTimeoutMinMs: min,
    electionTimeoutMaxMs: max,
    priority,
    diskStallMs,
    ...resolveSnapshots(options.snapshots ?? {}),
  });
}

function resolveSnapshots(options: SnapshotOptions): RaftOptions {
  const names = {
    everyEntries: "snapshotEntries",
    everyBytes: "snapshotBytes",
    keptEntries: "compactionTailEntries",
    maxBytesPerSecond: "maxSnapshotBytesPerSecond",
  } as const satisfies Record<keyof SnapshotOptions, keyof RaftOptions>;
  const resolved: Partial<Record<keyof RaftOptions, number>> = {};
  for (const [name, value] of Object.entries(takenWithin("snapshots", options))) {
    if (value === undefined) continue;
    const least = name === "keptEntries" ? 0 : 1;
    if (!Number.isSafeInteger(value) || value < least) {
      throw invalid(`snapshots.${name} is ${value}; it is a whole number from ${least}`);
    }
    resolved[names[name as keyof SnapshotOptions]] = value;
  }
  return resolved;
}

function resolveClient(options: JoinOptions, electionTimeoutMaxMs: number): NodeOptions["client"] {
  const { requestTimeoutMs, sessionTtlMs } = options;
  const { endpoints: _, ...client } = resolveClientOptions({
    endpoints: ["ws://in-process:1"],
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(sessionTtlMs === undefined ? {} : { sessionTtlMs }),
  });
  const minTtlMs = 4 * electionTimeoutMaxMs;
  if (client.sessionTtlMs < minTtlMs) {
    throw invalid(
      `sessionTtlMs (${client.sessionTtlMs}) has to be at least four times electionTimeoutMs.max ` +
        `(${electionTimeoutMaxMs}), so ${minTtlMs}: a session has to outlive a change of leader`,
    );
  }
  return Object.freeze(client);
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_OPTIONS", `${sentence}.`);
}
