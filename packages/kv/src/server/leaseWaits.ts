/**
 * Those who wait until something of a session's leases, or of one lease, is other than they know. A change answers each
 * of them once, so a thousand waiters for one lease cost nothing until it is their turn.
 *
 * What they are told is what was applied here: it may be out of date by then, and proves nothing. Whoever acts on it
 * does so by a command, which the state machine judges.
 */
import type { ByteString } from "@quorate/client/protocol";
import type { Cancel, Clock } from "@quorate/raft";
import type { Applied } from "../machine/index.ts";
import { Leaderless, leaderLookMs } from "./leaderless.ts";

/** Why a wait ended. */
export type WaitEnd = "changed" | "timedOut" | "officeLost" | "leaderless";

export class LeaseWaits {
  readonly #clock: Clock;
  readonly #bySession: WaitList<number>;
  readonly #byLease: WaitList<ByteString>;
  readonly #leaderless: Leaderless;
  #cancelLook: Cancel | undefined;

  constructor(clock: Clock, hasLeader: () => boolean) {
    this.#clock = clock;
    this.#leaderless = new Leaderless(hasLeader);
    this.#bySession = new WaitList(this.#clock);
    this.#byLease = new WaitList(this.#clock);
  }

  get size(): number {
    return this.#bySession.size + this.#byLease.size;
  }

  /** `end` is called once, unless the result is called before. */
  forSession(session: number, timeoutMs: number, end: (why: WaitEnd) => void): Cancel {
    return this.#bySession.add(session, timeoutMs, end);
  }

  forLease(name: ByteString, timeoutMs: number, end: (why: WaitEnd) => void): Cancel {
    this.#lookLater();
    return this.#byLease.add(name, timeoutMs, end);
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#clock.after(leaderLookMs, () => {
      this.#cancelLook = undefined;
      if (this.#leaderless.isForLong()) this.#byLease.endAll("leaderless");
      if (this.#byLease.size > 0) this.#lookLater();
    });
  }

  applied({ leases, sessions }: Applied): void {
    for (const session of sessions) this.#bySession.end(session, "changed");
    for (const name of leases) this.#byLease.end(name, "changed");
  }

  /** Anything may be different now. */
  restored(): void {
    this.#bySession.endAll("changed");
    this.#byLease.endAll("changed");
  }

  /** Another node has the newest state now. */
  officeLost(): void {
    this.#bySession.endAll("officeLost");
  }

  stop(): void {
    this.#cancelLook?.();
    this.#bySession.clear();
    this.#byLease.clear();
  }
}

interface Wait {
  readonly end: (why: WaitEnd) => void;
  readonly cancelTimer: Cancel;
}

class WaitList<Subject> {
  readonly #clock: Clock;
  readonly #waits: Map<Subject, Set<Wait>> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    let size = 0;
    for (const waits of this.#waits.values()) size += waits.size;
    return size;
  }

  add(subject: Subject, timeoutMs: number, end: Wait["end"]): Cancel {
    const remove = (): void => {
      wait.cancelTimer();
      const waits = this.#waits.get(subject);
      waits?.delete(wait);
      if (waits?.size === 0) this.#waits.delete(subject);
    };
    const cancelTimer = this.#clock.after(timeoutMs, () => {
      remove();
      end("timedOut");
    });
    const wait: Wait = { end, cancelTimer };
    const waits = this.#waits.get(subject) ?? new Set();
    this.#waits.set(subject, waits.add(wait));
    return remove;
  }

  end(subject: Subject, why: WaitEnd): void {
    const waits = this.#waits.get(subject);
    if (waits === undefined) return;
    this.#waits.delete(subject);
    for (const wait of waits) {
      wait.cancelTimer();
      wait.end(why);
    }
  }

  endAll(why: WaitEnd): void {
    for (const subject of [...this.#waits.keys()]) this.end(subject, why);
  }

  clear(): void {
    for (const waits of this.#waits.values()) for (const wait of waits) wait.cancelTimer();
    this.#waits.clear();
  }
}
