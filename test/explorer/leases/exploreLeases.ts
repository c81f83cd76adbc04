/**
 * Visits every world that two clients and their leaders can reach within a bound, and looks at each: at no moment do
 * both pass `check()`. What entries and answers must keep to is checked as they happen (entries.ts).
 */
import { acquireBy, addClientSteps } from "./clientSteps.ts";
import { lookAtLease } from "./entries.ts";
import { addLeaderSteps } from "./leaderSteps.ts";
import { type BrokenRule, createModel, type LeaseBound, LeaseViolation, type Model } from "./model.ts";
import { never, newAccount } from "./office.ts";
import type { Subject } from "./subject.ts";
import { type Client, type Flight, Keys, type Leader, type World } from "./world.ts";

export interface LeaseExploration {
  readonly states: number;
  readonly transitions: number;
  /** Different states of the machine. */
  readonly stores: number;
  readonly isComplete: boolean;
  readonly marks: ReadonlySet<string>;
  readonly violation: { readonly sentence: string; readonly trace: readonly string[] } | undefined;
}

interface Step {
  readonly label: string;
  readonly next: World | LeaseViolation;
}

export function exploreLeases(subject: Subject, bound: LeaseBound, broken?: BrokenRule): LeaseExploration {
  const model = createModel(subject, bound, broken);
  const keys = new Keys();
  const start = startOf(model);
  const visited = new Set<string>([keys.of(start)]);
  const path: { readonly label: string; readonly steps: Step[] }[] = [
    { label: "start", steps: stepsOf(model, start) },
  ];
  let transitions = 0;
  let violation: LeaseExploration["violation"];
  while (path.length > 0 && visited.size < bound.maxStates) {
    const step = path.at(-1)!.steps.pop();
    if (step === undefined) {
      path.pop();
      continue;
    }
    transitions += 1;
    const { label, next } = step;
    const broke = next instanceof LeaseViolation ? next.message : believers(model, next);
    if (broke !== undefined) {
      violation = { sentence: broke, trace: [...path.slice(1).map((each) => each.label), label] };
      break;
    }
    const world = next as World;
    const key = keys.of(world);
    if (visited.has(key)) continue;
    visited.add(key);
    path.push({ label, steps: stepsOf(model, world) });
  }
  const { marks, stores } = model;
  const isComplete = path.length === 0;
  return { states: visited.size, transitions, stores: stores.size, isComplete, marks, violation };
}

/** A step that breaks what must hold on the way is one that ends in that. */
function stepsOf(model: Model, world: World): Step[] {
  const steps: Step[] = [];
  const add = (label: string, make: () => World): void => {
    try {
      steps.push({ label, next: make() });
    } catch (error) {
      if (!(error instanceof LeaseViolation)) throw error;
      steps.push({ label, next: error });
    }
  };
  addLeaderSteps(model, world, add);
  addClientSteps(model, world, add);
  if (world.now < model.bound.ticks) add(`it is ${world.now + 1}`, () => ticked(model, world));
  return steps;
}

/** What can extend nobody's deadline any more is forgotten. */
function ticked(model: Model, world: World): World {
  const now = world.now + 1;
  const isUseful = ({ client, sent }: Flight): boolean => sent + model.holders[client]!.allowedTicks > now;
  const { requests, answers } = world;
  const clients = world.clients.map((client, at) => {
    const isOver = client.confirmed !== never && !model.holders[at]!.passes(client.confirmed, now);
    return isOver ? { ...client, confirmed: never } : client;
  });
  return {
    ...world,
    now,
    clients: clients as unknown as World["clients"],
    deposed: remaining(model, world.deposed, isUseful),
    requests: requests.every(isUseful) ? requests : requests.filter(isUseful),
    answers: answers.every(isUseful) ? answers : answers.filter(isUseful),
  };
}

function remaining(
  model: Model,
  deposed: World["deposed"],
  isUseful: (kept: Flight) => boolean,
): World["deposed"] {
  if (deposed === undefined) return undefined;
  const keeping = deposed.leader.keeping.filter(({ client, sent }) => isUseful({ client, sent, term: 0 }));
  if (keeping.length === 0 && !model.breaks("no quorum asked")) return undefined;
  return { ...deposed, leader: { ...deposed.leader, keeping } };
}

function believers(model: Model, { clients, now }: World): string | undefined {
  const believe = clients.filter(({ phase, base }, at) => {
    return phase === "holding" && base !== never && model.holders[at]!.passes(base, now);
  });
  if (believe.length > 0) model.marks.add("a believer");
  return believe.length > 1 ? "two clients pass check() at once" : undefined;
}

const idle: Client = {
  phase: "idle",
  sequence: 0,
  nextSequence: 1,
  term: 0,
  base: never,
  awaits: 0,
  answered: undefined,
  outbox: [],
  confirmed: never,
};

/** Both sessions were just opened. */
function startOf(model: Model): World {
  const { bound, stores } = model;
  const account = { ...newAccount, heard: 0 };
  const leader: Leader = {
    term: 1,
    since: 0,
    isSettled: true,
    accounts: [account, account],
    keeping: [],
    timer: undefined,
  };
  const world: World = {
    now: 0,
    store: 0,
    storeBefore: 0,
    pending: [],
    leader,
    deposed: undefined,
    clients: [idle, idle],
    requests: [],
    answers: [],
    budget: bound.budget,
  };
  if (bound.from === "free") return world;
  let store = 0;
  for (const client of [0, 1]) {
    const command = stores.command("acquire", acquireBy(client), client, 1);
    store = stores.apply(store, command, 1).store;
  }
  const acquired = { ...idle, sequence: 1, nextSequence: 2 };
  const { term } = stores.grant(store);
  const holding: Client = { ...acquired, phase: "holding", term, base: 0, confirmed: 0 };
  const clients = [holding, { ...acquired, phase: "waiting" } as const] as const;
  return { ...world, store, storeBefore: store, clients, leader: lookAtLease(model, leader, store, 0) };
}
