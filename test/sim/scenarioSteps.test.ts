/** The steps of a scenario by hand do what they say, and end with an error that shows where it stands. */
import {
  assertNoViolation,
  calmProfile,
  checkRecovery,
  cutsBetween,
  heal,
  openSimulation,
  partition,
  runFor,
  runUntil,
  runUntilLeader,
  type Simulation,
  simulate,
} from "@quorate/sim";
import { describe, expect, it } from "vitest";

function opened(nodes: number): Simulation {
  const simulation = openSimulation({ seed: 11, nodes, layer: "raft", profile: calmProfile });
  simulation.cluster.startAll();
  return simulation;
}

describe("a scenario by hand", () => {
  it("cuts five nodes in two, lets the majority go on, and heals", async () => {
    const simulation = opened(5);
    const { cluster, workload } = simulation;
    const leader = await runUntilLeader(simulation);
    const others = cluster.hosts.map((host) => host.name).filter((name) => name !== leader.name);
    partition(simulation, [leader.name, ...others.slice(0, 1)], others.slice(1));
    const next = await runUntilLeader(simulation, { among: others.slice(1) });
    expect(next).not.toBe(leader);
    expect(await runUntil(simulation, workload.write(next, 1_000))).toBe(true);
    expect(await runUntil(simulation, workload.write(leader, 1_000))).toBe(false);
    heal(simulation);
    expect(simulation.world.paths.cutCount).toBe(0);
    await checkRecovery(simulation);
    assertNoViolation(simulation);
  });

  it("says who did not become a leader, and what happened last", async () => {
    const simulation = opened(3);
    await runUntilLeader(simulation);
    partition(simulation, ["a"], ["b"], ["c"]);
    await runFor(simulation, 2_000);
    const waiting = runUntilLeader(simulation, { withinMs: 500 });
    await expect(waiting).rejects.toMatchObject({
      code: "TIMED_OUT",
      message: expect.stringMatching(/^None of a, b, c became the leader of a majority in 500 ms[\s\S]*⇒/),
    });
  });

  it("refuses to cut off who is not there", () => {
    expect(() => partition(opened(3), ["a"], ["b", "e"])).toThrow(/there is no node e/);
  });

  it("refuses what cannot be, with a sentence", async () => {
    expect(() => partition(opened(3), ["a", "b"], ["b", "c"])).toThrow(
      /apart from each other, and b is listed twice/,
    );
    const idle = openSimulation({ seed: 11, nodes: 3, layer: "raft", profile: calmProfile });
    await expect(runUntilLeader(idle)).rejects.toThrow(/call simulation\.cluster\.startAll\(\) first/);
    const nothing = undefined as unknown as Promise<void>;
    await expect(runUntil(idle, nothing)).rejects.toThrow(
      /^runUntil waits for a promise, but was given undefined/,
    );
  });

  it.each<[object, RegExp]>([
    [{ nodes: 8 }, /^nodes must be an integer from 1 to 7, but is 8\.$/],
    [{ nodes: 0 }, /^nodes must be/],
    [{ seed: -1 }, /^seed must be/],
    [{ layer: "disk" }, /^layer must be one of store, raft, core, but is disk\.$/],
    [{ durationMs: Number.NaN }, /^durationMs must be/],
    [{ durationMS: 10 }, /^durationMS is no option of this call: it takes durationMs\.$/],
  ])("is not begun with %o", async (wrong, sentence) => {
    await expect(simulate({ seed: 1, nodes: 1, durationMs: 10, ...wrong })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: expect.stringMatching(sentence),
    });
  });

  it("waits for a promise for so long, and passes on what it is rejected with", async () => {
    const simulation = opened(1);
    await expect(runUntil(simulation, Promise.reject(new Error("no")))).rejects.toThrow("no");
    const never = runUntil(simulation, new Promise(() => {}), 100);
    await expect(never).rejects.toMatchObject({ code: "TIMED_OUT" });
    expect(simulation.world.timeline.nowMs).toBe(100);
  });

  it("tells what was violated, of a simulation and of a result", async () => {
    const simulation = opened(1);
    simulation.history.fail("durability", "write 7 is gone");
    expect(() => assertNoViolation(simulation)).toThrow(
      /^Seed 11 violates "durability" at 0 ms: write 7 is gone[\s\S]*!!/,
    );
    await expect(runUntilLeader(simulation)).rejects.toMatchObject({ code: "INVARIANT_BROKEN" });
    const result = await simulate({ seed: 2, nodes: 1, layer: "raft", durationMs: 200 });
    assertNoViolation(result);
    expect(() => assertNoViolation({ ...result, violations: simulation.history.violations })).toThrow(
      /Seed 2/,
    );
  });

  it("cuts every path between groups, both ways", () => {
    expect(
      cutsBetween(["a"], ["b"], ["c"])
        .map(([from, to]) => `${from}${to}`)
        .toSorted(),
    ).toEqual(["ab", "ac", "ba", "bc", "ca", "cb"]);
  });
});
