/**
 * What the leader, and the deposed one, may do next: read, confirm, judge, mark, expire, commit, and be followed by
 * another. The rules are those of sessionClock.ts; `office.ts` lists which lines.
 */
import { applyNext, confirmed, heard, isSameFlight, lookAtLease } from "./entries.ts";
import type { Model } from "./model.ts";
import { never, newAccount, officeOf, withAccount } from "./office.ts";
import { name } from "./stores.ts";
import { type Keeping, type Leader, leaderText, type World } from "./world.ts";

export type Add = (label: string, make: () => World) => void;

const clientNames = ["A", "B"];

export function addLeaderSteps(model: Model, world: World, add: Add): void {
  const { leader, pending } = world;
  addArrivals(model, world, add);
  for (const keeping of leader.keeping) addVerdicts(model, world, keeping, add);
  if (leader.isSettled) {
    if (pending.length > 0) {
      const [first, ...rest] = pending;
      const { label } = model.stores.commands[first!.command]!;
      add(`${label} is committed`, () => applyNext(model, { ...world, pending: rest }, first!));
    }
    addSweeps(model, world, add);
    addTimer(model, world, add);
    addBreak(model, world, add);
  } else {
    add(`the leader of term ${leader.term} has applied its no-op`, () => settled(model, world));
  }
  addElection(model, world, add);
  for (const keeping of world.deposed?.leader.keeping ?? []) addDeposedVerdict(model, world, keeping, add);
}

function addArrivals(model: Model, world: World, add: Add): void {
  for (const request of world.requests) {
    const { client, sent } = request;
    const arrive = (leader: Leader): Leader => {
      const keeping: Keeping = { client, sent, arrived: world.now, stage: "arrived" };
      return { ...leader, keeping: [...leader.keeping, keeping] };
    };
    const rest = world.requests.filter((one) => !isSameFlight(one, request));
    const label = `${clientNames[client]}'s keep-alive of ${sent} arrives`;
    const isBusy = ({ keeping }: Leader): boolean => keeping.some((one) => one.client === client);
    if (!isBusy(world.leader)) {
      add(label, () => ({ ...world, requests: rest, leader: arrive(world.leader) }));
      const { budget } = world;
      if (budget.duplicates > 0) {
        const less = { ...budget, duplicates: budget.duplicates - 1 };
        add(`${label}, and will again`, () => ({ ...world, leader: arrive(world.leader), budget: less }));
      }
    }
    const { deposed } = world;
    if (deposed !== undefined && model.breaks("no quorum asked") && !isBusy(deposed.leader)) {
      add(`${label} at the deposed leader`, () => {
        return { ...world, requests: rest, deposed: { ...deposed, leader: arrive(deposed.leader) } };
      });
    }
  }
}

function addVerdicts(model: Model, world: World, keeping: Keeping, add: Add): void {
  const { leader } = world;
  const { client, sent, arrived, stage } = keeping;
  const label = `${clientNames[client]}'s keep-alive of ${sent}`;
  const others = leader.keeping.filter((one) => one !== keeping);
  if (stage === "logged" || !leader.isSettled) return;
  add(`${label} has its quorum and is judged`, () => {
    const found = model.stores.session(world.store, client);
    const { expiring, marking } = leader.accounts[client]!;
    const without = { ...world, leader: { ...leader, keeping: others } };
    if (expiring && !model.breaks("confirmed while it expires")) return without;
    if (found === undefined) return without;
    const isMarked = found.silentMs > 0 || marking !== never;
    if (isMarked && !model.breaks("renewed outside the log")) {
      return withLoggedRenewal(model, without, { client, sent, arrived, stage: "logged" });
    }
    model.marks.add("a renewal outside the log");
    const after = { ...without, leader: heard(model, without.leader, client, arrived) };
    return confirmed(model, after, world.store, client, sent);
  });
}

function withLoggedRenewal(model: Model, world: World, keeping: Keeping): World {
  const session = model.stores.sessions[keeping.client]!;
  const label = `a renewal of ${clientNames[keeping.client]}`;
  const command = model.stores.command(label, { kind: "renewSessions", sessions: [session] });
  const leader = { ...world.leader, keeping: [...world.leader.keeping, keeping] };
  const next = { ...world, leader, pending: [...world.pending, { command, term: leader.term }] };
  if (!model.breaks("answered when appended")) return next;
  return confirmed(model, next, world.store, keeping.client, keeping.sent);
}

/** It was confirmed while it led, and does not know that another leads by now. */
function addDeposedVerdict(model: Model, world: World, keeping: Keeping, add: Add): void {
  const { client, sent } = keeping;
  const { leader, store } = world.deposed!;
  add(`${clientNames[client]}'s keep-alive of ${sent} is judged by the deposed leader`, () => {
    const found = model.stores.session(store, client);
    const { expiring, marking } = leader.accounts[client]!;
    const keeps = leader.keeping.filter((one) => one !== keeping);
    const stays = keeps.length > 0 || model.breaks("no quorum asked");
    const deposed = stays ? { store, leader: { ...leader, keeping: keeps } } : undefined;
    const without = { ...world, deposed };
    // What it logs now is never committed.
    const isMarked = found !== undefined && (found.silentMs > 0 || marking !== never);
    if (expiring || found === undefined || isMarked) return without;
    model.marks.add("a renewal by a deposed leader");
    return confirmed(model, without, store, client, sent);
  });
}

function addSweeps(model: Model, world: World, add: Add): void {
  const { leader, now, store } = world;
  const nowMs = now * model.tickMs;
  for (const [client, { expiryMs, markMs, isAwaited }] of duesOf(model, leader).entries()) {
    const found = model.stores.session(store, client);
    const { expiring } = leader.accounts[client]!;
    if (found === undefined || expiring || (isAwaited && !model.breaks("awaited, ended and forgotten")))
      continue;
    const kind = expiryMs <= nowMs ? "expireSessions" : "markSilence";
    if (kind === "markSilence" && markMs > nowMs) continue;
    const { renewals } = found;
    const label = `${kind} of ${clientNames[client]} after ${renewals} renewals, by the leader of ${leader.term}`;
    const sessions = [{ session: model.stores.sessions[client]!, renewals }];
    const command = model.stores.command(label, { kind, office: leader.term, sessions });
    add(`${label} is proposed`, () => {
      const pending = [...world.pending, { command, term: leader.term }];
      const changes = kind === "expireSessions" ? { expiring: true } : { marking: now };
      return { ...world, leader: withAccount(leader, client, changes), pending };
    });
  }
}

/** Of one session, as its office sees it. */
export interface Dues {
  readonly expiryMs: number;
  readonly markMs: number;
  readonly isAwaited: boolean;
}

function duesOf(model: Model, leader: Leader): readonly Dues[] {
  const text = leaderText(leader);
  const known = model.dues.get(text);
  if (known !== undefined) return known;
  const office = officeOf(model, leader);
  const dues = model.stores.sessions.map((session, client): Dues => {
    const ttlMs = model.ttlsMs[client]!;
    const expiryMs = office.expiryMs(session, ttlMs);
    return { expiryMs, markMs: office.markMs(session, ttlMs), isAwaited: office.isAwaited(session) };
  });
  model.dues.set(text, dues);
  return dues;
}

function addTimer(model: Model, world: World, add: Add): void {
  const { leader, now, pending } = world;
  const { timer, term } = leader;
  if (timer === undefined || timer.isProposed || timer.due > now) return;
  const next = { ...leader, timer: { ...timer, isProposed: true } };
  const entry = { command: timer.command, term };
  model.marks.add(timer.what);
  add(`${model.stores.commands[timer.command]!.label} is proposed`, () => {
    return { ...world, leader: next, pending: [...pending, entry] };
  });
}

/** By an administrator, who leaves the holder its time. */
function addBreak(model: Model, world: World, add: Add): void {
  const { budget, leader, pending } = world;
  if (budget.breaks === 0) return;
  const command = model.stores.command("a break", { kind: "breakLease", name, afterMs: 0, force: false });
  add("a break is appended", () => {
    const less = { ...budget, breaks: budget.breaks - 1 };
    return { ...world, pending: [...pending, { command, term: leader.term }], budget: less };
  });
}

function settled(model: Model, world: World): World {
  let next: World = { ...world, pending: [] };
  for (const entry of world.pending) next = applyNext(model, next, entry);
  const { leader, now, store } = next;
  const begun = leader.since === never ? begin(model, leader, now, store) : leader;
  return { ...next, leader: lookAtLease(model, { ...begun, isSettled: true }, store, now) };
}

/** office.ts, `begin`: the silence that is logged in what it has applied. */
function begin(model: Model, leader: Leader, now: number, store: number): Leader {
  const accounts = leader.accounts.map((account, client) => {
    return { ...account, silentBeforeMs: model.stores.session(store, client)?.silentMs ?? 0 };
  });
  return { ...leader, since: now, accounts: accounts as unknown as Leader["accounts"] };
}

/**
 * Of what was not committed, any first part may have reached those who elect. Any keep-alive that has arrived may have
 * got its quorum just before, and is judged later.
 */
function addElection(model: Model, world: World, add: Add): void {
  const { leader, pending, budget, store, storeBefore, now } = world;
  if (budget.elections === 0 || !leader.isSettled) return;
  const term = leader.term + 1;
  const fresh: Leader = {
    term,
    since: never,
    isSettled: false,
    accounts: [newAccount, newAccount],
    keeping: [],
    timer: undefined,
  };
  const early = model.breaks("counted from the election") ? [store, storeBefore] : [undefined];
  for (let survivors = 0; survivors <= pending.length; survivors += 1) {
    for (const applied of early) {
      add(`another is elected in term ${term}, with ${survivors} of ${pending.length} entries`, () => ({
        ...world,
        pending: pending.slice(0, survivors),
        leader: applied === undefined ? fresh : begin(model, fresh, now, applied),
        deposed: deposedBy(model, leader, store),
        budget: { ...budget, elections: budget.elections - 1 },
      }));
    }
  }
}

/** Undefined where it cannot answer anything any more. Of its accounts nothing else counts. */
function deposedBy(model: Model, leader: Leader, store: number): World["deposed"] {
  const asksNobody = model.breaks("no quorum asked");
  const keeping = leader.keeping.filter(({ client, stage }) => {
    const { expiring, marking } = leader.accounts[client]!;
    return stage === "arrived" && (asksNobody || (!expiring && marking === never));
  });
  if (keeping.length === 0 && !asksNobody) return undefined;
  const accounts = leader.accounts.map(({ expiring, marking }) => ({ ...newAccount, expiring, marking }));
  return {
    leader: { ...leader, accounts: accounts as unknown as Leader["accounts"], keeping, timer: undefined },
    store,
  };
}
