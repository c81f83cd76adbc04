/**
 * States of a node and messages as numbers, and what an event does to them: each pair of node state and event is
 * given to the core once, however many states of the cluster share it.
 */
import type { Envelope, MemberId, Message } from "@quorate/raft";
import { type Core, keyOf, type LocalState, startMs } from "./localState.ts";
import { type Outcome, restarted, restoreCore, transition, Violation } from "./transition.ts";

interface Flight extends Envelope {
  readonly from: number;
  readonly at: number;
  readonly link: number;
  readonly label: string;
}

export interface Explorer {
  readonly core: Core;
  readonly voters: readonly MemberId[];
  readonly locals: LocalState[];
  readonly localIds: Map<string, number>;
  readonly flights: Flight[];
  readonly flightIds: Map<string, number>;
  /** By node state and event. */
  readonly steps: Map<number, Step>;
  readonly checked: Set<string>;
  readonly useless: Map<number, boolean>;
  readonly marks: Set<string>;
}

/** The outcomes of an event and of the writes that followed, interned. A violation is told to whoever gets there. */
export type Step =
  | {
      readonly kind: "done";
      readonly node: number;
      readonly sent: readonly number[];
      readonly outcomes: readonly { readonly node: number; readonly outcome: Outcome }[];
    }
  | { readonly kind: "broken"; readonly sentence: string };

export const names = ["a", "b", "c"] as const;

/** Events of one node state, as numbers. */
export const tickKey = 0;
export const writtenKey = 1;
export const crashKey = 2;
export const proposalKey = 3;
export const firstMessageKey = 16;
const maxKeys = 1 << 14;

export function stepKey(local: number, key: number, isSlow: boolean): number {
  return (local * maxKeys + key) * 2 + (isSlow ? 1 : 0);
}

export function createExplorer(core: Core): Explorer {
  return {
    core,
    voters: names.map((name) => `${name}.0123456789abcdef` as MemberId),
    locals: [],
    localIds: new Map(),
    flights: [],
    flightIds: new Map(),
    steps: new Map(),
    checked: new Set(),
    useless: new Map(),
    marks: new Set(),
  };
}

export function firstState(explorer: Explorer, at: number): number {
  const stored = { term: 0 as LocalState["stored"]["term"], vote: undefined, floor: undefined, entries: [] };
  const core = restoreCore(explorer.core, explorer.voters[at]!, explorer.voters, stored);
  const memory = { votes: {}, ledTerms: [], committed: [] };
  return internLocal(
    explorer,
    restarted(explorer.core, { core, stored, writing: undefined, memory }, explorer.voters).next,
  );
}

function internLocal({ locals, localIds }: Explorer, local: LocalState): number {
  const key = keyOf(local);
  const known = localIds.get(key);
  if (known !== undefined) return known;
  localIds.set(key, locals.length);
  return locals.push(local) - 1;
}

function internFlight({ flights, flightIds, voters }: Explorer, from: number, envelope: Envelope): number {
  const at = voters.indexOf(envelope.to);
  const text = JSON.stringify(envelope.message, (_, value: unknown) =>
    value instanceof Uint8Array ? String.fromCharCode(...value) : value,
  );
  const key = `${from}>${at} ${text}`;
  const known = flightIds.get(key);
  if (known !== undefined) return known;
  flightIds.set(key, flights.length);
  const label = `${names[from]}→${names[at]} ${textOf(envelope.message)}`;
  return flights.push({ ...envelope, from, at, link: from * names.length + at, label }) - 1;
}

export function stepOf(
  explorer: Explorer,
  at: number,
  key: number,
  isSlow: boolean,
  run: () => Outcome,
): Step {
  const known = explorer.steps.get(key);
  if (known !== undefined) return known;
  const step = runStep(explorer, at, isSlow, run);
  explorer.steps.set(key, step);
  return step;
}

function runStep(explorer: Explorer, at: number, isSlow: boolean, run: () => Outcome): Step {
  const sent: number[] = [];
  const outcomes: { node: number; outcome: Outcome }[] = [];
  try {
    let outcome = run();
    for (;;) {
      for (const envelope of outcome.sent) sent.push(internFlight(explorer, at, envelope));
      const node = internLocal(explorer, outcome.next);
      outcomes.push({ node, outcome });
      const { writing } = outcome.next;
      if (isSlow || writing === undefined) return { kind: "done", node, sent, outcomes };
      const event = { kind: "persisted", sequence: writing.sequence } as const;
      outcome = transition(explorer.core, outcome.next, event, startMs);
    }
  } catch (error) {
    if (!(error instanceof Violation) && (error as Error).name !== "InvariantError") throw error;
    return { kind: "broken", sentence: (error as Error).message };
  }
}

export function linkOf({ flights }: Explorer, id: number): number {
  return flights[id]!.link;
}

/** True for an answer that its receiver can never again take in: its durable term has passed it. */
export function isUseless(explorer: Explorer, nodes: readonly number[], id: number): boolean {
  const { at, message } = explorer.flights[id]!;
  const local = nodes[at]!;
  const key = local * maxKeys + id;
  let useless = explorer.useless.get(key);
  if (useless === undefined) {
    useless = isPast(explorer.locals[local]!, message);
    explorer.useless.set(key, useless);
  }
  return useless;
}

function isPast({ core, stored }: LocalState, message: Message): boolean {
  const isOver = message.term < stored.term;
  switch (message.kind) {
    case "voteResponse":
      return isOver || (message.term === stored.term && core.role !== "candidate");
    case "preVoteResponse":
      return isOver || (message.granted && message.term <= stored.term);
    case "appendResponse":
    case "heartbeatResponse":
      return isOver;
    default:
      return false;
  }
}

function textOf(message: Message): string {
  const granted = "granted" in message ? (message.granted ? " yes" : " no") : "";
  const entries = message.kind === "appendRequest" ? ` ${message.prevIndex}+${message.entries.length}` : "";
  const answer = message.kind === "appendResponse" ? ` ${message.result.kind}` : "";
  return `${message.kind}(t${message.term}${granted}${entries}${answer})`;
}
