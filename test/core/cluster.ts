/**
 * Cores in memory, for tests that want every step in their own hands: a queue of messages, disks that finish
 * a write only when told to, and one clock.
 *
 * What is checked by itself: every message leaves only after what backs it is on its sender's disk. Nothing
 * here waits, and nothing is decided by chance.
 */
import {
  asIndex,
  asTerm,
  type Configuration,
  type ConfigurationAt,
  type CoreOptions,
  cachedEntries,
  createState,
  decodeConfiguration,
  type Effects,
  type Entry,
  type Envelope,
  type Event,
  type Load,
  type MemberId,
  type Message,
  memberId,
  type NodeId,
  type Persist,
  type ProposalOutcome,
  type RaftState,
  type ReadOutcome,
  type RestoredState,
  step,
  type Term,
  type TermRun,
  type TransferOutcome,
  takeEffects,
  votersOnly,
} from "@quorate/raft";
import { expect } from "vitest";

export interface Disk {
  term: Term;
  vote: MemberId | undefined;
  floor: RestoredState["floor"];
  entries: Entry[];
  boot: number;
}

export interface Node {
  readonly id: MemberId;
  state: RaftState;
  disk: Disk;
  /** The write that was started and is not finished. */
  writing: Persist | undefined;
  /** Not answered yet. */
  loads: Load[];
  applied: Entry[];
  proposals: ProposalOutcome[];
  reads: ReadOutcome[];
  transfers: TransferOutcome[];
  effects: Effects;
  up: boolean;
}

export interface Flight extends Envelope {
  readonly from: MemberId;
}

export interface ClusterOptions {
  readonly nodes: readonly string[];
  readonly core?: Partial<Omit<CoreOptions, "self">>;
  /** Writes finish at once; switched per node by `slowDisks`. */
  readonly disks?: Partial<Record<string, Partial<Disk>>>;
}

export interface Cluster {
  nowMs: number;
  readonly nodes: Map<string, Node>;
  /** Sent and not yet delivered, oldest first. */
  queue: Flight[];
  /** Names whose writes wait for `finishWrite`. */
  readonly slowDisks: Set<string>;
  /** True leaves loads in `Node.loads` for the test to answer. */
  slowLoads: boolean;
  /** Undefined drops nothing; otherwise true drops. */
  drop: ((flight: Flight) => boolean) | undefined;
  /** Called after every turn, before its effects are carried out. */
  observe: ((node: Node) => void) | undefined;
  readonly options: ClusterOptions;
}

export const defaults: Omit<CoreOptions, "self"> = {
  heartbeatMs: 50,
  electionTimeoutMinMs: 150,
  electionTimeoutMaxMs: 300,
  maxInflightAppends: 8,
  maxInflightBytes: 1 << 20,
  maxAppendBytes: 1 << 16,
  maxUncommittedEntries: 1000,
  maxUncommittedBytes: 1 << 20,
  maxPendingReads: 100,
  maxCachedBytes: 1 << 20,
  snapshotChunkBytes: 1_024,
  maxSnapshotBytesPerSecond: 1_048_576,
  compactionTailEntries: 0,
  compactionTailBytes: 0,
  diskStallMs: 2_000,
  seed: 1,
};

export function idOf(name: string): MemberId {
  return memberId(name as NodeId, "0123456789abcdef");
}

export function nameOf(id: MemberId): string {
  return id.slice(0, id.indexOf("."));
}

export function configurationFor(names: readonly string[]): Configuration {
  return votersOnly(names.map((name) => ({ id: idOf(name), address: `ws://${name}:1` })));
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Entries with these terms, from index 1 on: the row of a figure. */
export function entriesOf(terms: readonly number[]): Entry[] {
  return terms.map((term, at) => ({
    term: asTerm(term),
    index: asIndex(at + 1),
    kind: "command" as const,
    data: bytes(`${term}:${at + 1}`),
  }));
}

function restoredFrom(disk: Disk, configuration: Configuration): RestoredState {
  const termRuns: TermRun[] = [];
  for (const { term, index } of disk.entries) {
    if (termRuns.at(-1)?.term !== term) termRuns.push({ firstIndex: index, term });
  }
  const changes: ConfigurationAt[] = [];
  for (const { kind, index, data } of disk.entries) {
    const changed = kind === "configuration" ? decodeConfiguration(data) : undefined;
    if (changed !== undefined) changes.push({ index, configuration: changed });
  }
  return {
    term: disk.term,
    vote: disk.vote,
    floor: disk.floor,
    boundary: { index: asIndex(0), term: asTerm(0) },
    snapshot: undefined,
    lastIndex: asIndex(disk.entries.length),
    termRuns,
    configurations: [{ index: asIndex(0), configuration }, ...changes],
    boot: disk.boot,
  };
}

export function createCluster(options: ClusterOptions): Cluster {
  const cluster: Cluster = {
    nowMs: 1000,
    nodes: new Map(),
    queue: [],
    slowDisks: new Set(),
    slowLoads: false,
    drop: undefined,
    observe: undefined,
    options,
  };
  for (const name of options.nodes) {
    const disk: Disk = {
      term: asTerm(0),
      vote: undefined,
      floor: undefined,
      entries: [],
      boot: 1,
      ...options.disks?.[name],
    };
    disk.entries = [...disk.entries];
    if (disk.term === 0) disk.term = disk.entries.at(-1)?.term ?? asTerm(0);
    boot(cluster, name, disk);
  }
  return cluster;
}

/** Starts a node that no configuration names yet: an empty disk with the birth of the cluster. */
export function addNode(cluster: Cluster, name: string): void {
  boot(cluster, name, { term: asTerm(0), vote: undefined, floor: undefined, entries: [], boot: 1 });
}

function boot(cluster: Cluster, name: string, disk: Disk): void {
  const seed = [...cluster.options.nodes].indexOf(name) + 1;
  const core: CoreOptions = { ...defaults, seed, ...cluster.options.core, self: idOf(name) };
  const state = createState(core, restoredFrom(disk, configurationFor(cluster.options.nodes)), cluster.nowMs);
  const node: Node = {
    id: idOf(name),
    state,
    disk,
    writing: undefined,
    loads: [],
    applied: [],
    proposals: [],
    reads: [],
    transfers: [],
    effects: takeEffects(state),
    up: true,
  };
  cluster.nodes.set(name, node);
  if (node.effects.persist !== undefined) startWrite(cluster, node, node.effects.persist);
}

export function nodeOf(cluster: Cluster, name: string): Node {
  const node = cluster.nodes.get(name);
  if (node === undefined) throw new Error(`no node ${name}`);
  return node;
}

/** Steps a node with all `events` of one turn and carries its effects out. */
export function turn(cluster: Cluster, name: string, ...events: Event[]): Effects {
  const node = nodeOf(cluster, name);
  for (const event of events) step(node.state, event, cluster.nowMs);
  const effects = takeEffects(node.state);
  node.effects = effects;
  cluster.observe?.(node);
  for (const { to, message } of effects.send) {
    checkBacked(node, message);
    const flight: Flight = { from: node.id, to, message };
    if (cluster.drop?.(flight) !== true) cluster.queue.push(flight);
  }
  node.proposals.push(...effects.proposals);
  node.reads.push(...effects.reads);
  node.transfers.push(...effects.transfers);
  node.loads.push(...effects.loads);
  if (effects.persist !== undefined) startWrite(cluster, node, effects.persist);
  applyCommitted(cluster, node);
  if (!cluster.slowLoads) for (const load of node.loads.splice(0)) answerLoad(cluster, name, load);
  return effects;
}

/** Reads what the log store holds of it: all, or no more than `most` entries. */
export function answerLoad(
  cluster: Cluster,
  name: string,
  load: Load,
  most = Number.POSITIVE_INFINITY,
): Effects {
  const entries = nodeOf(cluster, name).disk.entries.slice(
    load.from - 1,
    Math.min(load.to, load.from - 1 + most),
  );
  return turn(cluster, name, { kind: "loaded", load, entries });
}

function startWrite(cluster: Cluster, node: Node, persist: Persist): void {
  if (node.writing !== undefined) expect.fail("one write at a time");
  node.writing = persist;
  if (!cluster.slowDisks.has(nameOf(node.id))) finishWrite(cluster, nameOf(node.id));
}

/** The disk finishes the write under way, and the node hears of it. */
export function finishWrite(cluster: Cluster, name: string): Effects {
  const node = nodeOf(cluster, name);
  const persist = node.writing;
  if (persist === undefined) throw new Error(`${name} has no write under way`);
  node.writing = undefined;
  writeTo(node.disk, persist);
  return turn(cluster, name, { kind: "persisted", sequence: persist.sequence });
}

export function writeTo(disk: Disk, persist: Persist): void {
  disk.term = persist.term;
  disk.vote = persist.vote;
  disk.floor = persist.floor;
  if (persist.truncateFrom !== undefined) disk.entries.length = persist.truncateFrom - 1;
  for (const entry of persist.entries) {
    if (entry.index !== disk.entries.length + 1) expect.fail(`entry ${entry.index} leaves a gap`);
    disk.entries.push(entry);
  }
}

/** Rule by rule what must be on the disk of a sender before the message may leave it. */
export function checkBacked(node: Node, message: Message): void {
  const { disk, state } = node;
  if (message.kind === "preVoteRequest" || (message.kind === "preVoteResponse" && message.granted)) return;
  if (message.kind === "voteRequest") {
    // It asks in a term that its disk may not know yet; the log that it is judged by is there.
    const last = disk.entries[message.lastIndex - 1];
    const held = message.lastIndex === state.log.boundary.index ? state.log.boundary.term : last?.term;
    expect(held, "the log behind a request for votes, on disk").toBe(message.lastTerm);
    if (disk.term === message.term) expect([undefined, node.id]).toContain(disk.vote);
    return;
  }
  if (disk.term < message.term) expect.fail(`${message.kind} of term ${message.term} before it is durable`);
  if (message.kind === "voteResponse" && message.granted && disk.term === message.term) {
    expect(disk.vote, `vote behind ${message.kind} on disk`).toBeDefined();
  }
  if (message.kind === "appendResponse" && message.result.kind === "matched") {
    const { matchIndex } = message.result;
    if (disk.entries.length < matchIndex) expect.fail(`ack of ${matchIndex} before it is durable`);
    const cached = cachedEntries(state, matchIndex, matchIndex, 1)?.[0];
    const term = disk.entries[matchIndex - 1]?.term;
    if (cached !== undefined && term !== cached.term)
      expect.fail(`ack of ${matchIndex}, overwritten on disk`);
  }
}

function applyCommitted(cluster: Cluster, node: Node): void {
  const from = node.applied.length + 1;
  const to = node.effects.commitIndex;
  if (from > to) return;
  for (let index = from; index <= to; index += 1) {
    const at = asIndex(index);
    const entry = cachedEntries(node.state, at, at, 1)?.[0] ?? node.disk.entries[index - 1];
    if (entry?.index !== index) throw new Error(`entry ${index} of ${node.id} is nowhere`);
    node.applied.push(entry);
  }
  turn(cluster, nameOf(node.id), { kind: "applied", upTo: asIndex(to) });
}

export function deliver(cluster: Cluster, flight: Flight): void {
  const node = nodeOf(cluster, nameOf(flight.to));
  if (node.up)
    turn(cluster, nameOf(flight.to), { kind: "received", from: flight.from, message: flight.message });
}

/** Delivers what is under way, and what follows from it, until all is quiet. */
export function settle(cluster: Cluster, limit = 10_000): void {
  for (let count = 0; cluster.queue.length > 0; count += 1) {
    if (count === limit) throw new Error("messages never end");
    deliver(cluster, cluster.queue.shift()!);
  }
}

/** Lets time pass in steps, ticking and delivering, so that no node seems paused. */
export function advance(cluster: Cluster, ms: number, stepMs = 5): void {
  const end = cluster.nowMs + ms;
  while (cluster.nowMs < end) {
    cluster.nowMs = Math.min(end, cluster.nowMs + stepMs);
    for (const [name, node] of cluster.nodes) {
      if (node.up && node.effects.nextDeadlineMs <= cluster.nowMs) turn(cluster, name, { kind: "tick" });
    }
    settle(cluster);
  }
}

/** Makes `name` time out now, with everybody else silent, and delivers what follows. */
export function campaign(cluster: Cluster, name: string): void {
  timeOut(cluster, name);
  settle(cluster);
}

/** Moves the clock in small steps to the election timeout of `name` and ticks it alone. */
export function timeOut(cluster: Cluster, name: string): void {
  const node = nodeOf(cluster, name);
  const { role } = node.state;
  for (let guard = 0; guard < 1000; guard += 1) {
    cluster.nowMs = Math.min(node.state.election.deadlineMs, cluster.nowMs + 50);
    const isDue = cluster.nowMs >= node.state.election.deadlineMs;
    turn(cluster, name, { kind: "tick" });
    if (isDue || node.state.role !== role) return;
  }
}

export function propose(cluster: Cluster, name: string, text: string, id = 0): Effects {
  return turn(cluster, name, { kind: "proposed", id, entry: "command", data: bytes(text) });
}

/** Asks `name` to hand leadership to `target`, or to whom it likes. */
export function transfer(cluster: Cluster, name: string, target?: string, id = 1): Effects {
  const to = target === undefined ? undefined : idOf(target);
  return turn(cluster, name, { kind: "transferRequested", id, target: to });
}

/** The process dies: what was not written is gone, or all of the write under way is there. */
export function crash(cluster: Cluster, name: string, writeMadeIt = false): void {
  const node = nodeOf(cluster, name);
  if (writeMadeIt && node.writing !== undefined) writeTo(node.disk, node.writing);
  node.writing = undefined;
  node.up = false;
}

export function restart(cluster: Cluster, name: string): void {
  const { disk } = nodeOf(cluster, name);
  boot(cluster, name, { ...disk, boot: disk.boot + 1, entries: [...disk.entries] });
}

/** Cuts every link between the groups; a name in no group hears nobody. */
export function partition(cluster: Cluster, ...groups: readonly string[][]): void {
  cluster.drop = ({ from, to }) =>
    !groups.some((group) => group.includes(nameOf(from)) && group.includes(nameOf(to)));
}

export function heal(cluster: Cluster): void {
  cluster.drop = undefined;
}

/** Hands `message` to one node as if `from` had sent it. */
export function receive(cluster: Cluster, to: string, from: string, message: Message): Effects {
  return turn(cluster, to, { kind: "received", from: idOf(from), message });
}
