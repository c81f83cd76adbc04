/** What `quorate sim` makes of its options, of a violation, and of many outcomes. */
import { EventEmitter } from "node:events";
import type { Worker } from "node:worker_threads";
import * as sim from "@quorate/sim";
import {
  failureLines,
  type GivenOptions,
  listLines,
  requireOwnOperations,
  runSeeds,
  type SeedOutcome,
  SimTally,
  simOptions,
} from "quorate/internal";
import { describe, expect, it } from "vitest";

function asked(options: GivenOptions): ReturnType<typeof simOptions> {
  return simOptions(options, sim.profileNames);
}

const violation = { invariant: "commit rule", atMs: 12, sentence: "a commits too much" } as const;
const failure = { violation, schedule: "{}", lastLines: ["one", "two"] };

function outcome(seed: number, marks: readonly string[] = [], fails = false): SeedOutcome {
  return {
    seed,
    events: 10,
    traceHash: `h${seed}`,
    marks,
    checkedOperations: seed % 2,
    failure: fails ? failure : undefined,
  };
}

describe("the options of quorate sim", () => {
  it("have defaults", () => {
    expect(asked({})).toMatchObject({ from: 1, to: 100, nodes: 5, profile: "swarm", durationMs: 8_000 });
    expect(asked({ seed: "9", nodes: "3", time: "2s" })).toMatchObject({ from: 9, to: 9, durationMs: 2_000 });
  });

  it.each<[GivenOptions, RegExp]>([
    [{ seeds: "9..1" }, /--seeds must be a range/],
    [{ seed: "1", seeds: "1..2" }, /do not go together/],
    [{ html: "f" }, /--html shows one run/],
    [{ nodes: "4" }, /--nodes must be one of 3, 5, 7, but is "4"/],
    [{ profile: "floods" }, /--profile must be one of swarm, calm/],
    [{ replay: "f", nodes: "3" }, /--nodes does not go with --replay/],
  ])("%j are refused", (options, sentence) => {
    expect(() => asked(options)).toThrow(sentence);
  });
});

describe("a schedule to replay", () => {
  it("holds no commands for a machine that the command does not have", () => {
    const operation = { kind: "command", client: 0, command: { by: 1 }, timeoutMs: 100 } as const;
    expect(() => requireOwnOperations({ operations: [{ atMs: 1, operation }] }, "f.json")).toThrow(
      /^f\.json holds commands for a state machine of its own, .* simulate\(\{ schedule: readSchedule\(text\), machine \}\)/,
    );
    requireOwnOperations(
      { operations: [{ atMs: 1, operation: { kind: "get", client: 0, key: "k" } }] },
      "f.json",
    );
    requireOwnOperations({}, "f.json");
  });
});

describe("the tally of seeds", () => {
  it("counts, in how many seeds each mark was reached, and covers every trace in order", () => {
    let now = 0;
    const tally = new SimTally(() => now);
    now = 2_000;
    tally.add(outcome(1, ["b"]));
    expect(tally.summary().traceHash).toBe("h1");
    tally.add(outcome(2, ["a", "b"], true));
    const { traceHash, ...rest } = tally.summary();
    expect(traceHash).toMatch(/^[0-9a-f]{16}$/);
    expect(rest).toEqual({
      seeds: 2,
      events: 20,
      eventsPerS: 10,
      violations: 1,
      checkedHistories: 1,
      marks: { a: 1, b: 2 },
    });
    expect(tally.missing(["a", "c"])).toEqual(["c"]);
    expect(tally.progress(4)).toBe("2 of 4 seeds, 1.0 seeds/s, 10 events/s, 2 marks");
  });
});

describe("a violation", () => {
  it("is told with the seed, the trace's end and the commands that show it again", () => {
    const lines = failureLines(failure, asked({ seed: "7" }), 7, "quorate-sim-7.json").join("\n");
    expect(lines).toMatch(/^one\ntwo\n/);
    expect(lines).toContain('seed 7 violates "commit rule" at 12 ms: a commits too much');
    expect(lines).toContain("quorate sim --seed 7 --nodes 5 --profile swarm --layer store --time 8000ms");
    expect(lines).toContain("quorate sim --replay quorate-sim-7.json --minimize");
  });
});

describe("many seeds", () => {
  /** Answers at once, or later: the even ones after the odd ones. */
  class FakeWorker extends EventEmitter {
    readonly fails: number;

    constructor(fails: number) {
      super();
      this.fails = fails;
    }

    postMessage({ seed }: { seed: number }): void {
      const answer = (): void => {
        this.emit("message", outcome(seed, [], seed === this.fails));
      };
      if (seed % 2 === 0) setImmediate(() => setImmediate(answer));
      else setImmediate(answer);
    }

    terminate(): Promise<number> {
      return Promise.resolve(0);
    }
  }

  async function toldOf(seeds: number, start: () => EventEmitter): Promise<readonly number[]> {
    const told: number[] = [];
    const tasks = Array.from({ length: seeds }, (_, at) => ({ seed: at + 1, nodes: 3 }));
    await runSeeds(
      tasks,
      ({ seed }) => told.push(seed),
      () => start() as unknown as Worker,
    );
    return told;
  }

  it("are told in their order", async () => {
    expect(await toldOf(7, () => new FakeWorker(-1))).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("end with the first that fails", async () => {
    expect(await toldOf(50, () => new FakeWorker(4))).toEqual([1, 2, 3, 4]);
  });

  it("end with an error where a thread dies", async () => {
    class Dying extends FakeWorker {
      override postMessage(): void {
        setImmediate(() => this.emit("exit", 1));
      }
    }
    await expect(toldOf(3, () => new Dying(-1))).rejects.toThrow(/Seed 1 could not be run/);
  });
});

describe("quorate sim --list", () => {
  it("tells profiles, faults, invariants and marks", () => {
    const text = listLines(sim, false).join("\n");
    for (const word of ["swarm", "election safety", "leader crashed", "snapshot sent", "L17 leases pass on"])
      expect(text).toContain(word);
    const [json] = listLines(sim, true);
    expect(Object.keys(JSON.parse(json ?? ""))).toEqual([
      "profiles",
      "faults",
      "invariants",
      "requiredMarks",
    ]);
  });
});
