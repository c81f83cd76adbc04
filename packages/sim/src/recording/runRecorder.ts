/**
 * Records a run while it happens, as the plain data that a page is made of.
 *
 *   const recorder = new RunRecorder();
 *   await simulate({ seed, nodes, recorder });
 *   await writeFile("run.html", renderPage(recorder.recording()));
 *
 * It looks and never acts: the trace hash of a recorded run is that of the run. Bounded: past `maxEvents` the older
 * half is forgotten, since a violation is at the end, and the recording says so.
 */
import type { Event, PeerMessage, RaftState } from "@quorate/raft";
import { describeFault } from "../faults/describeFault.ts";
import { describeMessage } from "../invariants/words.ts";
import {
  type IntervalKind,
  intervalColumns,
  intervalKinds,
  messageColumns,
  messageKinds,
  type OperationKind,
  type Outcome,
  operationColumns,
  operationKinds,
  outcomes,
  type RunRecording,
  roles,
  type StateColumn,
  stateColumns,
  type Table,
} from "../page/browser/recording.ts";
import { PendingMessages } from "./pendingMessages.ts";
import type { Recordable } from "./recordable.ts";
import { Rows } from "./rows.ts";
import type { RunObserver } from "./runObserver.ts";
import { Strings } from "./strings.ts";

/** Rows of a recording, unless told otherwise: about 10 MB of page. */
export const defaultMaxEvents = 200_000;

export interface RecorderOptions {
  /** At least 100. Default 200,000. */
  readonly maxEvents?: number;
}

type StateRow = Record<StateColumn, number>;

export class RunRecorder implements RunObserver {
  private readonly maxEvents: number;
  private run: Recordable | undefined;
  private nodes: readonly string[] = [];
  private readonly strings: Strings;
  private readonly states = new Rows(stateColumns);
  private readonly messages = new Rows(messageColumns);
  private readonly intervals = new Rows(intervalColumns);
  private readonly operations = new Rows(operationColumns);
  private readonly pending = new PendingMessages();
  /** The last row of each node, while it runs. */
  private readonly latest = new Map<number, StateRow>();
  /** Rows of the intervals that have not ended. */
  private readonly open = new Map<string, number>();
  private cutBeforeMs: number | undefined;
  /** What each node was when the part that is kept begins. */
  private readonly atCut = new Map<number, StateRow>();

  constructor({ maxEvents = defaultMaxEvents }: RecorderOptions = {}) {
    if (!(maxEvents >= 100)) throw new RangeError(`maxEvents must be at least 100, not ${maxEvents}`);
    this.maxEvents = maxEvents;
    this.strings = new Strings(maxEvents);
  }

  /** Before anything has happened, and once. */
  attach(run: Recordable): void {
    if (this.run !== undefined) throw new Error("a recorder records one run");
    this.run = run;
    this.nodes = run.cluster.hosts.map((host) => host.name);
    run.world.trace.observer = this;
  }

  stepped(node: string, state: RaftState, event?: Event): void {
    if (event?.kind === "received") this.arrived(event.from, node, event.message);
    const at = this.nodeAt(node);
    const row: StateRow = {
      atMs: this.nowMs,
      node: at,
      role: roles.indexOf(state.role),
      term: state.currentTerm,
      vote: state.vote === undefined ? -1 : this.nodeAt(state.vote),
      commit: state.commitIndex,
      applied: state.appliedIndex,
      last: state.log.lastIndex,
      durable: state.disk.durableIndex,
    };
    const before = this.latest.get(at);
    if (before !== undefined && isEqual(before, row)) return;
    this.latest.set(at, row);
    this.states.add(row);
    this.bound();
  }

  sent(from: string, to: string, message: PeerMessage): void {
    const kind = kindOf(message);
    if (kind < 0) return;
    const detail = describeMessage(message);
    const row = this.messages.add({
      sentMs: this.nowMs,
      arrivedMs: -1,
      from: this.nodeAt(from),
      to: this.nodeAt(to),
      kind,
      term: "term" in message ? message.term : 0,
      detail: this.strings.placeOf(detail),
    });
    this.pending.sent(pathAnd(from, to, detail), row);
    this.bound();
  }

  began(kind: IntervalKind, node: string, other?: string): void {
    const key = `${kind} ${node} ${other ?? ""}`;
    if (![node, other ?? node].every((name) => this.nodes.includes(name))) return;
    if (kind === "down") this.latest.delete(this.nodeAt(node));
    if (this.open.has(key) || this.intervals.length >= this.maxEvents) return;
    const row = this.intervals.add({
      startMs: this.nowMs,
      endMs: -1,
      kind: intervalKinds.indexOf(kind),
      node: this.nodeAt(node),
      other: other === undefined ? -1 : this.nodeAt(other),
    });
    this.open.set(key, row);
  }

  ended(kind: IntervalKind, node: string, other?: string): void {
    const key = `${kind} ${node} ${other ?? ""}`;
    const row = this.open.get(key);
    if (row === undefined) return;
    this.open.delete(key);
    this.intervals.set(row, "endMs", this.nowMs);
  }

  operated(client: string, kind: OperationKind, detail: string): (outcome: Outcome) => void {
    const row = this.operations.add({
      startMs: this.nowMs,
      endMs: -1,
      client: this.strings.placeOf(client),
      kind: operationKinds.indexOf(kind),
      outcome: outcomes.indexOf("open"),
      detail: this.strings.placeOf(detail),
    });
    this.bound();
    return (outcome) => {
      this.operations.set(row, "endMs", this.nowMs);
      this.operations.set(row, "outcome", outcomes.indexOf(outcome));
    };
  }

  /** The run so far. */
  recording(): RunRecording {
    const { run } = this;
    if (run === undefined) throw new Error("nothing was recorded: give the recorder to a run first");
    return {
      version: 1,
      seed: run.world.seed,
      endMs: this.nowMs,
      nodes: this.nodes,
      strings: [...this.strings.values],
      states: this.statesSinceCut(),
      messages: this.messages.table(),
      intervals: this.intervals.table(),
      operations: this.operations.table(),
      faults: run.nemesis.struck
        .filter(({ atMs }) => atMs >= (this.cutBeforeMs ?? 0))
        .slice(-this.maxEvents)
        .map(({ atMs, fault }) => ({ atMs, sentence: describeFault(fault) })),
      violations: run.history.violations.slice(0, this.maxEvents).map((violation) => ({ ...violation })),
      ...(this.cutBeforeMs === undefined ? {} : { cutBeforeMs: this.cutBeforeMs }),
    };
  }

  private get nowMs(): number {
    return this.run?.world.timeline.nowMs ?? 0;
  }

  private arrived(from: string, to: string, message: PeerMessage): void {
    const detail = describeMessage(message);
    const found = this.pending.arrived(pathAnd(from, to, detail));
    if (found === undefined) return;
    if (!found.isRepeated) {
      this.messages.set(found.row, "arrivedMs", this.nowMs);
      return;
    }
    if (kindOf(message) < 0) return;
    // Rows are ordered by sending: one more arrival gets a row of its own that starts where it was noticed.
    this.messages.add({
      sentMs: this.nowMs,
      arrivedMs: this.nowMs,
      from: this.nodeAt(from),
      to: this.nodeAt(to),
      kind: kindOf(message),
      term: "term" in message ? message.term : 0,
      detail: this.strings.placeOf(`${detail} (repeated by the network)`),
    });
  }

  private statesSinceCut(): Table<StateColumn> {
    const table = this.states.table();
    for (const column of stateColumns) {
      table[column].unshift(...[...this.atCut.values()].map((row) => row[column]));
    }
    return table;
  }

  private nodeAt(member: string): number {
    return this.nodes.indexOf(nodeOf(member));
  }

  /** Forgets the older half of the time that is kept, when there is too much of it. */
  private bound(): void {
    const { states, messages, operations } = this;
    if (states.length + messages.length + operations.length <= this.maxEvents) return;
    const fromMs = this.cutBeforeMs ?? 0;
    const cutMs = fromMs + (this.nowMs - fromMs) / 2;
    this.cutBeforeMs = cutMs;
    for (const row of states.rowsBefore("atMs", cutMs)) this.atCut.set(row.node, { ...row, atMs: cutMs });
    states.dropBefore("atMs", cutMs);
    messages.dropBefore("sentMs", cutMs);
    operations.dropBefore("startMs", cutMs);
  }
}

/** Records a run that is driven by hand. Call it before anything has happened. */
export function recordRun(run: Recordable, options?: RecorderOptions): RunRecorder {
  const recorder = new RunRecorder(options);
  recorder.attach(run);
  return recorder;
}

function kindOf(message: PeerMessage): number {
  return (messageKinds as readonly string[]).indexOf(message.kind);
}

/** `a` of `a.9f86d081884c7d65`. */
function nodeOf(member: string): string {
  return member.split(".", 1)[0] as string;
}

function pathAnd(from: string, to: string, detail: string): string {
  return `${nodeOf(from)}>${nodeOf(to)} ${detail}`;
}

function isEqual(one: StateRow, other: StateRow): boolean {
  return stateColumns.every((column) => column === "atMs" || one[column] === other[column]);
}
