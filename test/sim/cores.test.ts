/**
 * The bare cores under every fault: a swarm of short seeds, of which some run twice, and the ways back to a run.
 *
 * Far more seeds than the whole node's, since an event costs a fraction; see seedRuns.ts for those.
 */
import { minimize, readSchedule, type SimulationOptions, simulate, writeSchedule } from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { report } from "./seedRuns.ts";

const durationMs = 1_000;

/** Nine of ten without the liveness phase, which takes longer than the misbehaviour. */
function options(seed: number): SimulationOptions {
  const nodes = [3, 5, 5, 5, 7][seed % 5] as number;
  return { seed, nodes, layer: "core", durationMs, recovers: seed % 10 === 0 };
}

/** Of a hundred seeds one twice. */
async function runHundred(from: number): Promise<ReadonlySet<string>> {
  const marks = new Set<string>();
  for (let seed = from; seed < from + 100; seed += 1) {
    const result = await simulate(options(seed));
    if (result.violations.length > 0) expect.fail(report(result));
    for (const mark of result.marks.keys()) marks.add(mark);
  }
  const [first, second] = [await simulate(options(from)), await simulate(options(from))];
  expect(second.traceHash).toBe(first.traceHash);
  return marks;
}

describe("bare cores under every fault", () => {
  const marks = new Set<string>();

  it.each(Array.from({ length: 15 }, (_, at) => at * 100 + 1))(
    "the hundred seeds from %i on break nothing",
    async (from) => {
      for (const mark of await runHundred(from)) marks.add(mark);
    },
  );

  it("come through every interesting state", () => {
    const wanted = [
      "conflict truncated",
      "crash with a write in flight",
      "data loss detected",
      "fast failover",
      "leader crashed",
      "leader paused",
      "read by a follower",
      "read by a leader",
      "write in flight survived the crash",
      "write in flight was lost",
    ];
    expect(wanted.filter((mark) => !marks.has(mark))).toEqual([]);
  });
});

describe("a run of bare cores", () => {
  it.each([3, 14, 27])("goes the same way again from the file of its schedule, seed %i", async (seed) => {
    const drawn = await simulate({ ...options(seed), durationMs: 3_000 });
    expect(drawn.schedule.faults.length).toBeGreaterThan(0);
    expect(drawn.stats.acknowledged).toBeGreaterThan(0);
    expect(drawn.stats.reads).toBeGreaterThan(0);
    const replayed = await simulate({ schedule: readSchedule(writeSchedule(drawn.schedule)) });
    expect(replayed.traceHash).toBe(drawn.traceHash);
    expect(replayed.schedule).toEqual(drawn.schedule);
  });

  it("does not depend on who looks at it", async () => {
    const lines: string[] = [];
    const quiet = await simulate(options(3));
    const watched = await simulate({ ...options(3), onLine: (line) => lines.push(line), keptLines: 1 });
    expect(watched.traceHash).toBe(quiet.traceHash);
    expect(lines.length).toBeGreaterThan(200);
  });

  it("never draws the wiping of a directory, which a core does not have", async () => {
    const { schedule } = await simulate({ ...options(1), profile: { faults: { wipe: 1, crash: 1 } } });
    expect(schedule.profile.faults).toEqual({ crash: 1 });
  });

  it("is made small like any other", async () => {
    const { schedule } = await simulate({ ...options(9), durationMs: 2_000 });
    const small = await minimize(
      schedule,
      async (tried) => {
        const { marks } = await simulate({ schedule: tried });
        return marks.has("leader crashed")
          ? { invariant: "liveness", atMs: 60_000, sentence: "the leader crashed" }
          : undefined;
      },
      { maxRuns: 200 },
    );
    expect(small?.schedule.layer).toBe("core");
    expect(small?.schedule.faults).toHaveLength(1);
  });
});
