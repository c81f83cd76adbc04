/** Each fault of the network does what it says, and the cluster comes back from it. */
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { calmCluster, leaderOf, operateFor, verdict } from "./scenarios.ts";
import { type Traffic, traffic } from "./traffic.ts";

/** When each of the frames `1`, `2` … arrived; one is sent every `gapMs`. */
async function sendEvery(
  gapMs: number,
  count: number,
  arrange: (wire: Traffic) => void,
  role: "peer" | "client" = "peer",
): Promise<Traffic> {
  const wire = await traffic(role);
  arrange(wire);
  for (let frame = 1; frame <= count; frame += 1) {
    wire.send(frame);
    await wire.world.run(wire.world.timeline.nowMs + gapMs);
  }
  await wire.world.run(wire.world.timeline.nowMs + 2_000);
  return wire;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

describe.each(["peer", "client"] as const)("a clogged path (%s)", (role) => {
  it("delivers nothing for its time, and then all of it in order", async () => {
    let releasedMs = 0;
    const { arrivals } = await sendEvery(
      5,
      100,
      ({ world }) => {
        world.network.clog("x", "y");
        world.timeline.schedule(300, undefined, () => {
          releasedMs = world.timeline.nowMs;
          world.network.unclog("x", "y");
        });
      },
      role,
    );
    expect(arrivals.map(({ frame }) => frame)).toEqual(numbers(100));
    expect(arrivals.every(({ atMs }) => atMs >= releasedMs)).toBe(true);
    expect(arrivals.filter(({ atMs }) => atMs === releasedMs).length).toBeGreaterThan(50);
  });

  it("lets nobody in either: who dials waits", async () => {
    const wire = await traffic(role);
    wire.world.network.clog("x", "y");
    const dialled: string[] = [];
    void wire.dial().then(
      () => dialled.push("connected"),
      (error: Error) => dialled.push(error.message),
    );
    await wire.world.run(wire.world.timeline.nowMs + 400);
    expect(dialled).toEqual([]);
    wire.world.network.unclog("x", "y");
    await wire.world.run(wire.world.timeline.nowMs + 400);
    expect(dialled).toEqual(["connected"]);
  });
});

describe("a stream whose path is cut and heals", () => {
  it.each(["keep", "drop", "reset"] as const)(
    "never lacks a frame in the middle, healing by %s",
    async (healMode) => {
      const { arrivals, ended } = await sendEvery(
        3,
        200,
        ({ world }) => {
          world.paths.temper = { ...world.paths.temper, meanDelayMs: 20, healMode };
          for (const atMs of [100, 200, 300]) {
            world.timeline.schedule(atMs, undefined, () => world.network.cut("x", "y"));
            world.timeline.schedule(atMs + 40, undefined, () => world.network.heal("x", "y"));
          }
        },
        "client",
      );
      expect(arrivals.map(({ frame }) => frame)).toEqual(numbers(arrivals.length));
      if (healMode === "keep") expect(arrivals).toHaveLength(200);
      else expect(ended).toMatch(/reset/);
    },
  );
});

describe("frames that are swapped", () => {
  it("come right after the one that was sent next, and none is lost", async () => {
    const { arrivals } = await sendEvery(5, 250, ({ world }) => {
      world.paths.temper = { ...world.paths.temper, swapping: 0.3 };
    });
    const frames = arrivals.map(({ frame }) => frame);
    expect([...frames].sort((one, other) => one - other)).toEqual(numbers(250));
    const swaps = frames.filter((frame, at) => frame === (frames[at + 1] ?? 0) + 1).length;
    expect(swaps).toBeGreaterThan(25);
    expect(frames.every((frame, at) => Math.abs(frame - at - 1) <= 1)).toBe(true);
  });

  it("arrive alone where no other is sent", async () => {
    const wire = await sendEvery(0, 1, ({ world }) => {
      world.paths.temper = { ...world.paths.temper, swapping: 1 };
    });
    expect(wire.arrivals.map(({ frame }) => frame)).toEqual([1]);
  });
});

describe.each(["peer", "client"] as const)("a damaged frame (%s)", (role) => {
  it("never reaches its reader, and ends the connection of both sides", async () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const wire = await traffic(role, seed);
      wire.world.paths.temper = { ...wire.world.paths.temper, corruption: 1 };
      wire.send(7);
      await wire.world.run(wire.world.timeline.nowMs + 100);
      expect(wire.arrivals).toEqual([]);
      expect(wire.ended).toMatch(/damaged on its way/);
      expect(wire.nearEnded).toMatch(/damaged on its way/);
    }
  });
});

/** When the path was cut and healed from now on, by looking at it every eighth of a millisecond. */
async function changesOf(simulation: sim.Simulation, from: string, to: string, forMs: number) {
  const { paths, timeline } = simulation.world;
  const startMs = timeline.nowMs;
  const changes: number[] = [];
  let before = false;
  for (let step = 0; step <= forMs * 8; step += 1) {
    if (paths.isCut(from, to) !== before) changes.push(timeline.nowMs - startMs);
    before = paths.isCut(from, to);
    await sim.runFor(simulation, 0.125);
  }
  return changes;
}

describe("a flapping link", () => {
  it("is cut and whole in turn, at the given moments, and whole after its time", async () => {
    const simulation = await calmCluster(sim, { seed: 3, nodes: 3, layer: "raft" });
    const gapsMs = [30, 20, 15, 40, 500];
    simulation.nemesis.strike({ kind: "flapping", paths: [["a", "b"]], gapsMs, forMs: 200 });
    expect(simulation.world.paths.isCut("b", "a")).toBe(false);
    expect(await changesOf(simulation, "a", "b", 300)).toEqual([0, 30, 50, 65, 105, 200]);
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("stops flapping when all is healed", async () => {
    const simulation = await calmCluster(sim, { seed: 3, nodes: 3, layer: "raft" });
    const gapsMs = Array.from({ length: 60 }, () => 50);
    simulation.nemesis.strike({ kind: "flapping", paths: [["a", "b"]], gapsMs, forMs: 3_000 });
    await sim.runFor(simulation, 75);
    simulation.nemesis.end();
    expect(await changesOf(simulation, "a", "b", 500)).toEqual([]);
  });
});

describe("a swizzle clog", () => {
  it("stops paths one after the other and releases them in another order", async () => {
    const simulation = await calmCluster(sim, { seed: 4, nodes: 3, layer: "raft" });
    const { nemesis, world } = simulation;
    const [ab, bc, ca] = [
      ["a", "b"],
      ["b", "c"],
      ["c", "a"],
    ] as const;
    nemesis.strike({ kind: "swizzleClog", stops: [ab, bc, ca], releases: [bc, ca, ab], forMs: 600 });
    const seen: string[] = [];
    for (let passedMs = 0; passedMs < 700; passedMs += 50) {
      await sim.runFor(simulation, 50);
      const clogged = [ab, bc, ca].filter(([from, to]) => world.paths.isClogged(from, to));
      const words = clogged.map((path) => path.join("")).join(" ");
      if (words !== seen.at(-1)) seen.push(words);
    }
    expect(seen).toEqual(["ab", "ab bc", "ab bc ca", "ab ca", "ab", ""]);
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });
});

describe("a cut between clients and a node", () => {
  it.each([
    ["requests", true, false],
    ["replies", false, true],
    ["both", true, true],
  ] as const)("of %s cuts nothing between nodes, and clients go elsewhere", async (lost, there, back) => {
    const simulation = await calmCluster(sim, { seed: 5, nodes: 3, layer: "store" });
    const { cluster, nemesis, workload, world } = simulation;
    await operateFor(sim, simulation, 300);
    const leader = leaderOf(simulation);
    const follower = cluster.hosts.find((host) => host !== leader) as sim.SimulatedHost;
    nemesis.strike({ kind: "clientCut", node: follower.name, lost, forMs: 4_000 });
    expect(world.paths.isCut("clients", follower.name)).toBe(there);
    expect(world.paths.isCut(follower.name, "clients")).toBe(back);
    expect(world.paths.cutCount).toBe(Number(there) + Number(back));
    const before = { ...workload.stats };
    await operateFor(sim, simulation, 3_500);
    expect(cluster.leader()).toBe(leader);
    expect(workload.stats.acknowledged - before.acknowledged).toBeGreaterThan(100);
    expect(workload.stats.reads - before.reads).toBeGreaterThan(100);
    await sim.runFor(simulation, 600);
    expect(world.paths.cutCount).toBe(0);
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("leaves a leader in office that hears no client: writes wait for the healing, and then go on", async () => {
    const simulation = await calmCluster(sim, { seed: 5, nodes: 3, layer: "store" });
    const { cluster, nemesis, workload } = simulation;
    await operateFor(sim, simulation, 300);
    const leader = leaderOf(simulation);
    nemesis.strike({ kind: "clientCut", node: leader.name, lost: "both", forMs: 3_000 });
    await operateFor(sim, simulation, 100);
    const before = workload.stats.acknowledged;
    await operateFor(sim, simulation, 2_800, 25);
    expect(workload.stats.acknowledged).toBe(before);
    expect(cluster.leader()).toBe(leader);
    await operateFor(sim, simulation, 6_000, 25);
    expect(workload.stats.acknowledged).toBeGreaterThan(before);
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });
});
