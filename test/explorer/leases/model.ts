/** What is explored, and within what: the product or a broken one, and the bounds of one question. */
import { Holder } from "./holder.ts";
import type { Dues } from "./leaderSteps.ts";
import { LeaseTimers } from "./leaseTimers.ts";
import { Stores } from "./stores.ts";
import type { Subject } from "./subject.ts";
import type { Budget } from "./world.ts";

/** Each leaves out one rule of those that are said again here. */
export type BrokenRule =
  /** A keep-alive is confirmed though an expiry of its session is under way. */
  | "confirmed while it expires"
  /** Of a session whose silence is marked, a renewal is confirmed outside the log. */
  | "renewed outside the log"
  /** A logged renewal is answered before it is applied. */
  | "answered when appended"
  /** The end of sessions is proposed though a keep-alive of them has arrived, and those that live on are forgotten. */
  | "awaited, ended and forgotten"
  /** A keep-alive is answered without asking a quorum. */
  | "no quorum asked"
  /** A new leader counts from its election, by what it has applied then. */
  | "counted from the election"
  /** A waiter believes in its grant before its claim is applied. */
  | "believed before it is claimed"
  /** `check()` passes on from the sending of a release. */
  | "believed after its release";

export interface LeaseBound {
  readonly name: string;
  /** `held`: the first client holds the lease, and the second waits for it. */
  readonly from: "free" | "held";
  readonly ticks: number;
  /** Of each client's session. One beyond all ticks does not end. */
  readonly ttlsMs: readonly [number, number];
  readonly budget: Budget;
  /** The second client claims and is confirmed in one step: what comes between is another question's. */
  readonly isSecondPrompt: boolean;
  /** What has to be seen for the question to be one. */
  readonly marks: readonly string[];
  readonly maxStates: number;
}

export interface Model {
  readonly subject: Subject;
  readonly bound: LeaseBound;
  readonly tickMs: number;
  readonly ttlsMs: readonly [number, number];
  readonly stores: Stores;
  readonly timers: LeaseTimers;
  readonly holders: readonly [Holder, Holder];
  readonly marks: Set<string>;
  /** By the text of a leader, of each client: worked out once. */
  readonly dues: Map<string, readonly Dues[]>;
  breaks(rule: BrokenRule): boolean;
}

/** Five of them are a time to live of a second, and two are 0.4 of it. */
export const tickMs = 200;
/** As slow as `clockDrift` lets them be: whoever counts slower believes longer, so no other rate shows more. */
const slowest = 0.98;

export function createModel(subject: Subject, bound: LeaseBound, broken?: BrokenRule): Model {
  const { ttlsMs } = bound;
  const stores = new Stores(subject, ttlsMs);
  return {
    subject,
    bound,
    tickMs,
    ttlsMs,
    stores,
    timers: new LeaseTimers(subject, stores, { tickMs, claimWindowMs: tickMs }),
    holders: [
      new Holder(subject, { ttlMs: ttlsMs[0], tickMs, rate: slowest }),
      new Holder(subject, { ttlMs: ttlsMs[1], tickMs, rate: slowest }),
    ],
    marks: new Set(),
    dues: new Map(),
    breaks: (rule) => rule === broken,
  };
}

export class LeaseViolation extends Error {}
