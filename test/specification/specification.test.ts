/** Every step of the core is one that the published specification allows, and the comparison can fail. */
import { asTerm } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { idOf } from "../core/cluster.ts";
import { mutants } from "../mutants/catalogue.ts";
import { loadMutated } from "../mutants/loadMutated.ts";
import type { AbstractNode } from "./abstractState.ts";
import { actions, type Context } from "./actions.ts";
import { runShadowed } from "./randomRun.ts";
import { explain } from "./shadow.ts";

const seeds = 60;
const steps = 600;

function countAll(run: typeof runShadowed): Map<string, number> {
  const counts = new Map<string, number>();
  for (let seed = 1; seed <= seeds; seed += 1) {
    try {
      for (const [name, times] of run(seed, steps)) counts.set(name, (counts.get(name) ?? 0) + times);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
  return counts;
}

describe("the core beside the specification", () => {
  it("takes no step that is not at most three actions, and takes every action", () => {
    const counts = countAll(runShadowed);
    expect([...counts.keys()].sort()).toEqual([...Object.keys(actions), "Restart", "Stutter"].sort());
  });
});

const follower: AbstractNode = {
  term: asTerm(2),
  role: "follower",
  votedFor: idOf("b"),
  log: ["1:noop:", "2:noop:"],
  commitIndex: 1,
  votes: [],
  matches: {},
  durable: 2,
};
const nobody: Context = {
  self: idOf("a"),
  voters: ["a", "b", "c"].map(idOf),
  from: undefined,
  message: undefined,
  leaderLog: [],
};

describe("the specification refuses", () => {
  const illegal: readonly [string, AbstractNode][] = [
    ["a term that falls", { ...follower, term: asTerm(1) }],
    ["a vote that changes in its term", { ...follower, votedFor: idOf("c") }],
    ["an entry that vanishes", { ...follower, log: ["1:noop:"] }],
    ["a commit that nobody spoke of", { ...follower, commitIndex: 2 }],
    ["a leader without an election", { ...follower, role: "leader" }],
  ];
  it.each(illegal)("%s", (_, after) => {
    expect(explain(follower, after, nobody, 3)).toBeUndefined();
  });

  it("nothing that did not happen: no change is no action", () => {
    expect(explain(follower, { ...follower, durable: 1 }, nobody, 3)).toEqual([]);
  });
});

describe("the comparison finds a bug that was put in", () => {
  const found = [
    "an entry of an older term commits by counting",
    "an append is acknowledged before its sync",
    "every append truncates what follows it, below the commit index too",
  ];
  it.each(found)("%s", { timeout: 120_000 }, async (name) => {
    const loaded = await loadMutated(mutants.find((mutant) => mutant.name === name));
    try {
      const mutated = (await loaded.load("test/specification/randomRun.ts")) as {
        runShadowed: typeof runShadowed;
      };
      expect(() => countAll(mutated.runShadowed)).toThrow(/^seed \d+: (No 3 actions|a match is)/);
    } finally {
      await loaded.close();
    }
  });
});
