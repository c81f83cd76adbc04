/** Each fault of processes and clocks does what it says, and the cluster comes back from it. */
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { calmCluster, leaderOf, operateFor, outcomeOf, verdict } from "./scenarios.ts";

/** A process in a world with nothing else in it, and when its timers fire in true time. */
function lonely() {
  const world = new sim.World(1, { keptLines: 10 });
  const process = world.process("p");
  const fired: Record<string, number> = {};
  const after = (name: string, delayMs: number): void => {
    process.clock.after(delayMs, () => {
      fired[name] = world.timeline.nowMs;
    });
  };
  return { world, process, fired, after };
}

describe("the clock of a process", () => {
  it.each([0.5, 0.9995, 1.0005, 1.05, 1.5])(
    "runs at the rate %d, and its timers with it, never early",
    async (rate) => {
      const { world, process, fired } = lonely();
      process.clock.setRate(rate);
      const startMs = process.clock.nowMs();
      const early: number[] = [];
      for (let delayMs = 0; delayMs < 500; delayMs += 3.5) {
        const dueMs = process.clock.nowMs() + delayMs;
        process.clock.after(delayMs, () => {
          fired[delayMs] = world.timeline.nowMs;
          const shownMs = process.clock.nowMs();
          if (shownMs < dueMs || shownMs > dueMs + 0.25 * rate + 0.125) early.push(delayMs);
        });
      }
      await world.run(2_000);
      expect(early).toEqual([]);
      expect(Object.keys(fired)).toHaveLength(143);
      expect(process.clock.nowMs() - startMs).toBeCloseTo(2_000 * rate, 0);
      expect(process.clock.nowMs() * 8).toBe(Math.floor(process.clock.nowMs() * 8));
    },
  );

  it("takes timers with it when its rate changes or it leaps", async () => {
    const { world, process, fired, after } = lonely();
    after("short", 100);
    after("long", 1_000);
    await world.run(50);
    process.clock.setRate(0.5);
    await world.run(250);
    expect(fired).toEqual({ short: 150 });
    process.clock.leap(500);
    // 50 at full speed, 100 at half of it, a leap of 500: 350 are left, and take 700.
    await world.run(2_000);
    expect(fired.long).toBe(950);
    expect(process.clock.bootMs()).toBe(process.clock.nowMs());
  });

  it("fires at once what a leap has made due", async () => {
    const { world, process, fired, after } = lonely();
    after("timer", 300);
    await world.run(100);
    process.clock.leap(60_000);
    await world.run(200);
    expect(fired).toEqual({ timer: 100 });
  });

  it("stands still while the machine is suspended, but for the boot time", async () => {
    const { world, process, fired, after } = lonely();
    const startMs = process.clock.nowMs();
    after("soon", 150);
    after("later", 400);
    await world.run(100);
    process.suspend();
    await world.run(600);
    expect(fired).toEqual({});
    process.resume(false);
    expect(process.clock.nowMs() - startMs).toBe(100);
    expect(process.clock.bootMs() - startMs).toBe(600);
    await world.run(2_000);
    expect(fired).toEqual({ soon: 650, later: 900 });
  });

  it.each([1, 0.5, 1.009])(
    "never falls, whoever looks at it in its sleep, then at the rate %d",
    async (rate) => {
      const { world, process, fired, after } = lonely();
      const { clock } = process;
      const [startMs, startBootMs] = [clock.nowMs(), clock.bootMs()];
      after("timer", 1_000);
      await world.run(100);
      process.suspend();
      await world.run(300);
      expect(clock.nowMs() - startMs).toBe(100);
      expect(clock.bootMs() - startBootMs).toBe(300);
      clock.setRate(rate);
      await world.run(500);
      expect(clock.nowMs() - startMs).toBe(100);
      const sleptMs = clock.bootMs() - clock.nowMs();
      process.resume(false);
      expect(clock.nowMs() - startMs).toBe(100);
      expect(clock.bootMs() - clock.nowMs()).toBe(sleptMs);
      await world.run(10_000);
      expect(fired.timer).toBeCloseTo(500 + 900 / rate, 0);
    },
  );
});

describe("a starved process", () => {
  it("takes its time for each event, in order, so that timers fire late, and catches up afterwards", async () => {
    const { world, process } = lonely();
    const seen: [number, number][] = [];
    process.starve(10);
    for (let event = 0; event < 30; event += 1) {
      world.timeline.schedule(event, process, () => seen.push([event, world.timeline.nowMs]));
    }
    let timerMs = 0;
    process.clock.after(30, () => {
      timerMs = world.timeline.nowMs;
    });
    await world.run(205);
    expect(seen.map(([event]) => event)).toEqual(Array.from({ length: 21 }, (_, at) => at));
    expect(seen.every(([event, atMs]) => atMs === 10 * event)).toBe(true);
    process.starve(0);
    await world.run(206);
    expect(seen.map(([event]) => event)).toEqual(Array.from({ length: 30 }, (_, at) => at));
    expect(timerMs).toBe(205);
  });

  it("may be paused and killed meanwhile", async () => {
    const { world, process } = lonely();
    let seen = 0;
    process.starve(10);
    for (let event = 0; event < 30; event += 1) {
      world.timeline.schedule(event, process, () => {
        seen += 1;
      });
    }
    await world.run(45);
    process.pause();
    await world.run(300);
    expect(seen).toBe(5);
    process.resume(true);
    await world.run(345);
    expect(seen).toBeGreaterThanOrEqual(9);
    process.kill();
    const before = seen;
    await world.run(2_000);
    expect(seen).toBe(before);
  });
});

describe("a node that is struck", () => {
  it.each([
    { kind: "starvation", node: "a", eventMs: 8, forMs: 2_000 },
    { kind: "suspend", node: "a", forMs: 2_000 },
    { kind: "clockLeap", node: "a", forMs: 60_000 },
    { kind: "clockRate", node: "a", rate: 1.5, forMs: 2_000 },
    { kind: "clockRate", node: "a", rate: 0.5, forMs: 2_000 },
    {
      kind: "changedTimeouts",
      node: "a",
      heartbeatMs: 20,
      electionTimeoutMinMs: 100,
      electionTimeoutMaxMs: 160,
      forMs: 100,
    },
    { kind: "slowReads", node: "a", meanLatencyMs: 50, forMs: 2_000 },
    { kind: "fullDisk", node: "a", forMs: 1_000 },
    { kind: "rotSnapshot", node: "a", at: 77, forMs: 500 },
  ] as const satisfies readonly sim.Fault[])("by $kind comes back, and nothing is lost", async (fault) => {
    const simulation = await calmCluster(sim, { seed: 8, nodes: 3, layer: "store" });
    await operateFor(sim, simulation, 200, 10);
    const before = simulation.workload.stats.acknowledged;
    simulation.nemesis.strike({ ...fault, node: leaderOf(simulation).name });
    await operateFor(sim, simulation, 2_500, 20);
    expect(simulation.workload.stats.acknowledged).toBeGreaterThan(before);
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("by a full disk stops, refuses to start as long as there is no space, and starts when there is", async () => {
    const simulation = await calmCluster(sim, { seed: 9, nodes: 3, layer: "raft" });
    await operateFor(sim, simulation, 200);
    const leader = leaderOf(simulation);
    simulation.nemesis.strike({ kind: "fullDisk", node: leader.name, forMs: 1_000 });
    await operateFor(sim, simulation, 300);
    expect(leader.isUp).toBe(false);
    expect(leader.stopReason).toMatch(/STORAGE_FAILED.*ENOSPC/);
    const { starts } = leader;
    await sim.runFor(simulation, 400);
    expect(leader.starts).toBe(starts + 1);
    expect(leader.isUp).toBe(false);
    expect(leader.stopReason).toMatch(/ENOSPC/);
    await sim.runFor(simulation, 1_000);
    expect(leader.isUp).toBe(true);
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("by a full disk may stop late, when there is space again, and that is no unexpected stop", async () => {
    const simulation = await calmCluster(sim, { seed: 9, nodes: 3, layer: "raft" });
    const leader = leaderOf(simulation);
    simulation.nemesis.strike({ kind: "starvation", node: leader.name, eventMs: 20, forMs: 2_000 });
    simulation.nemesis.strike({ kind: "fullDisk", node: leader.name, forMs: 150 });
    await operateFor(sim, simulation, 150, 10);
    expect(leader.isUp && leader.temper.hasFailed).toBe(true);
    await sim.runFor(simulation, 2_000, () => !leader.isUp);
    expect(leader.temper.isFull).toBe(false);
    expect(leader.stopReason).toMatch(/STORAGE_FAILED.*ENOSPC/);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("by the directory of another node refuses it, changes neither, and comes back with its own", async () => {
    const simulation = await calmCluster(sim, { seed: 10, nodes: 3, layer: "raft" });
    await operateFor(sim, simulation, 200);
    simulation.nemesis.strike({ kind: "foreignDisk", node: "b", from: "c", forMs: 500 });
    await sim.runFor(simulation, 300);
    const host = simulation.cluster.host("b");
    expect(host.stopReason).toMatch(/^WRONG_DIRECTORY/);
    await sim.runFor(simulation, 500);
    expect(host.isUp).toBe(true);
    await sim.checkRecovery(simulation);
    expect(simulation.history.marks.get("another node's directory refused")).toBe(1);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("by the directory of another node, and then by none, has lost its own", async () => {
    const simulation = await calmCluster(sim, { seed: 10, nodes: 3, layer: "raft" });
    await operateFor(sim, simulation, 200);
    simulation.nemesis.strike({ kind: "foreignDisk", node: "b", from: "c", forMs: 1_000 });
    simulation.nemesis.strike({ kind: "wipe", node: "b", forMs: 200 });
    await sim.runFor(simulation, 600);
    const host = simulation.cluster.host("b");
    expect(host).toMatchObject({ isForeign: false, damage: "wiped" });
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("by an older copy of its directory is refused by those who have seen it start since", async () => {
    const simulation = await calmCluster(sim, { seed: 11, nodes: 3, layer: "raft" });
    await operateFor(sim, simulation, 200);
    const host = simulation.cluster.hosts.find((one) => one !== leaderOf(simulation)) as sim.SimulatedHost;
    simulation.nemesis.strike({ kind: "olderDisk", node: host.name, forMs: 3_000 });
    await sim.runFor(simulation, 6_000, () => host.damage === "rolledBack" && host.stopReason !== undefined);
    expect(host.stopReason).toMatch(/older copy/);
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });
});

describe("a process that dies at an await", () => {
  const calls = Array.from({ length: 48 }, (_, at) => at + 1);

  async function recovered(simulation: sim.Simulation): Promise<void> {
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  }

  it.each(["a", "b"])(
    "of the founding, at each of the first calls of %s, founds one cluster afterwards",
    async (node) => {
      for (const count of calls) {
        const simulation = sim.openSimulation({
          seed: count,
          nodes: 3,
          layer: "raft",
          profile: sim.calmProfile,
        });
        simulation.nemesis.strike({ kind: "crashAtCall", node, calls: count, silent: false, forMs: 50 });
        simulation.cluster.startAll();
        await sim.runFor(simulation, 10_000, () => simulation.cluster.leader() !== undefined);
        expect([count, simulation.cluster.host(node).starts]).toEqual([count, 2]);
        await recovered(simulation);
      }
    },
  );

  it("of a start opens its directory at the next one, at each of the first calls", async () => {
    const simulation = await calmCluster(sim, { seed: 31, nodes: 3, layer: "raft" });
    await operateFor(sim, simulation, 100);
    const host = simulation.cluster.host("b");
    for (const count of calls) {
      const { starts } = host;
      simulation.cluster.crash(host, false);
      simulation.nemesis.strike({
        kind: "crashAtCall",
        node: "b",
        calls: count,
        silent: count % 2 === 0,
        forMs: 20,
      });
      simulation.cluster.start(host);
      await sim.runFor(
        simulation,
        2_000,
        () => host.starts === starts + 2 && host.member?.state !== undefined,
      );
      expect([count, host.starts]).toEqual([count, starts + 2]);
    }
    await recovered(simulation);
  });

  it("of a write keeps what was acknowledged, at each of the first calls of the leader", async () => {
    const simulation = await calmCluster(sim, { seed: 32, nodes: 3, layer: "raft" });
    const { cluster, nemesis, workload } = simulation;
    for (const count of calls) {
      await sim.runFor(simulation, 3_000, () => cluster.leader() !== undefined && cluster.up().length === 3);
      const leader = leaderOf(simulation);
      const { starts } = leader;
      nemesis.strike({ kind: "crashAtCall", node: leader.name, calls: count, silent: false, forMs: 20 });
      await outcomeOf(sim, simulation, workload.write(leader, 500), 2_000);
      await sim.runFor(simulation, 3_000, () => leader.starts > starts);
      expect([count, leader.starts]).toEqual([count, starts + 1]);
    }
    await recovered(simulation);
  });
});
