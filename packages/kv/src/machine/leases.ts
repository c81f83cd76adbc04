/**
 * The commands about leases: acquire, cancel, claim, release, describe, break, handover, and what the leader's timers
 * say. Here is decided who holds what; queues and grants are kept in leaseQueues.ts.
 *
 * Whatever names a term touches that grant and no other.
 */
import {
  boundedEntries,
  type CommandResult,
  type LeaseAt,
  type LeaseCommand,
  type LeaseDue,
  maxAcquisitionsOfSession,
  maxLeases,
  maxPlacesOfName,
  plainCandidacy,
  sessionWindow,
} from "@quorate/client/protocol";
import type { Change } from "./change.ts";
import { keepAnswer } from "./exactlyOnce.ts";
import { drop, endDelay, enqueue, isFree, leaseOf, replaceGrant, settleQueues } from "./leaseQueues.ts";
import { type Acquisition, isBetter, type LeaseState, type Rank } from "./leaseState.ts";
import { endBroken } from "./sessions.ts";
import { sessionToChange } from "./sessionToChange.ts";
import type { SessionState } from "./storeState.ts";

type Acquire = Extract<LeaseCommand, { kind: "acquireLease" }>;
type Describe = Extract<LeaseCommand, { kind: "describeLease" }>;
type Break = Extract<LeaseCommand, { kind: "breakLease" }>;
interface Sender {
  readonly id: number;
  readonly sequence: number;
  readonly session: SessionState;
}

const cancelled: CommandResult = { kind: "acquireCancelled" };
const beyondWindow: CommandResult = { kind: "beyondWindow" };

export function acquireLease(change: Change, command: Acquire): CommandResult {
  const sender = senderOf(change);
  if (sender === undefined) return sessionNeeded;
  const leases = command.names.map((name) => leaseOf(change.state, name));
  const reason = fullness(change, sender.session, leases);
  if (reason !== undefined) return { kind: "refused", reason };
  if (!command.wait) {
    if (change.state.graceMs > 0) return { kind: "gracePeriod", forMs: change.state.graceMs };
    const at = leases.findIndex((lease) => !isFree(lease));
    if (at >= 0) return unavailable(at, leases[at] as LeaseState);
  }
  const { names, priority, holder, data, format, lockDelayMs, candidate = plainCandidacy } = command;
  enqueue(change, {
    session: sender.id,
    sequence: sender.sequence,
    ticket: change.index,
    names,
    priority,
    candidate,
    holder,
    data,
    format,
    lockDelayMs,
    term: 0,
    claimed: false,
    ending: "none",
    breakAfterMs: undefined,
    handover: false,
  });
  const rank = { priority, candidate };
  if (command.preempts === true) preempt(change, names, rank);
  settleQueues(change);
  const { term } = sender.session.acquisitions.get(sender.sequence) as Acquisition;
  if (term > 0) return { kind: "leaseGranted", term };
  if (command.asksHandover) {
    for (const grant of grantsOf(change, names)) if (isBetter(rank, grant)) ask(change, grant);
  }
  return { kind: "leaseQueued", ahead: ahead(change, command) };
}

/** Also where the acquire has not arrived: then this is its answer. */
export function cancelAcquire(change: Change, sequence: number): CommandResult {
  const sender = senderOf(change);
  if (sender === undefined) return sessionNeeded;
  const { acquisitions, answers, ackedBelow } = sender.session;
  if (sequence - ackedBelow >= sessionWindow) return beyondWindow;
  if (sequence >= ackedBelow && !answers.has(sequence)) keepAnswer(sender.session, sequence, cancelled);
  const acquisition = acquisitions.get(sequence);
  if (acquisition !== undefined) drop(change, acquisition, "cancelled");
  return cancelled;
}

export function claimLease(change: Change, lease: LeaseAt): CommandResult {
  return ofHolder(change, lease, (grant) => {
    if (!grant.claimed) replaceGrant(change, { ...grant, claimed: true });
  });
}

export function releaseLease(change: Change, lease: LeaseAt): CommandResult {
  return ofHolder(change, lease, (grant) => drop(change, grant, "released"));
}

/** As the leader's timers would end it later: its holder stopped when it lost it, wherever it was. */
export function loseLease(change: Change, lease: LeaseAt): CommandResult {
  return ofHolder(change, lease, (grant) =>
    drop(change, grant, grant.ending === "none" ? "lost" : grant.ending),
  );
}

export function describeLease(change: Change, { lease, data, format }: Describe): CommandResult {
  return ofHolder(change, lease, (grant) => replaceGrant(change, { ...grant, data, format }));
}

export function breakLease(change: Change, { name, afterMs, force }: Break): CommandResult {
  const lease = leaseOf(change.state, name);
  const { grant } = lease;
  if (grant === undefined) {
    if (lease.delayMs === 0) return { kind: "leaseNotHeld", term: 0 };
    endDelay(change, lease);
    return { kind: "leaseDone", term: lease.term };
  }
  // A grant that is not claimed is believed by nobody.
  if (force || !grant.claimed) {
    drop(change, grant, "forced");
    if (force) endBroken(change, grant.session);
  } else if (grant.ending === "none") {
    if (afterMs === 0) replaceGrant(change, { ...grant, ending: "revoked" });
    else replaceGrant(change, { ...grant, breakAfterMs: afterMs, handover: true });
  }
  return { kind: "leaseDone", term: grant.term };
}

export function requestHandover(change: Change, name: string): CommandResult {
  const { grant } = leaseOf(change.state, name);
  if (grant === undefined) return { kind: "leaseNotHeld", term: 0 };
  ask(change, grant);
  return { kind: "leaseDone", term: grant.term };
}

export function leaseDue(change: Change, { what, name, term }: LeaseDue): void {
  const lease = leaseOf(change.state, name);
  const { grant } = lease;
  if (what === "grant") {
    if (change.state.version >= boundedEntries) change.touched.add(name);
    return;
  }
  if (what === "endDelay") {
    if (lease.term === term && lease.delayMs > 0) endDelay(change, lease);
    return;
  }
  if (grant === undefined || grant.term !== term) return;
  if (what === "passOn" && !grant.claimed) drop(change, grant, "unclaimed");
  if (what === "finish" && grant.ending !== "none") drop(change, grant, grant.ending);
  if (what === "revoke" && grant.breakAfterMs !== undefined && grant.ending === "none") {
    replaceGrant(change, { ...grant, ending: "revoked" });
  }
}

const sessionNeeded: CommandResult = {
  kind: "malformed",
  reason: "The command is malformed: it is about a lease of a session, and names none.",
};

function senderOf({ state, sender }: Change): Sender | undefined {
  const session = sender === undefined ? undefined : sessionToChange(state, sender.session);
  if (sender === undefined || session === undefined) return undefined;
  return { id: sender.session, sequence: sender.sequence, session };
}

/** Does it to the sender's grant of that name and term. */
function ofHolder(change: Change, { name, term }: LeaseAt, run: (grant: Acquisition) => void): CommandResult {
  const sender = senderOf(change);
  if (sender === undefined) return sessionNeeded;
  const { grant } = leaseOf(change.state, name);
  if (grant === undefined || grant.term !== term || grant.session !== sender.id) {
    return { kind: "leaseNotHeld", term: grant?.term ?? 0 };
  }
  run(grant);
  return { kind: "leaseDone", term };
}

function ask(change: Change, grant: Acquisition): void {
  if (!grant.handover) replaceGrant(change, { ...grant, handover: true });
}

/** Those who hold some of the names, each once. */
function grantsOf({ state }: Change, names: Acquire["names"]): ReadonlySet<Acquisition> {
  const grants = names.map((name) => leaseOf(state, name).grant);
  return new Set(grants.filter((grant) => grant !== undefined));
}

/** All who are in its way, or nobody: it would not be granted anything for it otherwise. */
function preempt(change: Change, names: Acquire["names"], rank: Rank): void {
  const grants = [...grantsOf(change, names)];
  if (!grants.every((grant) => isBetter(rank, grant))) return;
  for (const grant of grants) {
    // As in a break: one that is not claimed is believed by nobody.
    if (!grant.claimed) drop(change, grant, "unclaimed");
    else if (grant.ending === "none") replaceGrant(change, { ...grant, ending: "preempted", handover: true });
  }
}

function unavailable(at: number, { grant }: LeaseState): CommandResult {
  return { kind: "leaseUnavailable", at, term: grant?.term ?? 0, holder: grant?.holder ?? "" };
}

/** How many come before it, in the queue where it has the most before it. */
function ahead({ state, index }: Change, { names }: Acquire): number {
  return Math.max(
    ...names.map((name) => {
      const { grant, queue } = leaseOf(state, name);
      return queue.findIndex(({ ticket }) => ticket === index) + (grant === undefined ? 0 : 1);
    }),
  );
}

function fullness(
  { state }: Change,
  session: SessionState,
  leases: readonly LeaseState[],
): string | undefined {
  if (session.acquisitions.size >= maxAcquisitionsOfSession) {
    return `The session holds or waits for ${maxAcquisitionsOfSession} leases, its limit. Release some.`;
  }
  const unknown = leases.filter(({ name }) => !state.leases.has(name)).length;
  if (state.leases.size + unknown > maxLeases) {
    return `The store knows ${state.leases.size} leases; its limit is ${maxLeases}. Wait until some are released.`;
  }
  if (leases.some(({ queue }) => queue.length >= maxPlacesOfName)) {
    return `${maxPlacesOfName} wait for the lease, its limit. Try again when some have gone.`;
  }
  return undefined;
}
