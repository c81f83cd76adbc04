/**
 * Visits every state that a small cluster of real cores can reach within a bound: any message delivered at any time
 * or never, timeouts, writes that are held up, crashes that lose what was not written, messages doubled and overtaken.
 *
 * Nodes' states and messages are interned: a global state is a few numbers, and the core runs once for each pair of
 * node state and event. The first timeout is always the first node's: without it all nodes are alike.
 */
import type { Event } from "@quorate/raft";
import { checkOutcome } from "./globalChecks.ts";
import {
  crashKey,
  createExplorer,
  type Explorer,
  firstMessageKey,
  firstState,
  isUseless,
  linkOf,
  names,
  proposalKey,
  type Step,
  stepKey,
  stepOf,
  tickKey,
  writtenKey,
} from "./interned.ts";
import { type Core, electionMs, heartbeatMs, startMs } from "./localState.ts";
import { type Outcome, restarted, transition, Violation } from "./transition.ts";

export interface Bound {
  readonly timeouts: number;
  readonly proposals: number;
  readonly crashes: number;
  readonly duplicates: number;
  /** Messages delivered before an older one of their link, which is not lost. */
  readonly overtakes: number;
  /** Writes that take a while; all others are durable in the turn that starts them. */
  readonly slowWrites: number;
  readonly heartbeats: number;
  /** The exploration stops, and says so, when it has seen that many. */
  readonly maxStates: number;
}

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** Different states of a node, and of a message. */
  readonly localStates: number;
  readonly messages: number;
  readonly isComplete: boolean;
  readonly marks: ReadonlySet<string>;
  readonly violation: { readonly sentence: string; readonly trace: readonly string[] } | undefined;
}

type Budget = Omit<Bound, "maxStates">;

interface GlobalState {
  readonly nodes: readonly number[];
  /** By link and, within one, oldest first; no message twice. */
  readonly flights: readonly number[];
  readonly budget: Budget;
}

interface Choice {
  readonly label: string;
  readonly at: number;
  readonly step: Step;
  readonly budget: Budget;
  /** The message delivered, by its position: older ones of its link are lost, or only late. */
  readonly taken?: { readonly position: number; readonly keepsOlder: boolean } | undefined;
}

export function explore(core: Core, bound: Bound): Exploration {
  const explorer = createExplorer(core);
  const { maxStates, ...budget } = bound;
  const start: GlobalState = { nodes: names.map((_, at) => firstState(explorer, at)), flights: [], budget };
  const visited = new Set<string>([keyOfGlobal(start)]);
  const path: { label: string; choices: Choice[]; state: GlobalState }[] = [
    { label: "start", choices: choicesOf(explorer, start), state: start },
  ];
  let transitions = 0;
  let violation: Exploration["violation"];
  while (path.length > 0 && visited.size < maxStates) {
    const { choices, state } = path[path.length - 1]!;
    const choice = choices.pop();
    if (choice === undefined) {
      path.pop();
      continue;
    }
    transitions += 1;
    const next = follow(explorer, state, choice);
    if (typeof next === "string") {
      violation = { sentence: next, trace: [...path.slice(1).map(({ label }) => label), choice.label] };
      break;
    }
    const key = keyOfGlobal(next);
    if (visited.has(key)) continue;
    visited.add(key);
    path.push({ label: choice.label, choices: choicesOf(explorer, next), state: next });
  }
  const { marks, locals, flights } = explorer;
  const isComplete = path.length === 0;
  const counts = { states: visited.size, transitions, localStates: locals.length, messages: flights.length };
  return { ...counts, isComplete, marks, violation };
}

/** Numbers as characters: a set of short strings is the smallest that there is. */
function keyOfGlobal({ nodes, flights, budget }: GlobalState): string {
  const { timeouts, proposals, crashes, duplicates, overtakes, slowWrites, heartbeats } = budget;
  return String.fromCharCode(
    ...nodes,
    timeouts * 512 + proposals * 64 + heartbeats * 8 + slowWrites,
    crashes * 64 + duplicates * 8 + overtakes,
    ...flights,
  );
}

/** Everything that may happen next and that changes something. */
function choicesOf(explorer: Explorer, state: GlobalState): Choice[] {
  const choices: Choice[] = [];
  for (const at of state.nodes.keys()) addOwnChoices(explorer, state, at, choices);
  const { budget } = state;
  for (const [position, id] of state.flights.entries()) {
    const { from, at, message, label } = explorer.flights[id]!;
    const sender = explorer.voters[from]!;
    const before = choices.length;
    const receive: Happening = {
      at,
      key: firstMessageKey + id,
      event: { kind: "received", from: sender, message },
    };
    addEvent(explorer, state, { ...receive, label, budget, taken: { position, keepsOlder: false } }, choices);
    if (choices.length === before) continue;
    const isOldest =
      position === 0 || linkOf(explorer, state.flights[position - 1]!) !== linkOf(explorer, id);
    if (budget.duplicates > 0) {
      const less = { ...budget, duplicates: budget.duplicates - 1 };
      addEvent(explorer, state, { ...receive, label: `${label}, doubled`, budget: less }, choices);
    }
    if (budget.overtakes > 0 && !isOldest) {
      const less = { ...budget, overtakes: budget.overtakes - 1 };
      const taken = { position, keepsOlder: true };
      addEvent(explorer, state, { ...receive, label: `${label}, early`, budget: less, taken }, choices);
    }
  }
  return choices;
}

interface Happening {
  readonly at: number;
  readonly key: number;
  /** Undefined: the process dies and starts again. */
  readonly event: Event | undefined;
  readonly nowMs?: number;
}

/** Adds what `happening` leads to, and the same with a slow disk, unless nothing comes of it. */
function addEvent(
  explorer: Explorer,
  { nodes }: GlobalState,
  happening: Happening & { label: string; budget: Budget; taken?: Choice["taken"] },
  choices: Choice[],
): void {
  const { at, key, event, label, budget, taken, nowMs = startMs } = happening;
  const local = nodes[at]!;
  const before = explorer.locals[local]!;
  const run = (): Outcome =>
    event === undefined
      ? restarted(explorer.core, before, explorer.voters)
      : transition(explorer.core, before, event, nowMs);
  const quick = stepOf(
    explorer,
    at,
    stepKey(local, key, false),
    before.writing !== undefined && key !== writtenKey,
    run,
  );
  if (quick.kind === "done" && quick.node === local && quick.sent.length === 0) return;
  choices.push({ label, at, step: quick, budget, taken });
  if (budget.slowWrites === 0 || (quick.kind === "done" && quick.outcomes.length === 1)) return;
  const step = stepOf(explorer, at, stepKey(local, key, true), true, run);
  const less = { ...budget, slowWrites: budget.slowWrites - 1 };
  choices.push({ label: `${label}, a slow write begins`, at, step, budget: less, taken });
}

function addOwnChoices(explorer: Explorer, state: GlobalState, at: number, choices: Choice[]): void {
  const { budget, nodes } = state;
  const { core, writing } = explorer.locals[nodes[at]!]!;
  const add = (
    text: string,
    key: number,
    event: Event | undefined,
    spent: Partial<Budget>,
    nowMs?: number,
  ): void => {
    const happening = { at, key, event, label: `${names[at]} ${text}`, budget: { ...budget, ...spent } };
    addEvent(explorer, state, nowMs === undefined ? happening : { ...happening, nowMs }, choices);
  };
  const isLeader = core.role === "leader";
  const { timeouts, heartbeats, proposals, crashes } = budget;
  // Before the first timeout all nodes are alike.
  const mayTimeOut = at === 0 || nodes.some((id) => explorer.locals[id]!.core.currentTerm > 0);
  if (!isLeader && timeouts > 0 && mayTimeOut) {
    add("times out", tickKey, { kind: "tick" }, { timeouts: timeouts - 1 }, startMs + electionMs);
  }
  if (isLeader && heartbeats > 0) {
    add("sends heartbeats", tickKey, { kind: "tick" }, { heartbeats: heartbeats - 1 }, startMs + heartbeatMs);
  }
  if (isLeader && proposals > 0) {
    const data = Uint8Array.of(96 + proposals);
    const event = { kind: "proposed", id: 1, entry: "command", data } as const;
    add("proposes", proposalKey + proposals, event, { proposals: proposals - 1 });
  }
  if (writing !== undefined)
    add("has written", writtenKey, { kind: "persisted", sequence: writing.sequence }, {});
  if (crashes > 0) add("crashes and restarts", crashKey, undefined, { crashes: crashes - 1 });
}

/** The state after `choice`, or the sentence that it broke. */
function follow(explorer: Explorer, state: GlobalState, choice: Choice): GlobalState | string {
  const { at, step, taken } = choice;
  if (step.kind === "broken") return step.sentence;
  const nodes = state.nodes.slice();
  for (const { node, outcome } of step.outcomes) {
    nodes[at] = node;
    const broken = checkOnce(explorer, nodes, at, outcome);
    if (broken !== undefined) return broken;
  }
  const flights = remaining(explorer, state.flights, taken).filter((id) => !isUseless(explorer, nodes, id));
  for (const id of step.sent) {
    if (flights.includes(id) || isUseless(explorer, nodes, id)) continue;
    const link = linkOf(explorer, id);
    let position = flights.length;
    while (position > 0 && linkOf(explorer, flights[position - 1]!) > link) position -= 1;
    flights.splice(position, 0, id);
  }
  return { nodes, flights, budget: choice.budget };
}

/** What was delivered is gone, and so is what it overtook, unless that is only late. */
function remaining(explorer: Explorer, flights: readonly number[], taken: Choice["taken"]): number[] {
  if (taken === undefined) return flights.slice();
  const { position, keepsOlder } = taken;
  const link = linkOf(explorer, flights[position]!);
  return flights.filter(
    (id, other) => other > position || (other < position && (keepsOlder || linkOf(explorer, id) !== link)),
  );
}

function checkOnce(explorer: Explorer, nodes: number[], at: number, outcome: Outcome): string | undefined {
  const { becameLeader, committedAs } = outcome;
  const key = `${nodes} ${at} ${becameLeader} ${committedAs}`;
  if (explorer.checked.has(key)) return undefined;
  try {
    checkOutcome(
      nodes.map((id) => explorer.locals[id]!),
      at,
      outcome,
    );
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return error.message;
  }
  explorer.checked.add(key);
  const { core } = outcome.next;
  if (becameLeader) explorer.marks.add(`a leader of term ${core.currentTerm}`);
  if (committedAs !== undefined) explorer.marks.add(`commit by a ${committedAs}`);
  if (core.disk.truncateFrom !== undefined || outcome.next.writing?.truncateFrom !== undefined) {
    explorer.marks.add("a truncation");
  }
  return undefined;
}
