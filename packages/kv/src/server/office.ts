/**
 * What a leader knows of the silence of sessions, for one term of office. All times are `bootMs`.
 */
import type { SessionAt } from "@quorate/client/protocol";
import type { Cancel } from "@quorate/raft";
import { type SessionState, silenceOf } from "../machine/index.ts";

/** What a keep-alive is answered; `notNow` has to be asked again, here or at another leader. */
export type Verdict = "alive" | "ended" | "notLeader" | "notNow";

/** What is to be done about the silence of a session. */
export type Lateness = "expired" | "silent";

export type Due = Readonly<Record<Lateness, readonly SessionAt[]>>;

interface Renewing {
  readonly session: number;
  readonly arrivedMs: number;
  readonly end: (verdict: Verdict) => void;
}

export class Office {
  readonly term: number;
  /** When the office was confirmed and its no-op applied; undefined until then. */
  sinceMs: number | undefined;
  /** When each session was last heard, in this office. */
  readonly heardMs: Map<number, number> = new Map();
  /** An expiry of it is proposed. */
  readonly expiring: Set<number> = new Set();
  /** Its silence is proposed. */
  readonly marking: Set<number> = new Set();
  /** When this office logged its silence last. */
  readonly markedMs: Map<number, number> = new Map();
  /** Keep-alives whose renewals are to be logged in this turn. */
  readonly renewing: Renewing[] = [];
  cancelTimer: Cancel | undefined;
  /** When the timer is due. */
  dueMs: number = Number.POSITIVE_INFINITY;
  isSweeping = false;
  /** What those that end portions of a crowd wait for together. */
  passing: Promise<boolean> | undefined;
  /** Keep-alives that have arrived and are not judged yet, by session. */
  readonly #arrived: Map<number, number> = new Map();
  /** What was logged of a session's silence before this office. */
  readonly #silentBeforeMs: Map<number, number> = new Map();

  constructor(term: number) {
    this.term = term;
  }

  begin(nowMs: number, sessions: Iterable<readonly [number, SessionState]>): void {
    this.sinceMs = nowMs;
    for (const [session, { silentMs }] of sessions) {
      if (silentMs > 0) this.#silentBeforeMs.set(session, silentMs);
    }
  }

  arrive(session: number): void {
    this.#arrived.set(session, (this.#arrived.get(session) ?? 0) + 1);
  }

  judged(session: number): void {
    const others = (this.#arrived.get(session) ?? 1) - 1;
    if (others === 0) this.#arrived.delete(session);
    else this.#arrived.set(session, others);
  }

  /** A keep-alive of it has arrived and is not judged yet. */
  isAwaited(session: number): boolean {
    return this.#arrived.has(session);
  }

  hear(session: number, arrivedMs: number): void {
    this.heardMs.set(session, Math.max(arrivedMs, this.heardMs.get(session) ?? 0));
    this.markedMs.delete(session);
    this.#silentBeforeMs.delete(session);
  }

  forget(session: number): void {
    this.heardMs.delete(session);
    this.markedMs.delete(session);
    this.#silentBeforeMs.delete(session);
  }

  silentSinceMs(session: number): number {
    return Math.max(this.sinceMs ?? Number.POSITIVE_INFINITY, this.heardMs.get(session) ?? 0);
  }

  /** A keep-alive is confirmed without the log: no end of it is under way, no silence is logged or about to be. */
  confirms(session: number, { silentMs }: SessionState): boolean {
    return silentMs === 0 && !this.expiring.has(session) && !this.marking.has(session);
  }

  /** Undefined also while its end is under way, or a keep-alive of it waits to be judged. */
  latenessOf(session: number, { ttlMs }: SessionState, nowMs: number): Lateness | undefined {
    if (this.expiring.has(session) || this.isAwaited(session)) return undefined;
    if (this.expiryMs(session, ttlMs) <= nowMs) return "expired";
    return this.markMs(session, ttlMs) <= nowMs ? "silent" : undefined;
  }

  due(sessions: Iterable<readonly [number, SessionState]>, nowMs: number): Due {
    const due: Record<Lateness, SessionAt[]> = { expired: [], silent: [] };
    for (const [session, state] of sessions) {
      const lateness = this.latenessOf(session, state, nowMs);
      if (lateness !== undefined) due[lateness].push({ session, renewals: state.renewals });
    }
    return due;
  }

  /** When it may be ended. */
  expiryMs(session: number, ttlMs: number): number {
    return this.silentSinceMs(session) + ttlMs - (this.#silentBeforeMs.get(session) ?? 0);
  }

  /** When another part of its silence may be logged: only silence that this office has seen itself. */
  markMs(session: number, ttlMs: number): number {
    if (this.marking.has(session)) return Number.POSITIVE_INFINITY;
    return Math.max(this.silentSinceMs(session), this.markedMs.get(session) ?? 0) + silenceOf(ttlMs);
  }
}

export function isAnyone({ expired, silent }: Due): boolean {
  return expired.length + silent.length > 0;
}
