/**
 * Each of the oracle's rules can be broken: it is told of made-up histories, one lie at a time, and must say which rule
 * that breaks. The checker of linearizability gets lies of its own.
 */
import { type CommandResult, type Condition, encodeProposal } from "@quorate/client/protocol";
import type { Entry } from "@quorate/raft";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { loadMutated } from "../mutants/loadMutated.ts";
import { occurrences, type Patch } from "../mutants/sources.ts";
import { calmCluster, operateFor } from "./scenarios.ts";

type Oracle = sim.StoreWorkload["oracle"];

interface Told {
  readonly oracle: Oracle;
  readonly violations: () => string[];
  /** The entry that puts `serial` in `key` comes to be applied, with this result. */
  readonly apply: (key: string, serial: number, result: CommandResult, condition?: Condition) => void;
}

function story(): Told {
  const simulation = sim.openSimulation({ seed: 1, nodes: 3, layer: "store", profile: sim.calmProfile });
  const { oracle } = simulation.workload as sim.StoreWorkload;
  let index = 0;
  return {
    oracle,
    violations: () => simulation.history.violations.map(({ invariant }) => invariant),
    apply(key, serial, result, condition = { kind: "none" }) {
      index += 1;
      const value = new TextEncoder().encode(`${serial}`);
      const command = { kind: "put", key, value, format: "json", condition } as const;
      const data = encodeProposal({ origin: { kind: "anonymous" }, command });
      oracle.applied({ index, term: 1, kind: "command", data } as unknown as Entry, result);
    },
  };
}

function put(revision: number): CommandResult {
  return { kind: "put", revision };
}

/** Two writes to `k`, the first of which was acknowledged. */
function twoWrites(): Told {
  const told = story();
  told.oracle.begins("k", 1);
  told.oracle.begins("k", 2);
  told.apply("k", 1, put(1));
  told.oracle.wrote("c", "k", 1, 1, 0);
  told.apply("k", 2, put(2));
  return told;
}

const lies: readonly [rule: string, invariant: string, lie: (told: Told) => void][] = [
  ["a write nobody began", "exactly once", ({ apply }) => apply("k", 9, put(3))],
  ["a write that takes effect twice", "exactly once", ({ apply }) => apply("k", 2, put(3))],
  [
    "a revision left out",
    "linearizable reads",
    ({ apply, oracle }) => {
      oracle.begins("k", 3);
      apply("k", 3, put(4));
    },
  ],
  ["another answer to a repetition", "exactly once", ({ apply }) => apply("k", 2, put(1))],
  [
    "an effect though the condition did not hold",
    "linearizable reads",
    ({ apply, oracle }) => {
      oracle.begins("k", 3);
      apply("k", 3, put(3), { kind: "revision", revision: 1 });
    },
  ],
  [
    "a conflict though the condition held",
    "linearizable reads",
    ({ apply }) => apply("k", 3, { kind: "conflict", modRevision: 2 }, { kind: "revision", revision: 2 }),
  ],
  [
    "a conflict that names another revision than the newest below",
    "linearizable reads",
    ({ apply }) => apply("k", 3, { kind: "conflict", modRevision: 7 }, { kind: "revision", revision: 5 }),
  ],
  ["an acknowledgement of another's revision", "durability", ({ oracle }) => oracle.wrote("c", "k", 2, 1, 0)],
  [
    "a write below what was known when it began",
    "linearizable reads",
    ({ oracle }) => oracle.wrote("c", "k", 2, 2, 2),
  ],
  [
    "a read below the floor",
    "linearizable reads",
    ({ oracle }) => oracle.read("c", "k", { revision: 2 }, 1, 1),
  ],
  [
    "absence after presence",
    "linearizable reads",
    ({ oracle }) => oracle.read("c", "k", { revision: 1 }, 0, undefined),
  ],
  [
    "a value nobody wrote",
    "linearizable reads",
    ({ oracle }) => oracle.read("c", "k", { revision: 0 }, 2, 7),
  ],
  [
    "a value out of the future",
    "linearizable reads",
    ({ oracle }) => oracle.read("c", "k", { revision: 0 }, 3, undefined),
  ],
  ["another key's value", "linearizable reads", ({ oracle }) => oracle.read("c", "j", { revision: 0 }, 2, 2)],
  [
    "an effect of what had failed",
    "exactly once",
    ({ oracle }) => {
      oracle.didNotWrite(2);
      oracle.checkFinally();
    },
  ],
  ["an old value in the end", "durability", ({ oracle }) => oracle.checkFinally(new Map([["k", 1]]))],
  ["no value in the end", "durability", ({ oracle }) => oracle.checkFinally(new Map())],
];

describe("the client oracle", () => {
  it("finds nothing wrong with a true story", () => {
    const { oracle, violations, apply } = twoWrites();
    apply("k", 2, put(2));
    apply("k", 3, { kind: "conflict", modRevision: 2 }, { kind: "revision", revision: 1 });
    oracle.read("c", "k", oracle.floor("k"), 1, 1);
    oracle.read("c", "k", oracle.floor("k"), 2, 2);
    expect(oracle.floor("k")).toEqual({ revision: 2 });
    oracle.checkFinally(new Map([["k", 2]]));
    expect(violations()).toEqual([]);
  });

  it("remembers for each reader what any of them saw", () => {
    const { oracle, violations } = twoWrites();
    oracle.read("one", "k", oracle.floor("k"), 2, 2);
    oracle.read("another", "k", oracle.floor("k"), 1, 1);
    expect(violations()).toEqual(["linearizable reads"]);
  });

  it.each(lies)("notices %s", (_rule, invariant, lie) => {
    const told = twoWrites();
    lie(told);
    expect(told.violations()[0]).toBe(invariant);
  });
});

describe("the checker of linearizability over a run", () => {
  const lied: readonly (Patch & { readonly name: string; readonly words: RegExp })[] = [
    {
      name: "a reader that tells of the write before",
      file: "packages/sim/src/workload/storeClients.ts",
      find: 'call?.ok({ kind: "value", value: serial });',
      replace: 'call?.ok({ kind: "value", value: serial === undefined ? undefined : serial - 1 });',
      words: /^Not linearizable/,
    },
    {
      name: "a bound that leaves it undecided",
      file: "packages/sim/src/workload/clientHistory.ts",
      find: "const maxSteps = 2_000_000;",
      replace: "const maxSteps = 3;",
      words: /^Not decided/,
    },
  ];

  async function historyOf(simulator: typeof sim): Promise<sim.History> {
    const simulation = await calmCluster(simulator, { seed: 4, nodes: 3, layer: "store" }, "always");
    await operateFor(simulator, simulation, 500);
    await simulator.runFor(simulation, 1_000);
    expect(simulation.workload.checkHistory?.()).toBeGreaterThan(50);
    return simulation.history;
  }

  it("finds a legal order for what clients of a sound cluster were told", async () => {
    expect((await historyOf(sim)).violations).toEqual([]);
  });

  it.each(lied)("notices $name", { timeout: 60_000 }, async (patch) => {
    expect(occurrences(patch)).toBe(1);
    const { sim: mutated, close } = await loadMutated(patch);
    try {
      const [violation] = (await historyOf(mutated)).violations;
      expect(violation).toMatchObject({ invariant: "linearizability" });
      expect(violation?.sentence).toMatch(patch.words);
    } finally {
      await close();
    }
  });

  it("looks at the runs that the seed chooses, or at all, or at none", async () => {
    const checked = async (
      seed: number,
      linearizability: "sample" | "always" | "never",
    ): Promise<boolean> => {
      const profile = sim.calmProfile;
      const result = await sim.simulate({ seed, nodes: 1, durationMs: 200, profile, linearizability });
      return result.checkedOperations > 0;
    };
    expect(await checked(1, "always")).toBe(true);
    expect(await checked(1, "never")).toBe(false);
    const samples: boolean[] = [];
    for (let seed = 1; seed <= 24; seed += 1) samples.push(await checked(seed, "sample"));
    expect(new Set(samples)).toEqual(new Set([true, false]));
  });
});
