/**
 * One session at the cluster: its sequences, its renewals, and what is known of the leases that it holds or waits for.
 *
 * Renewed in time, each attempt by itself: none is folded into another, since what an answer extends counts from when
 * that very attempt was sent. Once it has ended it is never used again.
 */
import { type Logger, QuorateError } from "@quorate/raft";
import { type BackoffOptions, backoffMs } from "./backoff.ts";
import type { Caller, CallPolicy } from "./caller.ts";
import { certainMs } from "./leaseDeadline.ts";
import { Patience, pause } from "./patience.ts";
import {
  type Command,
  encodeProposal,
  type LeaseSet,
  type Origin,
  type RequestBody,
  type SessionLease,
} from "./protocol/index.ts";
import { type Renewable, type Renewals, renewing } from "./renewals.ts";
import type { Router } from "./router.ts";
import { SequenceWindow } from "./sequenceWindow.ts";
import { type Executed, executedOf } from "./writer.ts";

export interface SessionPorts {
  readonly caller: Caller;
  readonly router: Router;
  readonly logger: Logger;
  readonly renewals: Renewals;
}

export interface ClientSessionOptions {
  readonly ttlMs: number;
  readonly renewEveryMs: number;
  readonly requestTimeoutMs: number;
  /** Commands that wait for a place in the window. */
  readonly maxWaiting: number;
  /** How long `closeSoon` may take to end the session at the cluster. */
  readonly closeTimeoutMs: number;
  /** Renewals are left out as long as this is false. */
  readonly mayRenew: () => boolean;
  /** When its opening was sent; in `bootMs`. */
  readonly openedMs: number;
  readonly onEnd: (why: "expired" | "released") => void;
  /** It has ended, and nothing is left to be told to the cluster about it. */
  readonly onSettled: () => void;
}

/** What holds or waits for a lease, by the sequence of its acquire. */
export interface SessionMember {
  /** What is newly known of it; undefined: the session has nothing by that acquire. */
  changed(lease: SessionLease | undefined): void;
  /** A renewal that was sent at `sentMs` (`bootMs`) has been confirmed, and named it so. */
  renewed(sentMs: number, lease: SessionLease): void;
  /** `released`: by this process itself. */
  ended(why: "expired" | "released"): void;
}

/** How to find out whether a command took effect, where that is not to read its key. */
const looks: Readonly<Partial<Record<Command["kind"], string>>> = {
  acquireLease: "it is taken back as soon as that can be done",
  claimLease: "it is taken back as soon as that can be done",
  describeLease: "look at the lease to see",
  breakLease: "look at the lease to see",
  requestHandover: "look at the lease to see",
};
const lookAtKey = "read the key to see";
/** A wait for changes is asked again after so long. What it might miss, the next renewal tells. */
const waitMs = 120_000;
const pauses: BackoffOptions = { firstMs: 50, factor: 2, capMs: 1_000 };

export class ClientSession implements Renewable {
  readonly id: number;
  readonly options: ClientSessionOptions;
  readonly window: SequenceWindow;
  hasEnded = false;
  readonly #ports: SessionPorts;
  readonly #members: Map<number, SessionMember> = new Map();
  /** What waits on the session's own behalf. */
  readonly #own: Set<Patience> = new Set();
  #set: LeaseSet = { version: 0, leases: [] };
  #following: Patience | undefined;
  #isClosing = false;
  #closing: Promise<void> | undefined;
  /** Its end is not told to the cluster any more. */
  #isAbandoned = false;
  /** The newest sending of what has shown it alive. */
  #confirmedMs: number;

  constructor(ports: SessionPorts, id: number, options: ClientSessionOptions) {
    this.#ports = ports;
    this.id = id;
    this.options = options;
    this.#confirmedMs = options.openedMs;
    this.window = new SequenceWindow(options.maxWaiting);
    ports.renewals.add(this);
  }

  get leases(): LeaseSet {
    return this.#set;
  }

  /** No silence ends it. */
  get isEndless(): boolean {
    return this.options.ttlMs === Number.POSITIVE_INFINITY;
  }

  /** For how long it certainly lives on, as a holder counts it; 0: it may be over. */
  get remainingMs(): number {
    const { clock } = this.#ports.router;
    if (this.hasEnded) return 0;
    return Math.max(0, this.#confirmedMs + certainMs(this.options.ttlMs, clock) - clock.bootMs());
  }

  /**
   * Sends a command under a sequence that was taken, until there is room for its answer at the server. Rejects where it
   * got none.
   */
  async send(sequence: number, command: Command, patience: Patience): Promise<Executed> {
    const { caller, router } = this.#ports;
    const advice = looks[command.kind] ?? lookAtKey;
    // Recognized by the server when it comes twice.
    const repeatable: CallPolicy = { target: "leader", resend: "always", hasEffect: true, advice };
    for (let tries = 0, unanswered = false; ; tries += 1) {
      // Answers that came since the last try make room.
      const { ackedBelow } = this.window;
      const origin: Origin = { kind: "session", session: this.id, sequence, ackedBelow };
      const proposal = encodeProposal({ origin, command });
      const executed = executedOf(await caller.call({ kind: "execute", proposal }, repeatable, patience));
      unanswered ||= executed.earlierUnanswered;
      const { kind } = executed.result;
      if (kind !== "answersFull" && kind !== "beyondWindow")
        return { ...executed, earlierUnanswered: unanswered };
      await pause(router.clock, backoffMs(router.random, pauses, tries), patience);
      if (patience.ended !== undefined) {
        const roomless = `its answer found no room beside the session's others; ${advice}`;
        throw caller.ended(patience, unanswered, roomless);
      }
    }
  }

  /** Undefined where the session ended before it was sent, or so that it certainly did nothing. */
  async execute(command: Command, patience: Patience): Promise<Executed | undefined> {
    const sequence = await this.window.take(patience);
    if (sequence === undefined) throw this.#ports.caller.ended(patience, false);
    try {
      if (this.hasEnded) return undefined;
      const executed = await this.send(sequence, command, patience);
      if (executed.result.kind !== "sessionEnded") return executed;
      this.end();
      if (!executed.earlierUnanswered) return undefined;
      throw new QuorateError(
        "SESSION_ENDED",
        "The session ended while the command was under way, so whether it took effect is not known any more: " +
          `${looks[command.kind] ?? lookAtKey}.`,
        { outcome: "unknown" },
      );
    } finally {
      this.window.finish(sequence);
    }
  }

  /**
   * Until it is executed, however long the cluster is away; or until the session is over. `older` in its place, where
   * members of the cluster do not know it yet. Never rejects.
   */
  insist(command: Command, older: Command = command): Promise<void> {
    const isOver = (): boolean => this.hasEnded || this.#isClosing;
    let known = command;
    return this.#until(isOver, async (patience) => {
      try {
        await this.execute(known, patience);
      } catch (error) {
        if (error instanceof QuorateError && error.code === "UPGRADE_PENDING") known = older;
        throw error;
      }
    });
  }

  /** Once it was done, or there is no need any more. */
  async #until(isOver: () => boolean, act: (patience: Patience) => Promise<unknown>): Promise<void> {
    const { clock, random } = this.#ports.router;
    for (let tries = 0; !isOver(); tries += 1) {
      try {
        await this.withOwn(this.options.requestTimeoutMs, act);
        return;
      } catch (error) {
        this.#ports.logger.debug(
          { session: this.id, error: String(error) },
          "A command of the session is tried again.",
        );
      }
      if (isOver()) return;
      const delayMs = backoffMs(random, pauses, tries);
      await this.withOwn(waitMs, (patience) => pause(clock, delayMs, patience));
    }
  }

  /** From now on it is told what becomes of the acquire of that sequence. */
  join(sequence: number, member: SessionMember): void {
    this.#members.set(sequence, member);
    if (this.hasEnded) member.ended("expired");
    else void this.#follow();
  }

  leave(sequence: number, member: SessionMember): void {
    if (this.#members.get(sequence) === member) this.#members.delete(sequence);
    if (this.#members.size === 0) this.#following?.end({ kind: "closed", reason: "Nobody waits." });
  }

  /** Renews at once, and resolves when that is answered. */
  async refresh(patience: Patience): Promise<void> {
    const known = this.#set;
    // Also where it had leases once: it learns that they are gone, and can be renewed together with others.
    const hasLeases = this.#members.size > 0 || known.version > 0;
    const body: RequestBody = hasLeases
      ? { kind: "renew", session: this.id, version: known.version }
      : { kind: "keepAlive", session: this.id };
    const answered = await this.#ports.caller.call(body, renewing, patience);
    if (this.hasEnded) return;
    if (answered.body.kind === "keptAlive") {
      if (answered.body.alive) this.#confirmedMs = Math.max(this.#confirmedMs, answered.sentMs);
      else this.end();
    }
    if (answered.body.kind !== "sessionState") return;
    if (!answered.body.alive) {
      this.end();
      return;
    }
    // As of when it was answered; what is known by now may be newer.
    const set = answered.body.set ?? known;
    this.renewed(answered.sentMs, set);
    this.#learn(set);
  }

  renewed(sentMs: number, { leases }: LeaseSet): void {
    if (this.hasEnded) return;
    this.#confirmedMs = Math.max(this.#confirmedMs, sentMs);
    for (const lease of leases) this.#members.get(lease.sequence)?.renewed(sentMs, lease);
  }

  async renewAlone(timeoutMs: number): Promise<void> {
    if (this.hasEnded || this.#isClosing) return;
    try {
      await this.withOwn(timeoutMs, (patience) => this.refresh(patience));
    } catch (error) {
      // Not a verdict: the session is over when the server says so, and until then the next renewal may succeed.
      this.#ports.logger.debug(
        { session: this.id, error: String(error) },
        "A renewal of the session failed.",
      );
    }
  }

  /** It is left to its silence: the cluster ends it in its time, which is an unclean end. */
  giveUp(): void {
    this.#goStill();
    this.end("released");
  }

  #goStill(): void {
    this.#ports.renewals.remove(this);
    this.#isClosing = true;
    for (const patience of [...this.#own])
      patience.end({ kind: "closed", reason: "The session is given up." });
  }

  end(why: "expired" | "released" = "expired"): void {
    if (this.hasEnded) return;
    this.#endHere(why);
    this.options.onSettled();
  }

  #endHere(why: "expired" | "released"): void {
    this.hasEnded = true;
    this.#ports.renewals.remove(this);
    this.window.release();
    for (const patience of [...this.#own]) patience.end({ kind: "closed", reason: "The session has ended." });
    const members = [...this.#members.values()];
    this.#members.clear();
    for (const member of members) member.ended(why);
    this.options.onEnd(why);
  }

  /**
   * Ends it at the cluster, however long that is away: whoever waits for its leases would wait for its time to live.
   * Its members are told before anything is sent. Never rejects.
   */
  async close(): Promise<void> {
    if (!this.hasEnded) {
      this.#goStill();
      this.#endHere("released");
      this.#closing = this.#until(
        () => this.#isAbandoned,
        (patience) => this.#closeOnce(patience),
      ).finally(() => this.options.onSettled());
    }
    await this.#closing;
  }

  /** As `close`, within its bound, also where that is under way. */
  async closeSoon(): Promise<void> {
    const cancelTimer = this.#ports.router.clock.after(this.options.closeTimeoutMs, () => {
      this.#isAbandoned = true;
      for (const patience of [...this.#own])
        patience.end({ kind: "closed", reason: "The session could not be ended in time, and will expire." });
    });
    await this.close();
    cancelTimer();
  }

  async #closeOnce(patience: Patience): Promise<void> {
    // Those that were under way give their places back.
    const sequence = await this.window.take(patience);
    if (sequence === undefined) throw this.#ports.caller.ended(patience, false);
    try {
      await this.send(sequence, { kind: "closeSession", session: this.id }, patience);
    } finally {
      this.window.finish(sequence);
    }
  }

  async withOwn<T>(timeoutMs: number, body: (patience: Patience) => Promise<T>): Promise<T> {
    const patience = new Patience(this.#ports.router.clock, { timeoutMs });
    this.#own.add(patience);
    try {
      return await body(patience);
    } finally {
      this.#own.delete(patience);
      patience.dispose();
    }
  }

  /** An older set than the known one tells nothing. */
  #learn(set: LeaseSet): void {
    if (set.version <= this.#set.version) return;
    this.#set = set;
    const bySequence = new Map(set.leases.map((lease) => [lease.sequence, lease]));
    for (const [sequence, member] of [...this.#members]) member.changed(bySequence.get(sequence));
  }

  /** One question at a time, as long as anybody here has an interest in the answer. */
  async #follow(): Promise<void> {
    if (this.#following !== undefined) return;
    const { clock, random } = this.#ports.router;
    let failures = 0;
    while (this.#members.size > 0 && !this.hasEnded && !this.#isClosing) {
      await this.withOwn(waitMs, async (patience) => {
        this.#following = patience;
        try {
          await this.#askForChange(patience);
          failures = 0;
        } catch (error) {
          if (!(error instanceof QuorateError)) throw error;
          if (error.code !== "TIMED_OUT") failures += 1;
          if (failures > 0) await pause(clock, backoffMs(random, pauses, failures - 1), patience);
        }
      });
    }
    this.#following = undefined;
  }

  async #askForChange(patience: Patience): Promise<void> {
    const { version } = this.#set;
    const body: RequestBody = { kind: "awaitSession", session: this.id, version };
    const answered = await this.#ports.caller.call(body, renewing, patience);
    if (this.hasEnded || answered.body.kind !== "sessionState") return;
    const { alive, set } = answered.body;
    if (set !== undefined) this.#learn(set);
    // A node that has just come to lead may be behind: only a renewal says that a session has ended.
    if (!alive || (set !== undefined && set.version < version)) {
      await this.refresh(patience);
      await pause(this.#ports.router.clock, pauses.firstMs, patience);
    }
  }
}
