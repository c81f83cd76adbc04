/**
 * Drives the core: inbox → batch → step → effects. One turn takes everything that has arrived, steps the core through
 * it, and carries out the effects once: one frame a peer, one write at a time.
 *
 *   inbox ──▶ turn: step, step, step … ──▶ effects ──▶ transport, log store, applier, waiters, snapshots
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
  type Envelope,
  type Event,
  type Index,
  type Load,
  type MemberId,
  type MembershipView,
  type Message,
  type Persist,
  type RaftState,
  type RestoredState,
  type RoleChange,
  step,
  takeEffects,
} from "../core/index.ts";
import { type Cancel, type Clock, isSnapshotting, type LogStore, type StateMachine } from "../ports/index.ts";
import { Applier } from "./applier.ts";
import type { MembershipWaiters } from "./membershipWaiters.ts";
import type { ResolvedRaftOptions } from "./options.ts";
import type { ReadPoint } from "./raftNode.ts";
import type { SnapshotEvent } from "./snapshotEvents.ts";
import { SnapshotWork } from "./snapshotWork.ts";
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
  readonly options: ResolvedRaftOptions;
  snapshotEvent(event: SnapshotEvent): void;
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
  /** Undefined where the machine keeps its whole log. */
  readonly #snapshots: SnapshotWork | undefined;
  #inbox: Event[] = [];
  /** What the inbox asks for those that read. */
  #nextRead: Promise<ReadPoint> | undefined;
  #turnDue = false;
  #stopped = false;
  #cancelTimer: Cancel | undefined;
  /** When the timer that runs is due; never after the deadline. */
  #timerAtMs = Number.POSITIVE_INFINITY;
  /** When the core wants to be stepped. */
  #deadlineMs = Number.POSITIVE_INFINITY;
  #reportedAppliedIndex: Index;
  readonly #runTurn = (): void => this.#turn();

  /** The machine has the state of the restored snapshot, if there is one. */
  constructor(options: CoreOptions, restored: RestoredState, ports: DriverPorts<Result>) {
    this.#ports = ports;
    this.state = createState(options, restored, ports.clock.nowMs());
    this.#reportedAppliedIndex = this.state.appliedIndex;
    this.#snapshots = this.#snapshotWork();
    this.#applier = new Applier(this.state.appliedIndex, {
      cached: (from, to, maxBytes) => cachedEntries(this.state, from, to, maxBytes),
      read: (from, to, maxBytes) => ports.log.read(from, this.#lastOnDisk(to), maxBytes),
      apply: (entry) => {
        ports.waiters.entryApplied(entry.index, entry.term, ports.machine.apply(entry));
        this.#snapshots?.applied(entry.data.length);
      },
      applied: (upTo) => ports.waiters.appliedUpTo(upTo),
      defer: (fn) => ports.clock.defer(fn),
      nowMs: () => ports.clock.nowMs(),
      failed: (error) => this.#fail(error),
    });
    ports.observer.started?.(this.state);
    this.#arrangeTurn();
  }

  #snapshotWork(): SnapshotWork | undefined {
    const { machine, waiters, ...ports } = this.#ports;
    if (!isSnapshotting(machine)) return undefined;
    return new SnapshotWork({
      clock: ports.clock,
      log: ports.log,
      options: ports.options,
      machine,
      state: this.state,
      push: (event) => this.push(event),
      hold: () => this.#applier.hold(),
      resume: ({ boundary: { index } }) => {
        waiters.swallowed(index);
        this.#reportedAppliedIndex = index;
        this.#applier.resumeAt(index);
      },
      emit: (event) => ports.snapshotEvent(event),
      failed: (error) => this.#fail(error),
    });
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

  /**
   * All that ask before the turn that takes the question in share it, unless a signal of their own may end it. Whoever
   * comes later asks anew: the index of that turn may be older than what was committed when they asked.
   */
  readIndex(signal: AbortSignal | undefined): Promise<ReadPoint> {
    if (signal === undefined && this.#nextRead !== undefined) return this.#nextRead;
    const read = this.#ports.waiters.read(signal, (id) => this.push({ kind: "readRequested", id }));
    if (signal === undefined) this.#nextRead = read;
    return read;
  }

  stop(): void {
    this.#stopped = true;
    this.#inbox = [];
    this.#cancelTimer?.();
    this.#applier.stop();
    this.#snapshots?.stop();
  }

  #arrangeTurn(): void {
    if (this.#turnDue) return;
    this.#turnDue = true;
    this.#ports.clock.defer(this.#runTurn);
  }

  #turn(): void {
    this.#turnDue = false;
    if (this.#stopped) return;
    const events = this.#inbox;
    this.#inbox = [];
    this.#nextRead = undefined;
    // Read after the inbox was taken: read before, an arrival could be stamped earlier than it was sent.
    const nowMs = this.#ports.clock.nowMs();
    try {
      for (const event of events) this.#step(event, nowMs);
      if (this.#applier.appliedIndex > this.#reportedAppliedIndex) {
        this.#reportedAppliedIndex = this.#applier.appliedIndex;
        this.#step({ kind: "applied", upTo: this.#reportedAppliedIndex }, nowMs);
      }
      // Last, so that no timeout is acted on before what had already arrived.
      if (nowMs >= this.#deadlineMs) this.#step({ kind: "tick" }, nowMs);
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
    // What others and the disk have to do goes out before anybody here is told: a new role is looked at by many.
    if (effects.send.length > 0) this.#sendInOrder(effects.send);
    if (effects.persist !== undefined) this.#persist(effects.persist);
    // Transfers before proposals: what is refused after one waits for the successor's name.
    for (const outcome of effects.transfers) waiters.transferAnswered(outcome, this.state.role === "leader");
    for (const outcome of effects.proposals) waiters.proposalAnswered(outcome);
    for (const outcome of effects.memberships) memberships.answered(outcome);
    // Before the role: a leader that committed its own removal steps down in the same turn.
    memberships.progressed(this.state.log, effects.commitIndex);
    if (effects.membership !== undefined) this.#ports.membershipChanged(effects.membership);
    if (effects.roleChange !== undefined) {
      if (effects.roleChange.role !== "leader") {
        waiters.leadershipLost(effects.commitIndex);
        memberships.leadershipLost();
      }
      this.#ports.roleChanged(effects.roleChange);
    }
    for (const load of effects.loads) this.#load(load);
    this.#snapshots?.perform(effects);
    if (effects.chunks.length > 0) waiters.readElsewhere();
    this.#applier.advance(effects.commitIndex);
    for (const outcome of effects.reads) waiters.readAnswered(outcome, this.#applier.appliedIndex);
    this.#snapshots?.turnEnded(this.#applier.appliedIndex);
    this.#armTimer(effects.nextDeadlineMs, nowMs);
  }

  /**
   * Nobody waits for the news of a commit as whoever is answered by it does: where a turn has nothing else to send, it
   * leaves after the answers.
   */
  #sendInOrder(envelopes: readonly Envelope[]): void {
    if (!envelopes.every(({ message }) => isNews(message))) this.#send(envelopes);
    else this.#ports.clock.defer(() => this.#sendNews(envelopes));
  }

  #sendNews(envelopes: readonly Envelope[]): void {
    if (this.#stopped) return;
    try {
      this.#send(envelopes);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** One frame a peer. Peers are few, and most turns speak to one or two of them. */
  #send(envelopes: readonly Envelope[]): void {
    const frames: { readonly to: MemberId; readonly messages: Message[] }[] = [];
    for (let at = 0; at < envelopes.length; at += 1) {
      const { to, message } = envelopes[at] as Envelope;
      let position = 0;
      while (position < frames.length && frames[position]?.to !== to) position += 1;
      if (position < frames.length) frames[position]?.messages.push(message);
      else frames.push({ to, messages: [message] });
    }
    for (let at = 0; at < frames.length; at += 1) {
      const { to, messages } = frames[at] as (typeof frames)[number];
      this.#ports.send(to, messages);
    }
  }

  #persist(persist: Persist): void {
    this.#ports.log.write(persist).then(
      () => this.push({ kind: "persisted", sequence: persist.sequence }),
      (error: unknown) => this.#fail(error),
    );
  }

  #load(load: Load): void {
    const read = this.#ports.log.read(load.from, asIndex(load.to), load.maxBytes);
    (this.#snapshots?.reading(read) ?? read).then(
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

  /**
   * The deadline moves on with every heartbeat that is heard. A timer that runs is left alone as long as it is not
   * late: when it is due, it goes on for the rest, which costs less than arming anew each turn.
   */
  #armTimer(deadlineMs: number, nowMs: number): void {
    this.#deadlineMs = deadlineMs;
    if (this.#cancelTimer !== undefined) {
      if (this.#timerAtMs <= deadlineMs) return;
      this.#cancelTimer();
    }
    this.#startTimer(nowMs);
  }

  #startTimer(nowMs: number): void {
    this.#timerAtMs = this.#deadlineMs;
    const delayMs = Math.max(0, Math.ceil(this.#deadlineMs - nowMs));
    this.#cancelTimer = this.#ports.clock.after(delayMs, () => this.#timerDue());
  }

  #timerDue(): void {
    this.#cancelTimer = undefined;
    const nowMs = this.#ports.clock.nowMs();
    if (nowMs < this.#deadlineMs) this.#startTimer(nowMs);
    else this.#arrangeTurn();
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#ports.failed(error);
  }
}

/** It brings no entry and asks for no promise: only how far the log is committed. */
function isNews(message: Message): boolean {
  return message.kind === "appendRequest" && message.entries.length === 0;
}
