/** A machine of the user's own in a simulation that is driven by hand. */
import {
  type AppliedCommand,
  assertNoViolation,
  calmProfile,
  firstViolation,
  minimize,
  openSimulation,
  partition,
  runFor,
  runUntil,
  runUntilLeader,
  type Schedule,
  send,
  simulate,
  stateOf,
} from "@quorate/sim";
import { describe, expect, expectTypeOf, it } from "vitest";
import { Counter, type Increment } from "./machines.ts";

const starts: string[] = [];
const machine = {
  machine({ disk, node, start }: { disk: Map<string, unknown>; node: string; start: number }) {
    starts.push(`${node}${start}: ${disk.size}`);
    disk.set("here", true);
    return new Counter();
  },
  state: (counter: Counter) => counter.value,
};

const schedule: Schedule = {
  version: 1,
  seed: 1,
  nodes: 1,
  layer: "raft",
  profile: calmProfile,
  durationMs: 500,
  faults: [],
  operations: [{ atMs: 300, operation: { kind: "command", client: 0, command: { by: 2 }, timeoutMs: 100 } }],
};

describe("a machine of the user's own", () => {
  it("finds its disk again after a restart, and an empty one after its directory was wiped", async () => {
    starts.splice(0);
    const simulation = openSimulation({ seed: 1, nodes: 3, profile: calmProfile, machine });
    const { cluster, nemesis } = simulation;
    cluster.startAll();
    await runFor(simulation, 1_000);
    nemesis.strike({ kind: "crash", node: "a", silent: true, whenWriting: false, forMs: 100 });
    nemesis.strike({ kind: "wipe", node: "b", forMs: 100 });
    await runFor(simulation, 1_000);
    expect(starts.toSorted()).toEqual(["a1: 0", "a2: 1", "b1: 0", "b2: 0", "c1: 0"]);
    expect(simulation.history.violations).toEqual([]);
  });

  it("has the whole of Raft under it, and nothing of the store", async () => {
    await expect(simulate({ seed: 1, nodes: 3, layer: "store", machine })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
    });
  });

  it("is not run without commands, which only its user knows", async () => {
    await expect(simulate({ seed: 1, nodes: 3, machine })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: expect.stringMatching(/^simulate draws no commands for a machine of yours: give a schedule/),
    });
    const { operations: _, ...drawn } = schedule;
    await expect(simulate({ schedule: drawn, machine })).rejects.toThrow(/draws no commands/);
    const { workload, cluster } = openSimulation({ seed: 1, nodes: 1, machine });
    const [host] = cluster.hosts;
    if (host === undefined) throw new Error("there is no node");
    await expect(workload.write(host, 100)).rejects.toThrow(/send it a command, send\(simulation, command\)/);
    const stateless = { machine: () => new Counter() } as unknown as typeof machine;
    expect(() => openSimulation({ seed: 1, nodes: 1, machine: stateless })).toThrow(
      /^machine\.state must be a function, but is undefined/,
    );
  });

  it("is sent commands by hand, which resolve with its results, and shows its state", async () => {
    const simulation = openSimulation({ seed: 1, nodes: 3, profile: calmProfile, machine });
    simulation.cluster.startAll();
    const leader = await runUntilLeader(simulation);
    const sum: number = await runUntil(simulation, send(simulation, { by: 2 }));
    expect(sum).toBe(2);
    const both = Promise.all([send(simulation, { by: 3 }), send(simulation, { by: 4 }, { client: 1 })]);
    expect((await runUntil(simulation, both)).toSorted()).toContain(9);
    expect(stateOf(simulation, leader.name)).toBe(9);
    await runFor(simulation, 500);
    expect(["a", "b", "c"].map((node) => stateOf(simulation, node))).toEqual([9, 9, 9]);
    partition(simulation, ["a"], ["b"], ["c"]);
    const lost = runUntil(simulation, send(simulation, { by: 1 }, { timeoutMs: 50 }));
    await expect(lost).rejects.toMatchObject({ code: "TIMED_OUT", outcome: "unknown" });
    simulation.cluster.crash(leader, true);
    expect(stateOf(simulation, leader.name)).toBeUndefined();
    assertNoViolation(simulation);
    const bare = openSimulation({ seed: 1, nodes: 1 });
    expect(() => stateOf(bare as unknown as typeof simulation, "a")).toThrow(
      /stateOf is for a machine of your own/,
    );
  });

  it("may name the type of its commands wherever it is handed on", async () => {
    const typed = {
      ...machine,
      invariant: (counter: Counter, { commands }: { readonly commands: readonly Increment[] }) =>
        commands.reduce((total, { by }) => total + by, 0) === counter.value,
    };
    expectTypeOf(typed.invariant).not.toExtend<
      (counter: Counter, applied: AppliedCommand<unknown, unknown>) => boolean
    >();
    expect((await simulate({ schedule, machine: typed })).violations).toEqual([]);
    expectTypeOf(send<Increment, Counter>)
      .parameter(1)
      .toEqualTypeOf<Increment>();
    expectTypeOf(send<Increment, Counter>).returns.resolves.toEqualTypeOf<number>();
  });

  it("is minimised with", async () => {
    const [operation] = schedule.operations ?? [];
    if (operation === undefined) throw new Error("there is no operation");
    const twice = { ...schedule, operations: [operation, { ...operation, atMs: 350 }] };
    const failing = { ...machine, invariant: ({ value }: Counter) => value < 2 };
    const small = await minimize(twice, (candidate) => firstViolation(candidate, failing), { maxSeeds: 1 });
    expect(small?.schedule.operations).toHaveLength(1);
    expect(small?.violation.invariant).toBe("machine invariant");
  });

  it("has to be there for a schedule with commands", async () => {
    await expect(simulate({ schedule })).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    const { stats, violations } = await simulate({ schedule, machine });
    expect(stats.acknowledged).toBe(1);
    expect(violations).toEqual([]);
  });
});
