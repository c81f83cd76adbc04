/**
 * A lease in the hands of its holder: its deadline, its signals, and the one way down, from held to lost or released.
 *
 * What is lost stays lost: the old deadline is looked at before any answer is taken, and a late answer revives nothing.
 * From the sending of a release on, `check()` throws.
 */
import { type Cancel, type Clock, QuorateError } from "@quorate/raft";
import type { ClientSession, SessionMember } from "./clientSession.ts";
import type { RequestOptions, Value } from "./cluster.ts";
import type { Lease, LeaseCheck, LeaseStatus } from "./leaseApi.ts";
import { LeaseLostError, type LossReason } from "./leaseLostError.ts";
import { taken } from "./optionNames.ts";
import type { LeaseEnding, SessionLease } from "./protocol/index.ts";
import { sequencerOf } from "./sequencer.ts";

/** What the lease needs of the store it comes from. */
export interface LeaseActs {
  /** Resolves when a renewal has been answered. */
  renew(lease: HeldLease, options: RequestOptions): Promise<void>;
  release(lease: HeldLease, options: RequestOptions): Promise<void>;
  /** It was lost while the cluster may still think that it is held. */
  giveUp(lease: HeldLease): void;
  proclaim(lease: HeldLease, data: Value, options: RequestOptions): Promise<void>;
  checkpoint(lease: HeldLease, data: Value, options: RequestOptions): Promise<void>;
  lastCheckpoint(lease: HeldLease, options: RequestOptions): Promise<unknown>;
}

export interface HeldLeaseFacts {
  readonly names: readonly string[];
  readonly term: number;
  readonly sequence: number;
  readonly session: ClientSession;
  /** After its sending, a confirmed renewal is good for so long. */
  readonly allowanceMs: number;
  readonly progressMs: number | undefined;
  /** Its holder renews it; nobody else does. */
  readonly isManual: boolean;
  /** `bootMs` of a moment ago. Whether it is still held is asked of the clock itself. */
  readonly recentBootMs: () => number;
}

/** The signal aborts so long before the deadline, if the event loop is free. */
const leadMs = 20;
/** A timer that is so late says that this process stood still, or was kept busy. */
const lateMs = 100;

export class HeldLease implements Lease, SessionMember {
  readonly name: string;
  readonly names: readonly string[];
  readonly term: number;
  readonly facts: HeldLeaseFacts;
  readonly #clock: Clock;
  readonly #acts: LeaseActs;
  readonly #controller = new AbortController();
  readonly #handover = new AbortController();
  readonly #jeopardyListeners: Set<() => unknown> = new Set();
  #status: LeaseStatus = "held";
  #loss: LeaseLostError | undefined;
  #deadlineMs: number | undefined;
  /** `bootMs` less `nowMs` when it was last confirmed: it grows while the machine sleeps. */
  #sleptMs: number;
  #ending: LeaseEnding = "none";
  /** Renewals that its holder waits for. */
  #asking = 0;
  /** It was told of once: an older set, of before its grant, does not have it. */
  #isKnown = false;
  #progressedMs: number;
  #cancelTimer: Cancel | undefined;
  #timerDueMs: number = Number.POSITIVE_INFINITY;
  /** `bootMs` less `nowMs` when the timer was set, which counts no sleep of the machine. */
  #timerSleptMs = 0;
  #releasing: Promise<void> | undefined;

  constructor(clock: Clock, acts: LeaseActs, facts: HeldLeaseFacts) {
    this.#clock = clock;
    this.#acts = acts;
    this.facts = facts;
    this.names = facts.names;
    this.name = facts.names[0] ?? "";
    this.term = facts.term;
    this.#sleptMs = clock.bootMs() - clock.nowMs();
    this.#progressedMs = clock.bootMs();
  }

  get status(): LeaseStatus {
    return this.#status;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get handoverSignal(): AbortSignal {
    return this.#handover.signal;
  }

  get isOver(): boolean {
    return this.#loss !== undefined;
  }

  check(): LeaseCheck {
    const nowMs = this.#clock.bootMs();
    if (this.#loss !== undefined) throw this.#loss;
    const remainingMs = (this.#deadlineMs ?? nowMs) - nowMs;
    if (remainingMs <= 0) throw this.#lose(this.#reasonAt(nowMs));
    return { nowMs, remainingMs };
  }

  remainingMs(): number {
    if (this.#loss !== undefined) return 0;
    return Math.max(0, (this.#deadlineMs ?? 0) - this.#clock.bootMs());
  }

  async run<Result>(fn: (lease: Lease) => Result | Promise<Result>): Promise<Result> {
    this.check();
    const result = await fn(this);
    this.check();
    return result;
  }

  progress(): void {
    this.#progressedMs = this.#clock.bootMs();
  }

  /** Its work has reported within the time that it was given. */
  get hasProgressed(): boolean {
    const { progressMs } = this.facts;
    return progressMs === undefined || this.#clock.bootMs() - this.#progressedMs < progressMs;
  }

  /** Undefined where its work need not report. */
  get sinceProgressMs(): number | undefined {
    return this.facts.progressMs === undefined ? undefined : this.#clock.bootMs() - this.#progressedMs;
  }

  onJeopardy(fn: () => unknown): () => void {
    this.#jeopardyListeners.add(fn);
    return () => this.#jeopardyListeners.delete(fn);
  }

  async proclaim(data: Value, options: RequestOptions = {}): Promise<void> {
    this.check();
    try {
      await this.#acts.proclaim(this, data, taken("lease.proclaim", options));
    } catch (error) {
      throw error instanceof LeaseLostError ? (this.#loss ?? error) : error;
    }
  }

  async checkpoint(data: Value, options: RequestOptions = {}): Promise<void> {
    this.check();
    await this.#acts.checkpoint(this, data, taken("lease.checkpoint", options));
  }

  async lastCheckpoint(options: RequestOptions = {}): Promise<unknown> {
    return this.#acts.lastCheckpoint(this, taken("lease.lastCheckpoint", options));
  }

  async renew(options: RequestOptions = {}): Promise<LeaseCheck> {
    taken("lease.renew", options);
    this.check();
    this.progress();
    this.#asking += 1;
    try {
      await this.#acts.renew(this, options);
    } catch (error) {
      throw this.#loss ?? error;
    } finally {
      this.#asking -= 1;
    }
    return this.check();
  }

  async ensure(ms: number, options: RequestOptions = {}): Promise<LeaseCheck> {
    taken("lease.ensure", options);
    const { allowanceMs } = this.facts;
    if (!(ms >= 0 && ms < allowanceMs)) {
      throw new QuorateError(
        "INVALID_ARGUMENT",
        `${ms} ms cannot be made sure of: right after a renewal ${Math.floor(allowanceMs)} ms remain at most.`,
      );
    }
    const before = this.check();
    if (before.remainingMs >= ms) return before;
    const after = this.#ending === "none" ? await this.renew(options) : before;
    if (after.remainingMs >= ms) return after;
    const why = this.#ending === "none" ? "a renewal took too long" : `it was ${this.#ending}`;
    throw new QuorateError(
      "REFUSED",
      `The lease ${JSON.stringify(this.name)} has ${Math.floor(after.remainingMs)} ms left, not ${ms}: ${why}. ` +
        "Do no more than fits into them.",
    );
  }

  sequencer(): string {
    return sequencerOf(this.name, this.term);
  }

  async release(options: RequestOptions = {}): Promise<void> {
    taken("lease.release", options);
    if (this.#loss === undefined) {
      this.#finish("released", "released");
      this.#releasing = this.#acts.release(this, options);
    }
    await this.#releasing;
  }

  /** Never throws: a release that failed goes on by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release().catch(() => {});
  }

  /** It was never handed out. */
  discard(): void {
    if (this.#loss === undefined) this.#finish("lost", "revoked");
  }

  /** A renewal has been confirmed. Before, it is nobody's to use. */
  get isConfirmed(): boolean {
    return this.#deadlineMs !== undefined;
  }

  /** It comes into its holder's hands. The machine may have slept since it was confirmed. */
  handOut(): void {
    if (this.#loss === undefined) this.#look();
  }

  /** What the cluster has told is newer than its grant. */
  refreshed(): void {
    if (!this.#isKnown && this.#loss === undefined) this.#lose("revoked");
  }

  changed(lease: SessionLease | undefined): void {
    if (this.#loss !== undefined) return;
    if (lease === undefined || lease.term !== this.term) {
      if (this.#isKnown) this.#lose(this.#ending === "none" ? "revoked" : this.#ending);
      return;
    }
    this.#learn(lease);
    this.#look();
  }

  renewed(sentMs: number, lease: SessionLease): void {
    if (this.#loss !== undefined || lease.term !== this.term) return;
    this.#learn(lease);
    if (lease.ending !== "none") return;
    const nowMs = this.facts.recentBootMs();
    if (this.#deadlineMs !== undefined && nowMs >= this.#deadlineMs) {
      this.#lose(this.#reasonAt(nowMs));
      return;
    }
    const deadlineMs = sentMs + this.facts.allowanceMs;
    if (nowMs >= deadlineMs) return;
    this.#sleptMs = nowMs - this.#clock.nowMs();
    this.#deadlineMs = Math.max(deadlineMs, this.#deadlineMs ?? deadlineMs);
    this.#look();
  }

  ended(why: "expired" | "released"): void {
    if (this.#loss !== undefined) return;
    // A session that no silence ends was ended by a break.
    const isBroken = why === "expired" && this.facts.allowanceMs === Number.POSITIVE_INFINITY;
    if (why === "released") this.#finish("released", "closed");
    else this.#finish("lost", isBroken ? "revoked" : why);
  }

  /** An ending, and a wish for a handover, are never taken back. */
  #learn(lease: SessionLease): void {
    this.#isKnown = true;
    if (lease.ending !== "none") this.#ending = lease.ending;
    if (lease.handover || lease.ending !== "none") this.#handover.abort();
  }

  /** Where it stands now; and the timer for when that will be otherwise. */
  #look(): void {
    const nowMs = this.facts.recentBootMs();
    const { allowanceMs } = this.facts;
    if (this.#deadlineMs === undefined) return;
    const endMs = this.#deadlineMs - leadMs;
    if (nowMs >= endMs) {
      this.#lose(this.#reasonAt(nowMs));
      return;
    }
    // Without an end there is none to come near.
    const jeopardyMs =
      allowanceMs === Number.POSITIVE_INFINITY ? allowanceMs : this.#deadlineMs - allowanceMs / 2;
    const isInJeopardy = this.#ending !== "none" || nowMs >= jeopardyMs;
    const wasHeld = this.#status === "held";
    this.#status = isInJeopardy ? "jeopardy" : "held";
    this.#wakeAt(isInJeopardy ? endMs : jeopardyMs);
    if (isInJeopardy && wasHeld) for (const listener of [...this.#jeopardyListeners]) void heard(listener);
  }

  /** One that is due earlier stays, as it looks again then; but not where it is late by a sleep of the machine. */
  #wakeAt(dueMs: number): void {
    const sleptMs = this.#clock.bootMs() - this.#clock.nowMs();
    const isLate = sleptMs - this.#timerSleptMs > leadMs / 2;
    if (this.#cancelTimer !== undefined && this.#timerDueMs <= dueMs && !isLate) return;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTimer?.();
    this.#timerDueMs = dueMs;
    this.#timerSleptMs = sleptMs;
    this.#cancelTimer = this.#clock.after(Math.max(1, dueMs - this.#clock.bootMs()), () => {
      this.#cancelTimer = undefined;
      this.#look();
    });
  }

  #reasonAt(nowMs: number): LossReason {
    if (this.#ending !== "none") return this.#ending;
    if (nowMs - this.#clock.nowMs() - this.#sleptMs > lateMs) return "suspended";
    if (!this.hasProgressed || (this.facts.isManual && this.#asking === 0)) return "no-progress";
    return nowMs - this.#timerDueMs > lateMs ? "stalled" : "unreachable";
  }

  #lose(reason: LossReason): LeaseLostError {
    const loss = this.#finish("lost", reason);
    this.#acts.giveUp(this);
    return loss;
  }

  #finish(status: "lost" | "released", reason: LossReason): LeaseLostError {
    this.#loss = new LeaseLostError(this.name, this.term, reason);
    this.#status = status;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.facts.session.leave(this.facts.sequence, this);
    this.#controller.abort(this.#loss);
    return this.#loss;
  }
}

/** What it throws is an unhandled rejection of the process, and keeps no lease of the session from its renewal. */
async function heard(listener: () => unknown): Promise<void> {
  await listener();
}
