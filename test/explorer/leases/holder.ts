/**
 * The real holder, asked at one moment: a new one is brought to where it stood, and then looked at or told something.
 * Its timers never run, as in a process that is frozen until it calls `check()`.
 */

import type { HeldLease, HeldLeaseFacts, LeaseActs } from "@quorate/client/internal";
import type { Clock } from "@quorate/raft";
import { name } from "./stores.ts";
import type { Subject } from "./subject.ts";

export interface HolderOptions {
  readonly ttlMs: number;
  /** Of true time. */
  readonly tickMs: number;
  /** Of its clock, to true time. */
  readonly rate: number;
}

const acts: LeaseActs = {
  renew: () => Promise.resolve(),
  release: () => Promise.resolve(),
  giveUp: () => {},
  proclaim: () => Promise.resolve(),
  checkpoint: () => Promise.resolve(),
  lastCheckpoint: () => Promise.resolve(undefined),
};
const session = { leave: () => {} } as unknown as HeldLeaseFacts["session"];

export class Holder {
  /** What a renewal allows, in ticks of true time, whole ones. */
  readonly allowedTicks: number;
  readonly #subject: Subject;
  readonly #options: HolderOptions;
  readonly #allowanceMs: number;
  readonly #renewed: Map<number, number> = new Map();
  readonly #passes: Map<number, boolean> = new Map();

  constructor(subject: Subject, options: HolderOptions) {
    this.#subject = subject;
    this.#options = options;
    this.#allowanceMs = subject.client.allowanceMs(options.ttlMs, {});
    this.allowedTicks = Math.ceil(this.#allowanceMs / (options.tickMs * options.rate));
  }

  /** Its deadline counts from the sending at `base`: does `check()` pass? */
  passes(base: number, now: number): boolean {
    const key = base * 256 + now;
    const known = this.#passes.get(key);
    if (known !== undefined) return known;
    const { lease, clock } = this.#held(base);
    clock.ms = this.#localMs(now);
    const passes = this.#deadlineMs(lease, clock) !== undefined;
    this.#passes.set(key, passes);
    return passes;
  }

  /** From where its deadline counts once an answer has come; -2: it is lost. */
  renewed(base: number, sent: number, now: number): number {
    const key = ((base + 1) * 256 + sent) * 256 + now;
    const known = this.#renewed.get(key);
    if (known !== undefined) return known;
    const { lease, clock } = this.#held(base);
    clock.ms = this.#localMs(now);
    lease.renewed(this.#localMs(sent), named);
    const next = this.#baseOf(lease, clock);
    this.#renewed.set(key, next);
    return next;
  }

  #baseOf(lease: HeldLease, clock: SetClock): number {
    if (lease.isOver) return -2;
    if (!lease.isConfirmed) return -1;
    const deadlineMs = this.#deadlineMs(lease, clock);
    if (deadlineMs === undefined) return -2;
    return Math.round((deadlineMs - this.#allowanceMs) / this.#localMs(1));
  }

  #held(base: number): { lease: HeldLease; clock: SetClock } {
    const clock = setClock(this.#localMs(Math.max(0, base)));
    const facts = { names: [name], term: 1, sequence: 1, session, progressMs: undefined, isManual: false };
    const lease = new this.#subject.client.HeldLease(clock, acts, {
      ...facts,
      allowanceMs: this.#allowanceMs,
      recentBootMs: () => clock.bootMs(),
    });
    if (base >= 0) lease.renewed(clock.ms, named);
    return { lease, clock };
  }

  #deadlineMs(lease: HeldLease, clock: SetClock): number | undefined {
    try {
      return clock.ms + lease.check().remainingMs;
    } catch {
      return undefined; // it is lost, and that is what was asked
    }
  }

  #localMs(ticks: number): number {
    return ticks * this.#options.tickMs * this.#options.rate;
  }
}

const named = { sequence: 1, term: 1, claimed: true, ending: "none", handover: false } as const;

type SetClock = Clock & { ms: number };

function setClock(ms: number): SetClock {
  const clock: SetClock = {
    ms,
    nowMs: () => clock.ms,
    bootMs: () => clock.ms,
    after: () => () => {},
    defer: () => {},
  };
  return clock;
}
