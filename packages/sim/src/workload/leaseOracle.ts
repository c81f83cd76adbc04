/**
 * What clients believe to hold, held against what the log says of their leases, and against each other.
 *
 * The log's order is the truth about grants; a client's belief is its own clock's. At no instant of true time do two
 * believe in one lease, and none ends in the log while its holder still may: but after a break by force, and while some
 * clock is further off than leases allow for. Then only fencing protects, which is checked always.
 */
import type { Lease } from "@quorate/client";
import { type Command, type CommandResult, decodeProposal, type LeaseAt } from "@quorate/client/protocol";
import type { Acquisition, LeaseState, StoreState } from "@quorate/kv/machine";
import { type Entry, QuorateError } from "@quorate/raft";
import type { History } from "../invariants/history.ts";
import type { ClockBound } from "../world/clockBound.ts";
import type { SimulatedProcess } from "../world/process.ts";

/** A lease that a client was given, and who has it. */
export interface Held {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly lease: Lease;
  readonly ttlMs: number;
  /** When anything was last sent by the process, on its own clock. */
  readonly sentMs: () => number;
}

/** What was seen of a belief when it was looked at last, by its holder's clock. */
interface Belief extends Held {
  deadlineMs: number;
  /** `bootMs` less `nowMs`: it grows while the machine sleeps, and its timers with it. */
  readonly sleptMs: number;
  /** Since when the time is over and the signal silent, though the process runs. */
  silentSinceMs: number | undefined;
}

/** After its deadline, of a process that runs: what wakes up may take its events in any order. */
const signalWithinMs = 5;

export const leaseNames = ["x", "y"] as const;

/** Why something became free, by the command that ended it. */
const passedOn: Partial<Record<Command["kind"], string>> = {
  releaseLease: "lease passed on by a release",
  loseLease: "lease passed on by a holder that lost it",
  cancelAcquire: "lease passed on by a cancel",
  closeSession: "lease passed on by a session that was closed",
  expireSessions: "lease passed on by an expiry",
  breakLease: "lease passed on by a break",
  leasesDue: "lease passed on by a timer of the leader",
};

export class LeaseOracle {
  private readonly history: History;
  private readonly bound: ClockBound;
  /** Each lease as of the entry before. */
  private readonly known = new Map<string, LeaseState>();
  private readonly forced = new Set<number>();
  private readonly fencedOnce = new Set<string>();
  private believed: Belief[] = [];

  constructor(history: History, bound: ClockBound) {
    this.history = history;
    this.bound = bound;
  }

  /** An entry was applied for the first time. False: it is a write of a key, which is the store's oracle's too. */
  applied(entry: Entry, result: CommandResult, state: StoreState): boolean {
    if (entry.kind !== "command") return true;
    const decoded = decodeProposal(entry.data);
    if (decoded.kind !== "proposal") return true;
    const { command, origin } = decoded.proposal;
    if (command.kind === "put") {
      const id = origin.kind === "session" ? `${origin.session} ${origin.sequence}` : `entry ${entry.index}`;
      if (command.fence !== undefined) this.wroteFenced(command.fence, result, id);
      return false;
    }
    markCommand(this.history, command, result);
    for (const name of leaseNames) {
      const now = state.leases.get(name);
      if (now === undefined || now.changed !== entry.index) continue;
      const before = this.known.get(name);
      this.known.set(name, now);
      this.changed(name, before, now, command);
    }
    return true;
  }

  /** A client has it in hand from now on. */
  given(held: Held): void {
    const { lease, process } = held;
    const { clock } = process;
    const deadlineMs = clock.bootMs() + lease.remainingMs();
    const sleptMs = clock.bootMs() - clock.nowMs();
    this.believed.push({ ...held, deadlineMs, sleptMs, silentSinceMs: undefined });
    for (const name of lease.names) {
      const inForce = this.known.get(name)?.grant?.term;
      if (inForce !== lease.term) this.endedUnder(held, name, `term ${inForce ?? "none"} is in force`);
    }
    this.look();
  }

  /** Its holder asks before it writes, as each should. */
  asked(lease: Lease): void {
    const leftMs = lease.remainingMs();
    const remainingMs = passes(lease);
    this.history.require(
      remainingMs <= leftMs,
      "lease deadline",
      () => `check() passes for ${remainingMs} ms, ${leftMs} of which are left`,
    );
  }

  /** After an event: belief can only begin with one. */
  look(): void {
    if (this.believed.length === 0) return;
    this.believed = this.believed.filter(
      ({ lease, process }) => process.isAlive && lease.status !== "lost" && lease.status !== "released",
    );
    for (const belief of this.believed) this.lookAtBelief(belief);
    if (this.believed.length > 1) for (const name of leaseNames) this.lookAt(name);
  }

  private lookAtBelief(belief: Belief): void {
    const { lease, process } = belief;
    const nowMs = process.clock.bootMs();
    const remainingMs = lease.remainingMs();
    if (remainingMs === 0) {
      this.lookAtSignal(belief);
      return;
    }
    belief.silentSinceMs = undefined;
    this.history.require(
      nowMs + remainingMs <= belief.sentMs() + belief.ttlMs,
      "lease deadline",
      () =>
        `${wordsOf(belief)} for ${remainingMs} ms more, which is beyond a TTL after it last sent anything`,
    );
    this.history.require(
      nowMs <= belief.deadlineMs,
      "lease deadline",
      () => `${wordsOf(belief)} again, ${nowMs - belief.deadlineMs} ms after its deadline`,
    );
    belief.deadlineMs = nowMs + remainingMs;
  }

  /** Timers of a machine that slept are late by that: then only `check()` knows. */
  private lookAtSignal(belief: Belief): void {
    const { process } = belief;
    const { clock } = process;
    const { nowMs } = this.history.timeline;
    if (process.isPaused || clock.bootMs() - clock.nowMs() > belief.sleptMs) {
      belief.silentSinceMs = undefined;
      return;
    }
    belief.silentSinceMs ??= nowMs;
    this.history.require(
      nowMs - belief.silentSinceMs <= signalWithinMs,
      "lease deadline",
      () => `${wordsOf(belief)} by its signal, after its deadline`,
    );
  }

  private lookAt(name: string): void {
    const believers = this.believed.filter(
      ({ lease }) => lease.names.includes(name) && lease.remainingMs() > 0,
    );
    if (believers.length < 2) return;
    if (believers.some(({ lease }) => this.forced.has(lease.term))) {
      this.history.mark("two believers after a forced break");
      return;
    }
    const ttlMs = Math.max(...believers.map((held) => held.ttlMs));
    this.failWithinBound(ttlMs, () => `${believers.map(wordsOf).join(", and ")}, at once`);
  }

  private changed(name: string, before: LeaseState | undefined, now: LeaseState, command: Command): void {
    const { history } = this;
    const old = before?.grant;
    const { grant } = now;
    const oldTerm = before?.term ?? 0;
    const isAnother = grant !== undefined && grant.ticket !== old?.ticket;
    history.require(
      isAnother ? now.term > oldTerm && grant.term === now.term : now.term === oldTerm,
      "lease terms rise",
      () => `${name} is granted under term ${now.term}, after ${oldTerm}`,
    );
    if (old !== undefined && grant?.ticket !== old.ticket) this.ended(name, old, command);
    if (isAnother) {
      if (grant.claimed) history.mark("lease granted at once");
      else history.mark(passedOn[command.kind] ?? `lease granted by ${command.kind}`);
    } else if (grant !== undefined && old !== undefined) {
      if (grant.claimed && !old.claimed) history.mark("lease claimed");
      if (grant.ending !== "none" && old.ending === "none") history.mark("lease ending");
      if (grant.handover && !old.handover) history.mark("lease asked for by another");
    }
    if (now.delayMs > 0) history.mark("lease delayed after an unclean loss");
  }

  private ended(name: string, old: Acquisition, command: Command): void {
    if (!old.claimed) this.history.mark("lease ended before it was claimed");
    const held = this.believed.find(({ lease }) => lease.term === old.term && lease.names.includes(name));
    if (command.kind === "breakLease" && command.force) this.forced.add(old.term);
    else if (held !== undefined) this.endedUnder(held, name, `${command.kind} ended it`);
  }

  private endedUnder(held: Held, name: string, how: string): void {
    const { lease, process, ttlMs } = held;
    if (!process.isAlive || lease.remainingMs() === 0 || this.forced.has(lease.term)) return;
    this.failWithinBound(ttlMs, () => `${wordsOf(held)}, though of ${name} ${how}`);
  }

  /** What a clock that was wrong has brought about shows within a TTL. */
  private failWithinBound(ttlMs: number, sentence: () => string): void {
    if (this.bound.holdsSince(this.history.timeline.nowMs - 2 * ttlMs)) {
      this.history.fail("lease exclusion", sentence());
    } else this.history.mark("lease overlap with clocks out of bound");
  }

  private wroteFenced(fence: LeaseAt, result: CommandResult, id: string): void {
    // The answer to a repetition tells what was so the first time.
    if (this.fencedOnce.has(id)) return;
    this.fencedOnce.add(id);
    const grant = this.known.get(fence.name)?.grant;
    const inForce = grant?.claimed === true ? grant.term : undefined;
    if (result.kind === "staleFence") this.history.mark("fenced write refused");
    if (result.kind === "put") this.history.mark("fenced write taken");
    this.history.require(
      result.kind === "put" ? inForce === fence.term : result.kind !== "staleFence" || inForce !== fence.term,
      "fencing",
      () =>
        `a write under term ${fence.term} of ${fence.name} was answered ${result.kind}, ` +
        `though ${inForce === undefined ? "nobody held it" : `term ${inForce} was in force`}`,
    );
  }
}

/** How long `check()` lets its holder go on; 0: it throws. */
function passes(lease: Lease): number {
  try {
    return lease.check().remainingMs;
  } catch (error) {
    if (error instanceof QuorateError && error.code === "LEASE_LOST") return 0;
    throw error;
  }
}

function markCommand(history: History, command: Command, result: CommandResult): void {
  if (result.kind === "acquireCancelled") history.mark("acquire cancelled");
  if (result.kind === "leaseQueued") history.mark("acquire queued");
  if (result.kind === "leaseUnavailable") history.mark("acquire refused: not free");
  if (result.kind === "leaseNotHeld") history.mark(`${command.kind} of a grant that was over`);
  if (command.kind === "markSilence") history.mark("silence of a session logged");
  if (command.kind === "renewSessions") history.mark("renewal logged, over a silence mark");
  if (command.kind === "expireSessions") history.mark("sessions expired");
  if (command.kind === "leasesDue") for (const { what } of command.due) history.mark(`lease timer ${what}`);
}

function wordsOf({ lease, name }: Held): string {
  return `${name} believes in ${lease.names.join(" and ")} under term ${lease.term}`;
}
