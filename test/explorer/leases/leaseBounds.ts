/**
 * How far the exploration of sessions and leases goes: each bound is a question of its own.
 *
 * Those of every run take seconds and are explored to their end. `QUORATE_DEEP=1` adds those for a night, which may
 * end at their number of states instead.
 */
import type { LeaseBound } from "./model.ts";

/** Ends after all that is explored. */
const foreverMs = 1_000_000;
const nothing = {
  renewals: [0, 0],
  elections: 0,
  acquires: 0,
  releases: 0,
  breaks: 0,
  duplicates: 0,
} as const;

/** The first holds and may fall silent; the second waits, and believes at once in what it gets. */
const silence: Omit<LeaseBound, "name" | "budget" | "marks"> = {
  from: "held",
  ticks: 7,
  ttlsMs: [1_000, foreverMs],
  isSecondPrompt: true,
  maxStates: 3_000_000,
};
/** Nobody falls silent; each message of the second is its own step. */
const handover: Omit<LeaseBound, "name" | "budget" | "marks"> = {
  ...silence,
  ticks: 1,
  ttlsMs: [foreverMs, foreverMs],
  isSecondPrompt: false,
};
const expired: readonly string[] = ["a mark", "a logged renewal", "an expiry", "a grant that was claimed"];
const handedOver: readonly string[] = ["passOn", "a grant that was claimed", "a renewal outside the log"];

export const quickLeaseBounds: readonly LeaseBound[] = [
  {
    ...silence,
    name: "a holder that is renewed once, an election",
    budget: { ...nothing, renewals: [1, 0], elections: 1 },
    marks: [...expired, "a renewal by a deposed leader"],
  },
  {
    ...silence,
    name: "a holder that is renewed once, and again by a copy",
    budget: { ...nothing, renewals: [1, 0], duplicates: 1 },
    marks: expired,
  },
  {
    ...silence,
    name: "a break, a holder that is renewed once",
    budget: { ...nothing, renewals: [1, 0], breaks: 1 },
    marks: [...expired, "finish"],
  },
  {
    ...handover,
    name: "a release, a claim, a pass-on, and an acquire by who had it",
    budget: { ...nothing, renewals: [1, 1], releases: 1, acquires: 1 },
    marks: [...handedOver, "a grant that was acquired"],
  },
];

export const deepLeaseBounds: readonly LeaseBound[] = [
  {
    ...silence,
    name: "a holder that is renewed twice, an election, a copy",
    ticks: 8,
    budget: { ...nothing, renewals: [2, 0], elections: 1, duplicates: 1 },
    marks: [...expired, "a renewal by a deposed leader"],
  },
  {
    ...silence,
    name: "a holder that is renewed once, two elections",
    budget: { ...nothing, renewals: [1, 0], elections: 2 },
    marks: [...expired, "a renewal by a deposed leader"],
  },
  {
    ...silence,
    name: "a break, a holder that is renewed once, an election",
    budget: { ...nothing, renewals: [1, 0], elections: 1, breaks: 1 },
    marks: [...expired, "finish"],
  },
  {
    ...silence,
    name: "two clients that fall silent",
    from: "free",
    ticks: 9,
    ttlsMs: [1_000, 1_000],
    isSecondPrompt: false,
    budget: { ...nothing, renewals: [2, 2], acquires: 2, elections: 1 },
    marks: ["a grant that was acquired"],
  },
  {
    ...handover,
    name: "a release, a claim, a pass-on, an acquire by who had it, an election",
    budget: { ...nothing, renewals: [1, 1], releases: 1, acquires: 1, elections: 1 },
    marks: [...handedOver, "a grant that was acquired"],
  },
];
