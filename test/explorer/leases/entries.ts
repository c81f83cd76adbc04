/**
 * What an entry does when it is committed: to the machine, to the accounts of the leader that proposed it, and to what
 * clients can learn; and what must hold of it.
 */

import { LeaseViolation, type Model } from "./model.ts";
import { officeOf, withAccount, withOffice } from "./office.ts";
import type { Client, Flight, Leader, World } from "./world.ts";

export interface Pending {
  readonly command: number;
  readonly term: number;
}

/** Committed, and applied where the leader is. Its accounts change only by what it proposed itself. */
export function applyNext(model: Model, world: World, entry: Pending): World {
  const { stores } = model;
  const { store, result } = stores.apply(world.store, entry.command, entry.term);
  const { command, client, sequence } = stores.commands[entry.command]!;
  checkGrant(model, world.store, store);
  if (command.kind === "expireSessions") checkEnds(model, world, store);
  let next: World = { ...world, store, storeBefore: beforeOf(model, world) };
  if (client >= 0 && world.clients[client]!.awaits === sequence) {
    const term = "term" in result ? result.term : 0;
    next = withClient(next, client, { answered: { kind: result.kind, term } });
  }
  if (entry.term !== world.leader.term) return next;
  if (command.kind === "renewSessions") next = logged(model, next, command.sessions);
  return { ...next, leader: lookAtLease(model, afterOwn(model, next, command), store, next.now) };
}

/** Only a rule that is broken on purpose looks at it. */
function beforeOf(model: Model, { store, storeBefore }: World): number {
  return model.breaks("counted from the election") ? store : storeBefore;
}

function afterOwn(model: Model, world: World, command: { readonly kind: string }): Leader {
  const { leader, now, store } = world;
  if (command.kind !== "expireSessions" && command.kind !== "markSilence") return leader;
  const { sessions } = command as unknown as { sessions: readonly { session: number }[] };
  const client = model.stores.sessions.indexOf(sessions[0]!.session);
  if (command.kind === "markSilence") {
    model.marks.add("a mark");
    return withAccount(leader, client, { marking: -1, marked: leader.accounts[client]!.marking });
  }
  const office = officeOf(model, withAccount(leader, client, { expiring: false }));
  const isGone = model.stores.session(store, client) === undefined;
  if (isGone || model.breaks("awaited, ended and forgotten")) office.forget(sessions[0]!.session);
  else office.hear(sessions[0]!.session, now * model.tickMs);
  return withOffice(model, leader, office);
}

/** The renewals of these sessions that wait for it: alive as of their arrival. */
function logged(model: Model, world: World, sessions: readonly number[]): World {
  let next = world;
  for (const keeping of world.leader.keeping) {
    if (keeping.stage !== "logged" || !sessions.includes(model.stores.sessions[keeping.client]!)) continue;
    const { client, sent, arrived } = keeping;
    model.marks.add("a logged renewal");
    const leader = { ...next.leader, keeping: next.leader.keeping.filter((one) => one !== keeping) };
    next = { ...next, leader };
    if (model.stores.session(next.store, client) === undefined) continue;
    next = confirmed(
      model,
      { ...next, leader: heard(model, leader, client, arrived) },
      next.store,
      client,
      sent,
    );
  }
  return next;
}

export function heard(model: Model, leader: Leader, client: number, arrived: number): Leader {
  const office = officeOf(model, leader);
  office.hear(model.stores.sessions[client]!, arrived * model.tickMs);
  return withOffice(model, leader, office);
}

/** A keep-alive sent at `sent` is answered: alive, with what the session has at that leader's store. */
export function confirmed(model: Model, world: World, store: number, client: number, sent: number): World {
  const { allowedTicks } = model.holders[client]!;
  if (model.stores.session(world.store, client) === undefined && world.now < sent + allowedTicks) {
    throw new LeaseViolation("a session that has ended is not renewed");
  }
  const before = world.clients[client]!;
  const lease = model.stores.lease(store, client, before.sequence);
  const term = lease?.ending === "none" ? lease.term : 0;
  const answer: Flight = { client, sent, term };
  const isNews = term > 0 && !world.answers.some((one) => isSameFlight(one, answer));
  const answers = isNews ? [...world.answers, answer] : world.answers;
  return withClient({ ...world, answers }, client, { confirmed: Math.max(sent, before.confirmed) });
}

export function isSameFlight(one: Flight, other: Flight): boolean {
  return one.client === other.client && one.sent === other.sent && one.term === other.term;
}

export function withClient(world: World, at: number, changes: Partial<Client>): World {
  const clients = world.clients.map((client, each) => (each === at ? { ...client, ...changes } : client));
  return { ...world, clients: clients as unknown as World["clients"] };
}

/** leaseClock.ts, `#look`: a timer that runs stays, as long as it is for the same. */
export function lookAtLease(model: Model, leader: Leader, store: number, now: number): Leader {
  const office = officeOf(model, leader);
  const heardMs = model.stores.sessions.map((session) => office.silentSinceMs(session));
  const next = model.timers.started(store, leader.term, now, heardMs);
  const { timer } = leader;
  if (next?.what === timer?.what && next?.term === timer?.term) return leader;
  return { ...leader, timer: next };
}

function checkGrant(model: Model, before: number, after: number): void {
  const [old, next] = [model.stores.grant(before), model.stores.grant(after)];
  if (next.term < old.term || (next.term === old.term && next.holder !== 0 && next.holder !== old.holder)) {
    throw new LeaseViolation("terms rise with every grant");
  }
}

/** Until then its client may believe, by a renewal that was confirmed. */
function checkEnds(model: Model, world: World, after: number): void {
  for (const [client, { confirmed: sent }] of world.clients.entries()) {
    const { session } = { session: model.stores.session(after, client) };
    if (session !== undefined || model.stores.session(world.store, client) === undefined) continue;
    model.marks.add("an expiry");
    if (sent >= 0 && model.holders[client]!.passes(sent, world.now)) {
      throw new LeaseViolation("an expiry ends no session whose confirmed deadline has not passed");
    }
  }
}
