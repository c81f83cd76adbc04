/**
 * How far the explorer goes: each bound is a question of its own.
 *
 * Those of every run take seconds and are explored to their end. `QUORATE_DEEP=1` adds those for a night, which may
 * end at their number of states instead.
 */
import type { Bound } from "./explore.ts";

const nothing: Bound = {
  timeouts: 0,
  proposals: 0,
  crashes: 0,
  duplicates: 0,
  overtakes: 0,
  slowWrites: 0,
  heartbeats: 0,
  maxStates: 3_000_000,
};

export type Named = Bound & { readonly name: string; readonly marks: readonly string[] };

const oneLeader: readonly string[] = ["a leader of term 1", "commit by a leader", "commit by a follower"];
const twoLeaders: readonly string[] = [...oneLeader, "a leader of term 2", "a truncation"];

export const quickBounds: readonly Named[] = [
  { ...nothing, name: "two elections", timeouts: 2, marks: twoLeaders },
  {
    ...nothing,
    name: "one election, a proposal, a crash, a slow write",
    timeouts: 1,
    proposals: 1,
    crashes: 1,
    slowWrites: 1,
    marks: oneLeader,
  },
  { ...nothing, name: "one election, two proposals", timeouts: 1, proposals: 2, marks: oneLeader },
  {
    ...nothing,
    name: "one election, a proposal, a message doubled and one overtaken",
    timeouts: 1,
    proposals: 1,
    duplicates: 1,
    overtakes: 1,
    marks: oneLeader,
  },
];

export const deepBounds: readonly Named[] = [
  { ...nothing, name: "two elections and a slow write", timeouts: 2, slowWrites: 1, marks: twoLeaders },
  { ...nothing, name: "two elections and a crash", timeouts: 2, crashes: 1, marks: twoLeaders },
  { ...nothing, name: "two elections and a proposal", timeouts: 2, proposals: 1, marks: twoLeaders },
  {
    ...nothing,
    name: "two elections, two proposals, a crash, a doubled message, a slow write",
    timeouts: 2,
    proposals: 2,
    crashes: 1,
    duplicates: 1,
    slowWrites: 1,
    heartbeats: 1,
    marks: oneLeader,
  },
];
