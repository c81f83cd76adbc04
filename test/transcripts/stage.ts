/**
 * The command language of the transcripts: one line in, the lines that follow from it out.
 *
 *   with-log a 1 1 4       entries of these terms are on a's disk (before add-nodes)
 *   with-floor c 5 2       c lost entries up to 5, of term 2 (before add-nodes)
 *   add-nodes 3 [inflight=2]     nodes a, b, c
 *   slow a b | quick a     whether writes wait for `persist a`
 *   set-timeout a 200      a's election timer ends in 200 ms
 *   campaign a             a's election timer ends now
 *   elect a | settle       the same, and only its votes / everything delivered, of which the end alone is shown
 *   forge c->b 9 5 8       b gets a request for votes of term 9 from c, whose log ends at 5 of term 8
 *   elapse 50 | tick a     time passes, timers that are due go off, nothing is delivered
 *   propose a text | read a
 *   deliver|drop|hold [first] [a->b] [kind]   what is under way now; `release` brings what was held back
 *   repeat a->b kind       the last such message, delivered or not, is under way (again)
 *   snapshot a | work      a took one of all that it has applied / runtimes store, read and install what is to be
 *   stabilize              deliver until nothing is under way
 *   isolate a | cut ab cde | heal
 *   crash a | restart a
 *   show state|log|disk|messages | show progress a
 */
import {
  asIndex,
  asTerm,
  type CoreOptions,
  type MemberId,
  type Message,
  type RaftState,
} from "@quorate/raft";
import {
  type Cluster,
  type ClusterOptions,
  crash,
  createCluster,
  deliver,
  entriesOf,
  type Flight,
  finishWrite,
  heal,
  type Node,
  nameOf,
  nodeOf,
  partition,
  propose,
  restart,
  turn,
} from "../core/cluster.ts";
import { type Runtime, takeSnapshot, withRuntime } from "../core/snapshotSteps.ts";
import { diskWords, effectsWords, entriesWords, messageWords, progressWords, stateWords } from "./words.ts";

export interface Stage {
  readonly disks: Record<string, NonNullable<NonNullable<ClusterOptions["disks"]>[string]>>;
  cluster: Cluster | undefined;
  lines: string[];
  held: Flight[];
  /** Everything that was ever sent, oldest first. */
  readonly sent: Flight[];
  readonly commits: Map<MemberId, number>;
  nextId: number;
  runtime: Runtime | undefined;
}

export function createStage(): Stage {
  return {
    disks: {},
    cluster: undefined,
    lines: [],
    held: [],
    sent: [],
    commits: new Map(),
    nextId: 1,
    runtime: undefined,
  };
}

type Command = (stage: Stage, cluster: Cluster, words: readonly string[]) => void;

/** Carries one command out and says what followed. */
export function perform(stage: Stage, line: string): readonly string[] {
  stage.lines = [];
  const [verb = "", ...words] = line.split(" ");
  if (verb === "with-log" || verb === "with-floor" || verb === "add-nodes") prepare(stage, verb, words);
  else {
    const command = commands[verb];
    if (command === undefined) throw new Error(`unknown command: ${line}`);
    if (stage.cluster === undefined) throw new Error(`add-nodes comes before: ${line}`);
    command(stage, stage.cluster, words);
  }
  return stage.lines.length === 0 ? ["ok"] : stage.lines;
}

function prepare(stage: Stage, verb: string, words: readonly string[]): void {
  const [name = "", ...rest] = words;
  const numbers = rest.map(Number);
  const disk = stage.disks[name] ?? {};
  if (verb === "with-log") stage.disks[name] = { ...disk, entries: entriesOf(numbers) };
  else if (verb === "with-floor") {
    const [lastIndex = 0, lastTerm = 0] = numbers;
    stage.disks[name] = { ...disk, floor: { lastIndex: asIndex(lastIndex), lastTerm: asTerm(lastTerm) } };
  } else addNodes(stage, Number(name), rest);
}

function addNodes(stage: Stage, count: number, settings: readonly string[]): void {
  const core: Partial<Record<keyof CoreOptions, number>> = {};
  for (const setting of settings) {
    const [name, value] = setting.split("=");
    if (name !== "inflight") throw new Error(`unknown setting ${setting}`);
    core.maxInflightAppends = Number(value);
  }
  const nodes = [..."abcdefg"].slice(0, count);
  const cluster = createCluster({
    nodes,
    disks: stage.disks,
    core: core as Partial<Omit<CoreOptions, "self">>,
  });
  stage.runtime = withRuntime(cluster);
  const toRuntime = cluster.observe;
  cluster.observe = (node) => {
    observe(stage, cluster, node);
    toRuntime?.(node);
  };
  stage.cluster = cluster;
  showState(stage, cluster);
}

function observe(stage: Stage, cluster: Cluster, node: Node): void {
  const name = nameOf(node.id);
  for (const { to, message } of node.effects.send) stage.sent.push({ from: node.id, to, message });
  const before = stage.commits.get(node.id) ?? 0;
  const isLost = (to: string, message: Message): boolean =>
    cluster.drop?.({ from: node.id, to: nodeOf(cluster, to).id, message }) === true;
  stage.lines.push(...effectsWords(name, node.effects, before, isLost).map((line) => `  ${line}`));
  stage.commits.set(node.id, node.effects.commitIndex);
}

function which(words: readonly string[]): (flight: Flight) => boolean {
  const link = words.find((word) => word.includes("->"))?.split("->");
  const kind = words.find((word) => !word.includes("->") && word !== "first");
  return ({ from, to, message }) =>
    (link === undefined || (link[0] === nameOf(from) && link[1] === nameOf(to))) &&
    (kind === undefined || kind === message.kind);
}

function flightWords({ from, to, message }: Flight): string {
  return `${nameOf(from)}→${nameOf(to)} ${messageWords(message)}`;
}

function takeFlights(cluster: Cluster, words: readonly string[]): Flight[] {
  const matches = which(words);
  const found = cluster.queue.filter(matches);
  const taken = words.includes("first") ? found.slice(0, 1) : found;
  cluster.queue = cluster.queue.filter((flight) => !taken.includes(flight));
  return taken;
}

function deliverFlight(stage: Stage, cluster: Cluster, flight: Flight): void {
  const isUp = nodeOf(cluster, nameOf(flight.to)).up;
  stage.lines.push(`${flightWords(flight)}${isUp ? "" : " (nobody there)"}`);
  deliver(cluster, flight);
}

function showState(stage: Stage, cluster: Cluster): void {
  for (const [name, { state, up }] of cluster.nodes) stage.lines.push(stateWords(name, state, up));
}

/** Terms of the entries, in the manner of the paper's figures. */
function rowOf({ log }: RaftState): string {
  const cells: number[] = [];
  for (const [at, { firstIndex, term }] of log.runs.entries()) {
    const end = log.runs[at + 1]?.firstIndex ?? log.lastIndex + 1;
    for (let index = firstIndex as number; index < end; index += 1) cells.push(term);
  }
  return cells.length === 0 ? "empty" : cells.join(" ");
}

function show(stage: Stage, cluster: Cluster, [what, name = ""]: readonly string[]): void {
  const { lines } = stage;
  if (what === "state") showState(stage, cluster);
  else if (what === "messages") lines.push(...cluster.queue.map(flightWords));
  else if (what === "progress") {
    const peers = nodeOf(cluster, name).state.leading?.peers.values() ?? [];
    for (const peer of peers) lines.push(progressWords(peer));
  } else if (what === "log") {
    for (const [node, { state }] of cluster.nodes) {
      lines.push(`${node} ${rowOf(state)}, commit ${state.commitIndex}`);
    }
  } else if (what === "disk") {
    for (const [node, { disk }] of cluster.nodes) lines.push(diskWords(node, disk));
  } else if (what === "applied") {
    for (const [node, { applied }] of cluster.nodes) lines.push(`${node} applied ${entriesWords(applied)}`);
  } else throw new Error(`cannot show ${what}`);
  if (lines.length === 0) lines.push("nothing");
}

function tick(cluster: Cluster, name: string): void {
  turn(cluster, name, { kind: "tick" });
}

/** Small steps, so that no node takes it for a pause of its own. */
function elapse(stage: Stage, cluster: Cluster, ms: number): void {
  const end = cluster.nowMs + ms;
  while (cluster.nowMs < end) {
    cluster.nowMs = Math.min(end, cluster.nowMs + 5);
    for (const [name, node] of cluster.nodes) {
      const isDue = node.up && node.effects.nextDeadlineMs <= cluster.nowMs;
      if (isDue) tick(cluster, name);
    }
  }
  if (stage.lines.length === 0) stage.lines.push("nothing happens");
}

/** Delivers what `matches`, and what follows of it, and shows only how it ended. */
function quietly(stage: Stage, cluster: Cluster, matches: (flight: Flight) => boolean): void {
  for (let count = 0; count < 1000; count += 1) {
    const at = cluster.queue.findIndex(matches);
    if (at < 0) break;
    const [flight] = cluster.queue.splice(at, 1);
    deliver(cluster, flight!);
  }
  stage.lines = [];
  showState(stage, cluster);
}

function startCampaign(cluster: Cluster, name: string): void {
  nodeOf(cluster, name).state.election.deadlineMs = cluster.nowMs;
  tick(cluster, name);
}

/** A request for votes by a node that does not ask for pre-votes, as the core never would. */
function forge(stage: Stage, cluster: Cluster, [link = "", ...numbers]: readonly string[]): void {
  const [from, to] = link.split("->").map((name) => nodeOf(cluster, name).id);
  const [term = 0, lastIndex = 0, lastTerm = 0] = numbers.map(Number);
  if (from === undefined || to === undefined) throw new Error(`from and to whom? ${link}`);
  const message = {
    kind: "voteRequest",
    term: asTerm(term),
    lastIndex: asIndex(lastIndex),
    lastTerm: asTerm(lastTerm),
    transfer: false,
  } as const;
  deliverFlight(stage, cluster, { from, to, message });
}

const commands: Readonly<Record<string, Command>> = {
  slow: (_, cluster, names) => {
    for (const name of names) cluster.slowDisks.add(name);
  },
  quick: (_, cluster, names) => {
    for (const name of names) {
      cluster.slowDisks.delete(name);
      if (nodeOf(cluster, name).writing !== undefined) finishWrite(cluster, name);
    }
  },
  persist: (_, cluster, [name = ""]) => {
    finishWrite(cluster, name);
  },
  "set-timeout": (_, cluster, [name = "", ms]) => {
    nodeOf(cluster, name).state.election.deadlineMs = cluster.nowMs + Number(ms);
    tick(cluster, name);
  },
  campaign: (_, cluster, [name = ""]) => startCampaign(cluster, name),
  elect: (stage, cluster, [name = ""]) => {
    startCampaign(cluster, name);
    quietly(stage, cluster, ({ message }) => message.kind.toLowerCase().includes("vote"));
  },
  settle: (stage, cluster) => quietly(stage, cluster, () => true),
  forge,
  tick: (_, cluster, [name = ""]) => tick(cluster, name),
  elapse: (stage, cluster, [ms]) => elapse(stage, cluster, Number(ms)),
  propose: (stage, cluster, [name = "", ...text]) => {
    propose(cluster, name, text.join(" "), stage.nextId);
    stage.nextId += 1;
  },
  read: (stage, cluster, [name = ""]) => {
    turn(cluster, name, { kind: "readRequested", id: stage.nextId });
    stage.nextId += 1;
  },
  deliver: (stage, cluster, words) => {
    const flights = takeFlights(cluster, words);
    if (flights.length === 0) throw new Error(`nothing to deliver: ${words.join(" ")}`);
    for (const flight of flights) deliverFlight(stage, cluster, flight);
  },
  drop: (stage, cluster, words) => {
    stage.lines.push(...takeFlights(cluster, words).map((flight) => `lost: ${flightWords(flight)}`));
  },
  hold: (stage, cluster, words) => {
    const flights = takeFlights(cluster, words);
    stage.held.push(...flights);
    stage.lines.push(...flights.map((flight) => `held: ${flightWords(flight)}`));
  },
  release: (stage, cluster) => {
    cluster.queue.push(...stage.held.splice(0));
    show(stage, cluster, ["messages"]);
  },
  repeat: (stage, cluster, words) => {
    const flight = stage.sent.findLast(which(words));
    if (flight === undefined) throw new Error(`never sent: ${words.join(" ")}`);
    cluster.queue.push(flight);
    stage.lines.push(`again: ${flightWords(flight)}`);
  },
  snapshot: (_, cluster, [name = ""]) => {
    takeSnapshot(cluster, name);
  },
  work: ({ runtime }) => {
    for (const work of runtime?.work.splice(0) ?? []) work();
  },
  stabilize: (stage, cluster) => {
    for (let count = 0; cluster.queue.length > 0; count += 1) {
      if (count === 1000) throw new Error("messages never end");
      deliverFlight(stage, cluster, cluster.queue.shift()!);
    }
    if (stage.lines.length === 0) stage.lines.push("nothing is under way");
  },
  isolate: (_, cluster, [name = ""]) =>
    partition(
      cluster,
      [...cluster.nodes.keys()].filter((other) => other !== name),
    ),
  cut: (_, cluster, groups) => partition(cluster, ...groups.map((group) => [...group])),
  heal: (_, cluster) => heal(cluster),
  crash: (_, cluster, [name = ""]) => crash(cluster, name),
  restart: (stage, cluster, [name = ""]) => {
    restart(cluster, name);
    const { state, up, id } = nodeOf(cluster, name);
    stage.commits.set(id, 0);
    stage.lines.push(stateWords(name, state, up));
  },
  show,
};
