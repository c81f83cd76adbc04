/**
 * Drives the core: inbox → batch → step → effects. One turn takes everything that has arrived, steps the core through
 * it, and carries out the effects once: one frame a peer, one write at a time.
 *
 *   inbox ──▶ turn: step, step, step … ──▶ effects ──▶ transport, log store, applier, waiters
 *               ▲                                          │
 *               └────── persisted, loaded, applied ◀───────┘
 *
 * It decides nothing about Raft.
 */
import {
  asIndex,
  type CoreOptions,
  cachedEntries,
  createState,
  type Effects,
  type Event,
  type Index,
  type Load,
  type MemberId,
  type MembershipView,
  type Message,
  newestConfiguration,
  type Persist,
  type RaftState,
  type RestoredState,
  type RoleChange,
  step,
  takeEffects,
} from "../core/index.ts";
import type { Cancel, Clock, LogStore, StateMachine } from "../ports/index.ts";
import { Applier } from "./applier.ts";
import type { MembershipWaiters } from "./membershipWaiters.ts";
import type { Waiters } from "./waiters.ts";

/** Sees each step as it happens. For simulators and traces; must not change what it is shown. */
export interface CoreObserver {
  started?(state: RaftState): void;
  stepped?(state: RaftState, event: Event, nowMs: number): void;
  effectsTaken?(state: RaftState, effects: Effects): void;
}

export interface DriverPorts<Result> {
  readonly clock: Clock;
  readonly log: LogStore;
  readonly machine: StateMachine<Result>;
  readonly waiters: Waiters<Result>;
  readonly memberships: MembershipWaiters;
  readonly observer: CoreObserver;
  send(to: MemberId, messages: readonly Message[]): void;
  roleChanged(change: RoleChange): void;
  membershipChanged(view: MembershipView): void;
  /** A write, a read of the log, the state machine or an invariant failed: the node must stop. */
  failed(error: unknown): void;
}

export class CoreDriver<Result> {
  readonly state: RaftState;
  readonly #ports: DriverPorts<Result>;
  readonly #applier: Applier;
  #inbox: Event[] = [];
  #turnDue = false;
  #stopped = false;
  #cancelTimer: Cancel | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #reportedAppliedIndex: Index;

  constructor(options: CoreOptions, restored: RestoredState, ports: DriverPorts<Result>) {
    this.#ports = ports;
    this.state = createState(options, restored, ports.clock.nowMs());
    this.#reportedAppliedIndex = restored.boundary.index;
    this.#applier = new Applier(restored.boundary.index, {
      cached: (from, to, maxBytes) => cachedEntries(this.state, from, to, maxBytes),
      read: (from, to, maxBytes) => ports.log.read(from, this.#lastOnDisk(to), maxBytes),
      apply: (entry) => ports.waiters.entryApplied(entry.index, entry.term, ports.machine.apply(entry)),
      applied: (upTo) => ports.waiters.appliedUpTo(upTo),
      defer: (fn) => ports.clock.defer(fn),
      failed: (error) => this.#fail(error),
    });
    ports.observer.started?.(this.state);
    this.#arrangeTurn();
  }

  get appliedIndex(): Index {
    return this.#applier.appliedIndex;
  }

  /** How many events wait for the next turn. */
  get backlog(): number {
    return this.#inbox.length;
  }

  push(event: Event): void {
    if (this.#stopped) return;
    this.#inbox.push(event);
    this.#arrangeTurn();
  }

  stop(): void {
    this.#stopped = true;
    this.#inbox = [];
    this.#cancelTimer?.();
    this.#applier.stop();
  }

  #arrangeTurn(): void {
    if (this.#turnDue) return;
    this.#turnDue = true;
    this.#ports.clock.defer(() => this.#turn());
  }

  #turn(): void {
    this.#turnDue = false;
    if (this.#stopped) return;
    const events = this.#inbox;
    this.#inbox = [];
    // Read after the inbox was taken: read before, an arrival could be stamped earlier than it was sent.
    const nowMs = this.#ports.clock.nowMs();
    try {
      for (const event of events) this.#step(event, nowMs);
      if (this.#applier.appliedIndex > this.#reportedAppliedIndex) {
        this.#reportedAppliedIndex = this.#applier.appliedIndex;
        this.#step({ kind: "applied", upTo: this.#reportedAppliedIndex }, nowMs);
      }
      // Last, so that no timeout is acted on before what had already arrived.
      if (nowMs >= this.#timerAtMs) {
        this.#timerAtMs = Number.POSITIVE_INFINITY;
        this.#step({ kind: "tick" }, nowMs);
      }
      this.#perform(takeEffects(this.state), nowMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #step(event: Event, nowMs: number): void {
    step(this.state, event, nowMs);
    this.#ports.observer.stepped?.(this.state, event, nowMs);
  }

  #perform(effects: Effects, nowMs: number): void {
    const { observer, waiters, memberships } = this.#ports;
    observer.effectsTaken?.(this.state, effects);
    for (const outcome of effects.proposals) waiters.proposalAnswered(outcome);
    for (const outcome of effects.memberships) memberships.answered(outcome);
    // Before the role: a leader that committed its own removal steps down in the same turn.
    memberships.progressed(newestConfiguration(this.state.log), effects.commitIndex);
    if (effects.membership !== undefined) this.#ports.membershipChanged(effects.membership);
    if (effects.roleChange !== undefined) {
      if (effects.roleChange.role !== "leader") {
        waiters.leadershipLost(effects.commitIndex);
        memberships.leadershipLost();
      }
      this.#ports.roleChanged(effects.roleChange);
    }
    for (const outcome of effects.transfers) waiters.transferAnswered(outcome);
    this.#send(effects);
    if (effects.persist !== undefined) this.#persist(effects.persist);
    for (const load of effects.loads) this.#load(load);
    this.#applier.advance(effects.commitIndex);
    for (const outcome of effects.reads) waiters.readAnswered(outcome, this.#applier.appliedIndex);
    this.#armTimer(effects.nextDeadlineMs, nowMs);
  }

  #send(effects: Effects): void {
    if (effects.send.length === 0) return;
    const frames = new Map<MemberId, Message[]>();
    for (const { to, message } of effects.send) {
      const frame = frames.get(to);
      if (frame === undefined) frames.set(to, [message]);
      else frame.push(message);
    }
    for (const [to, messages] of frames) this.#ports.send(to, messages);
  }

  #persist(persist: Persist): void {
    this.#ports.log.write(persist).then(
      () => this.push({ kind: "persisted", sequence: persist.sequence }),
      (error: unknown) => this.#fail(error),
    );
  }

  #load(load: Load): void {
    this.#ports.log.read(load.from, asIndex(load.to), load.maxBytes).then(
      (entries) => this.push({ kind: "loaded", load, entries }),
      (error: unknown) => this.#fail(error),
    );
  }

  /**
   * Beyond the durable index the disk may still hold what another leader once sent: a follower can know that an entry
   * is committed before it has written it.
   */
  #lastOnDisk(to: Index): Index {
    return asIndex(Math.min(to, this.state.disk.durableIndex));
  }

  #armTimer(deadlineMs: number, nowMs: number): void {
    if (this.#cancelTimer !== undefined) {
      // A timer that is due earlier than needed fires once for nothing, which is cheaper than arming anew each turn.
      if (this.#timerAtMs <= deadlineMs) return;
      this.#cancelTimer();
    }
    this.#timerAtMs = deadlineMs;
    this.#cancelTimer = this.#ports.clock.after(Math.max(0, Math.ceil(deadlineMs - nowMs)), () => {
      this.#cancelTimer = undefined;
      this.#arrangeTurn();
    });
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#ports.failed(error);
  }
}
