/**
 * Places in queues, grants, and their ends. No command is decided here: leases.ts and sessionEnds.ts say what happens
 * to which acquisition, and `settleQueues`, called once at the end of an entry, grants what has become free.
 *
 * A waiter for several names is granted when it is the first in each of their queues and all of them are free. All
 * queues have one order, so such waiters never wait for each other in a circle.
 */
import { type ByteString, type GrantEnd, maxIdleLeases } from "@quorate/client/protocol";
import { type Change, raisedRevision } from "./change.ts";
import { type Acquisition, comesBefore, isSame, type LeaseState } from "./leaseState.ts";
import { forgetPast, isUnclean, pastWith } from "./pastGrants.ts";
import { sessionToChange } from "./sessionToChange.ts";
import type { StoreState } from "./storeState.ts";

export function leaseOf(state: Pick<StoreState, "leases">, name: ByteString): LeaseState {
  const known = state.leases.get(name);
  if (known !== undefined) return known;
  return { name, term: 0, transitions: 0, changed: 0, grant: undefined, queue: [], delayMs: 0, past: [] };
}

/** Nobody holds it or waits for it. */
export function isFree({ grant, queue, delayMs }: LeaseState): boolean {
  return grant === undefined && delayMs === 0 && queue.length === 0;
}

/** Takes its place in the queue of each of its names; `settleQueues` grants it where it is the first of all. */
export function enqueue(change: Change, acquisition: Acquisition): void {
  for (const name of acquisition.names) {
    const lease = leaseOf(change.state, name);
    // Only here one that rests is taken up again: all else happens to those that are held, waited for, or delayed.
    change.state.idleLeases.delete(idleKey(lease));
    const at = firstAfter(lease.queue, acquisition);
    update(change, { ...lease, queue: lease.queue.toSpliced(at, 0, acquisition) });
  }
  keep(change, acquisition);
}

/** Something of it is different, but not whether it waits or holds. */
export function replaceGrant(change: Change, acquisition: Acquisition): void {
  for (const name of acquisition.names) {
    update(change, { ...leaseOf(change.state, name), grant: acquisition });
  }
  keep(change, acquisition);
}

/** Its place or its grant goes; after an unclean end its lock delay runs. */
export function drop(change: Change, acquisition: Acquisition, end: GrantEnd): void {
  forget(change, acquisition);
  for (const name of acquisition.names) {
    const lease = leaseOf(change.state, name);
    if (isSame(lease.grant, acquisition)) {
      const delayMs = isUnclean(end) ? acquisition.lockDelayMs : 0;
      const past = pastWith(change.state, lease, acquisition, end);
      update(change, { ...lease, grant: undefined, delayMs, past });
      change.ended.push({ name, end });
    } else {
      update(change, { ...lease, queue: lease.queue.filter((place) => !isSame(place, acquisition)) });
    }
  }
}

/** All of them at once: a queue is gone through once, however many of its places go. */
export function dropAll(change: Change, gone: readonly Acquisition[], end: GrantEnd): void {
  const places = new Map<ByteString, Set<number>>();
  for (const acquisition of gone) {
    if (acquisition.term > 0) {
      drop(change, acquisition, end);
      continue;
    }
    forget(change, acquisition);
    for (const name of acquisition.names) {
      const tickets = places.get(name) ?? new Set();
      places.set(name, tickets.add(acquisition.ticket));
    }
  }
  for (const [name, tickets] of places) {
    const lease = leaseOf(change.state, name);
    update(change, { ...lease, queue: lease.queue.filter(({ ticket }) => !tickets.has(ticket)) });
  }
}

export function endDelay(change: Change, lease: LeaseState): void {
  update(change, { ...lease, delayMs: 0 });
}

/** Grants what can be granted, and forgets what nobody has an interest in any more. */
export function settleQueues(change: Change): void {
  const { state, touched } = change;
  if (touched.size === 0) return;
  for (const name of [...touched].sort()) grantNext(change, leaseOf(state, name));
  for (const name of touched) {
    const lease = leaseOf(state, name);
    if (isFree(lease)) rest(state, lease);
  }
  while (state.idleLeases.size > maxIdleLeases) {
    const [key, name] = state.idleLeases.getPairOrNextHigher("") as [ByteString, ByteString];
    state.idleLeases.delete(key);
    forgetPast(state, leaseOf(state, name));
    state.leases.delete(name);
  }
}

/** As if each of them had been touched: what kept all of them from being granted is over. */
export function settleAll({ state, touched }: Change): void {
  for (const [name, { queue }] of state.leases.entries()) if (queue.length > 0) touched.add(name);
}

/** By when it was last changed, then by name: those of one entry are forgotten in an order, too. */
export function idleKey({ name, changed }: LeaseState): ByteString {
  return String(changed).padStart(16, "0") + name;
}

/** Nobody has an interest in it; what was granted once is remembered for a while. */
function rest(state: StoreState, lease: LeaseState): void {
  if (lease.term > 0) state.idleLeases.set(idleKey(lease), lease.name);
  else state.leases.delete(lease.name);
}

/** Nothing keeps it from being granted: it is the first in each of its queues. */
export function isItsTurn(state: Pick<StoreState, "leases" | "graceMs">, waiter: Acquisition): boolean {
  if (state.graceMs > 0) return false;
  return waiter.names.every((name) => {
    const { grant, delayMs, queue } = leaseOf(state, name);
    return grant === undefined && delayMs === 0 && isSame(queue[0], waiter);
  });
}

function grantNext(change: Change, { queue }: LeaseState): void {
  const first = queue[0];
  if (first === undefined || !isItsTurn(change.state, first)) return;
  const leases = first.names.map((name) => leaseOf(change.state, name));
  // Whoever is granted by its own acquire learns it by the answer, and has nothing to claim.
  const grant: Acquisition = {
    ...first,
    term: raisedRevision(change),
    claimed: first.ticket === change.index,
  };
  for (const lease of leases) {
    update(change, {
      ...lease,
      term: grant.term,
      transitions: lease.transitions + 1,
      grant,
      queue: lease.queue.slice(1),
    });
  }
  keep(change, grant);
}

function firstAfter(queue: readonly Acquisition[], acquisition: Acquisition): number {
  let [low, high] = [0, queue.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (comesBefore(queue[middle] as Acquisition, acquisition)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function update({ state, index, touched }: Change, lease: LeaseState): void {
  state.leases.set(lease.name, { ...lease, changed: index });
  touched.add(lease.name);
}

function keep(change: Change, acquisition: Acquisition): void {
  const session = sessionToChange(change.state, acquisition.session);
  if (session === undefined) return;
  session.acquisitions.set(acquisition.sequence, acquisition);
  session.version = change.index;
  change.sessions.add(acquisition.session);
}

function forget(change: Change, acquisition: Acquisition): void {
  const session = sessionToChange(change.state, acquisition.session);
  if (session === undefined) return;
  session.acquisitions.delete(acquisition.sequence);
  session.version = change.index;
  change.sessions.add(acquisition.session);
}
