/**
 * A recording, arranged for looking things up: the state of a node at any time, the sides of a partition, and all
 * events in their order for stepping. Made once, when the page opens.
 */
import {
  type IntervalKind,
  intervalKinds,
  type MessageColumn,
  messageKinds,
  type OperationColumn,
  type RunRecording,
  roles,
  type StateColumn,
  type Table,
} from "./recording.ts";

export const groups = ["append", "vote", "preVote", "read", "heartbeat"] as const;
export type MessageGroup = (typeof groups)[number];

/** What the cursor steps over. `row` points into the table of its kind. */
export interface RunEvent {
  readonly atMs: number;
  readonly kind:
    | "state"
    | "sent"
    | "arrived"
    | "asked"
    | "answered"
    | "began"
    | "ended"
    | "fault"
    | "violation";
  readonly row: number;
}

export interface Span {
  readonly row: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Cuts that began and ended together. */
export interface Partition {
  readonly startMs: number;
  readonly endMs: number;
  readonly words: string;
  /** By node: which side it is on; 0 is the largest, -1: the cut is one of directions only. */
  readonly sides: readonly number[];
  readonly touched: readonly boolean[];
}

/** What ails a node without taking it down. */
export interface Trouble extends Span {
  readonly words: string;
}

export class RunIndex {
  readonly recording: RunRecording;
  /** By node: rows of its states, by time. */
  readonly statesOf: readonly (readonly number[])[];
  readonly downs: readonly (readonly Span[])[];
  readonly pauses: readonly (readonly Span[])[];
  /** By node, ordered by their beginning. */
  readonly troubles: readonly (readonly Trouble[])[];
  readonly partitions: readonly Partition[];
  /** By operation: the line it is drawn in. */
  readonly operationLines: readonly number[];
  readonly lineCount: number;
  readonly longestFlightMs: number;
  readonly usualFlightMs: number;
  readonly events: readonly RunEvent[];
  /** Whether the state row changes more than indexes: a role, a term or a vote. */
  readonly isTurn: readonly boolean[];

  constructor(recording: RunRecording) {
    this.recording = recording;
    const rowsOf: number[][] = recording.nodes.map(() => []);
    recording.states.node.forEach((node, row) => {
      rowsOf[node]?.push(row);
    });
    this.statesOf = rowsOf;
    this.downs = recording.nodes.map((_, node) => spansOf(recording, "down", node));
    this.pauses = recording.nodes.map((_, node) => spansOf(recording, "paused", node));
    this.troubles = recording.nodes.map((_, node) => troublesOf(recording, node));
    this.partitions = partitionsOf(recording);
    const lines = linesOf(recording);
    this.operationLines = lines.lineOf;
    this.lineCount = lines.count;
    const flights = flightsOf(recording);
    this.longestFlightMs = flights[flights.length - 1] ?? 0;
    this.usualFlightMs = flights[flights.length >> 1] ?? 1;
    this.isTurn = turnsOf(recording.states, rowsOf);
    this.events = eventsOf(recording, this.isTurn);
  }

  /** The row that holds at `ms`; undefined while the node is down or nothing is known. */
  stateAt(node: number, ms: number): number | undefined {
    const rows = this.statesOf[node] ?? [];
    const { atMs } = this.recording.states;
    const row = rows[lastAtOrBefore(rows.length, (at) => atMs[rows[at] as number] as number, ms)];
    if (row === undefined) return undefined;
    const isGone = (this.downs[node] ?? []).some(
      (span) => span.startMs <= ms && span.startMs >= (atMs[row] as number) && atMs[row] !== ms,
    );
    return isGone ? undefined : row;
  }

  /** When the state that a node has from `fromMs` to `untilMs` really ends: its process may die before. */
  endsAt(node: number, fromMs: number, untilMs: number): number {
    const down = (this.downs[node] ?? []).find(({ startMs }) => startMs >= fromMs && startMs < untilMs);
    return down?.startMs ?? untilMs;
  }

  /** Why a node has no state at `ms`. */
  absence(node: number, ms: number): "down" | "not up" {
    return this.isDuring(this.downs[node], ms) ? "down" : "not up";
  }

  isDuring(spans: readonly Span[] | undefined, ms: number): boolean {
    return (spans ?? []).some((span) => span.startMs <= ms && ms < span.endMs);
  }

  state(row: number, column: StateColumn): number {
    return this.recording.states[column][row] as number;
  }

  message(row: number, column: MessageColumn): number {
    return this.recording.messages[column][row] as number;
  }

  operation(row: number, column: OperationColumn): number {
    return this.recording.operations[column][row] as number;
  }

  name(node: number): string {
    return this.recording.nodes[node] ?? "–";
  }

  roleAt(row: number): (typeof roles)[number] {
    return roles[this.state(row, "role")] ?? "follower";
  }

  groupOf(message: number): MessageGroup {
    return groupOfKind(this.message(message, "kind"));
  }
}

const troubleWords: Readonly<Record<Exclude<IntervalKind, "down" | "paused" | "cut">, string>> = {
  clogged: "clogged",
  noClients: "no clients",
  starved: "short of time",
  fullDisk: "disk full",
};

export function groupOfKind(kind: number): MessageGroup {
  const name = messageKinds[kind] ?? "heartbeat";
  if (name.startsWith("append")) return "append";
  if (name.startsWith("preVote")) return "preVote";
  if (name.startsWith("vote")) return "vote";
  return name.startsWith("read") ? "read" : "heartbeat";
}

/** The last place whose value is at most `wanted`, or -1. Values must be ascending. */
export function lastAtOrBefore(length: number, valueAt: (at: number) => number, wanted: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function spansOf({ intervals, endMs }: RunRecording, kind: IntervalKind, node: number): Span[] {
  const wanted = intervalKinds.indexOf(kind);
  return intervals.startMs.flatMap((startMs, row) => {
    if (intervals.kind[row] !== wanted || intervals.node[row] !== node) return [];
    const ended = intervals.endMs[row] as number;
    return [{ row, startMs, endMs: ended < 0 ? endMs : ended }];
  });
}

function troublesOf(recording: RunRecording, node: number): Trouble[] {
  const { intervals, nodes } = recording;
  const troubles = Object.entries(troubleWords).flatMap(([kind, words]) =>
    spansOf(recording, kind as IntervalKind, node).map((span) => {
      const other = nodes[intervals.other[span.row] as number];
      return { ...span, words: other === undefined ? words : `→ ${other} ${words}` };
    }),
  );
  return troubles.sort((one, another) => one.startMs - another.startMs);
}

function partitionsOf({ intervals, endMs, nodes }: RunRecording): Partition[] {
  const together = new Map<string, [from: number, to: number][]>();
  const cut = intervalKinds.indexOf("cut");
  intervals.startMs.forEach((startMs, row) => {
    if (intervals.kind[row] !== cut) return;
    const ended = intervals.endMs[row] as number;
    const key = `${startMs} ${ended < 0 ? endMs : ended}`;
    const cuts = together.get(key) ?? [];
    cuts.push([intervals.node[row] as number, intervals.other[row] as number]);
    together.set(key, cuts);
  });
  return [...together].map(([key, cuts]) => {
    const [startMs, until] = key.split(" ").map(Number) as [number, number];
    const sides = sidesOf(nodes.length, cuts);
    const touched = nodes.map((_, node) => cuts.some((pair) => pair.includes(node)));
    const isSplit = sides.some((side) => side > 0);
    const words = isSplit
      ? sideWords(nodes, sides)
      : cuts.map(([from, to]) => `${nodes[from]}↛${nodes[to]}`).join(" ");
    return { startMs, endMs: until, words, sides: isSplit ? sides : sides.map(() => -1), touched };
  });
}

/** Nodes that still speak both ways, directly or by others, are on one side; sides are numbered by size. */
function sidesOf(count: number, cuts: readonly (readonly [number, number])[]): number[] {
  const isCut = new Set(cuts.map(([from, to]) => from * count + to));
  const side = Array.from({ length: count }, (_, node) => node);
  for (let from = 0; from < count; from += 1) {
    for (let to = 0; to < count; to += 1) {
      if (isCut.has(from * count + to) || isCut.has(to * count + from)) continue;
      const [kept, gone] = [side[from], side[to]];
      side.forEach((one, node) => {
        if (one === gone) side[node] = kept as number;
      });
    }
  }
  const sizes = new Map<number, number>();
  for (const one of side) sizes.set(one, (sizes.get(one) ?? 0) + 1);
  const ranked = [...sizes].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  return side.map((one) => ranked.indexOf(one));
}

function sideWords(nodes: readonly string[], sides: readonly number[]): string {
  return [...new Set(sides)]
    .map((side) => nodes.filter((_, node) => sides[node] === side).join(" "))
    .join(" ∣ ");
}

/** Each operation goes to the first line that is free when it begins. */
function linesOf({ operations, endMs }: RunRecording): { readonly lineOf: number[]; readonly count: number } {
  const most = 9;
  const freeAt: number[] = [];
  const lineOf = operations.startMs.map((startMs, row) => {
    const ended = operations.endMs[row] as number;
    let line = freeAt.findIndex((free) => free <= startMs);
    if (line < 0) line = Math.min(freeAt.length, most);
    freeAt[line] = ended < 0 ? Math.min(endMs, startMs + 500) : ended;
    return line;
  });
  return { lineOf, count: freeAt.length };
}

function flightsOf({ messages }: RunRecording): number[] {
  return messages.sentMs
    .flatMap((sentMs, row) => {
      const arrivedMs = messages.arrivedMs[row] as number;
      return arrivedMs < 0 ? [] : [arrivedMs - sentMs];
    })
    .sort((one, other) => one - other);
}

function turnsOf(states: Table<StateColumn>, rowsOf: readonly (readonly number[])[]): boolean[] {
  const isTurn = states.atMs.map(() => true);
  for (const rows of rowsOf) {
    rows.forEach((row, at) => {
      const before = rows[at - 1];
      if (before === undefined) return;
      isTurn[row] = (["role", "term", "vote"] as const).some(
        (column) => states[column][row] !== states[column][before],
      );
    });
  }
  return isTurn;
}

/** Of what happens at one moment, causes come before what follows from them. */
const causes: readonly RunEvent["kind"][] = [
  "fault",
  "began",
  "ended",
  "asked",
  "arrived",
  "state",
  "sent",
  "answered",
  "violation",
];

function eventsOf(recording: RunRecording, isTurn: readonly boolean[]): RunEvent[] {
  const { states, messages, operations, intervals, faults, violations } = recording;
  const events: RunEvent[] = [];
  const add = (kind: RunEvent["kind"], atMs: number | undefined, row: number): void => {
    if (atMs !== undefined && atMs >= 0) events.push({ atMs, kind, row });
  };
  states.atMs.forEach((atMs, row) => {
    if (isTurn[row]) add("state", atMs, row);
  });
  messages.sentMs.forEach((atMs, row) => {
    add("sent", atMs, row);
    add("arrived", messages.arrivedMs[row], row);
  });
  operations.startMs.forEach((atMs, row) => {
    add("asked", atMs, row);
    add("answered", operations.endMs[row], row);
  });
  intervals.startMs.forEach((atMs, row) => {
    add("began", atMs, row);
    add("ended", intervals.endMs[row], row);
  });
  faults.forEach(({ atMs }, row) => {
    add("fault", atMs, row);
  });
  violations.forEach(({ atMs }, row) => {
    add("violation", atMs, row);
  });
  const rank = (event: RunEvent): number => causes.indexOf(event.kind);
  return events.sort((one, other) => one.atMs - other.atMs || rank(one) - rank(other));
}
