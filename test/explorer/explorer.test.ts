/**
 * Every state that three real cores can reach within each bound is safe, and the explorer finds bugs that are put in.
 */
import * as core from "@quorate/raft";
import { describe, expect, it } from "vitest";
import { mutants } from "../mutants/catalogue.ts";
import { loadMutated } from "../mutants/loadMutated.ts";
import { deepBounds, type Named, quickBounds } from "./bounds.ts";
import { type Exploration, explore } from "./explore.ts";
import type { Core } from "./localState.ts";

function say(name: string, { states, transitions, isComplete, localStates }: Exploration): void {
  const end = isComplete ? "all" : "the first";
  const found = `${end} ${states} states of the cluster, by ${transitions} steps, of ${localStates} states of a node`;
  process.stdout.write(`${name}: ${found}\n`);
}

function holds(bound: Named): Exploration {
  const result = explore(core, bound);
  say(bound.name, result);
  expect(result.violation).toBeUndefined();
  for (const mark of bound.marks) expect(result.marks, mark).toContain(mark);
  return result;
}

describe("every reachable state of three nodes is safe", () => {
  it.each(quickBounds)("within $name", { timeout: 120_000 }, (bound) => {
    expect(holds(bound).isComplete).toBe(true);
  });

  if (process.env.QUORATE_DEEP !== undefined) {
    it.each(deepBounds)("within $name", { timeout: 7_200_000 }, (bound) => {
      holds(bound);
    });
  }
});

const planted: readonly { name: string; within: string; finds: RegExp }[] = [
  { name: "the vote is not persisted", within: "two elections", finds: /^S3|own vote is durable/ },
  { name: "a vote leaves before it is durable", within: "two elections", finds: /^S3/ },
  { name: "a step down in the same term clears the vote", within: "two elections", finds: /^S2/ },
  { name: "an entry of an older term commits by counting", within: "two elections", finds: /^S8/ },
  {
    name: "an append is acknowledged before its sync",
    within: "one election, a proposal, a crash, a slow write",
    finds: /^S3: an ack/,
  },
  {
    name: "every append truncates what follows it, below the commit index too",
    within: "one election, a proposal, a message doubled and one overtaken",
    finds: /^S[689]/,
  },
];

describe("the explorer finds a bug that was put in", () => {
  it.each(planted)("$name", { timeout: 120_000 }, async ({ name, within, finds }) => {
    const mutant = mutants.find((one) => one.name === name)!;
    const loaded = await loadMutated(mutant);
    try {
      const mutated = (await loaded.load("packages/raft/src/core/index.ts")) as Core;
      const bound = quickBounds.find((one) => one.name === within)!;
      const { violation } = explore(mutated, bound);
      expect(loaded.wasApplied).toBe(true);
      expect(violation?.sentence).toMatch(finds);
      expect(violation?.trace.length).toBeGreaterThan(0);
    } finally {
      await loaded.close();
    }
  });
});
