/**
 * What a core must do while the rest stays broken for ever: the liveness checks of the simulator on partial partitions
 * that have brought down real clusters. That each check can fail: brokenLiveness.test.ts.
 */
import type { Core, SimulatedHost } from "@quorate/sim";
import * as sim from "@quorate/sim";
import { describe, expect, it } from "vitest";
import {
  deafFollower,
  fickleLeaderOutside,
  halfLeader,
  hungLeaderOutside,
  leasesPassedOn,
  meshWithTails,
  oneLinkCut,
  outdatedVoter,
  restarted,
  star,
  undisturbed,
} from "./livenessScenarios.ts";
import { calmCluster, leaderOf, operateFor, verdict } from "./scenarios.ts";

describe("a core of whole nodes", () => {
  it("passes the lease of a client that died to who waits, and takes none from the living (L17)", async () => {
    const { simulation, elections } = await leasesPassedOn(sim);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(simulation.history.marks.get("lease passed on in a healed core")).toBe(1);
    expect(elections()).toBe(0);
  });
});

describe.each(["raft", "store"] as const)("a core while the rest stays broken (%s)", (layer) => {
  it("keeps its leader, though one node hears nobody and all hear it (L4)", async () => {
    const { simulation, elections } = await deafFollower(sim, layer);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(elections()).toBe(0);
  });

  it.each(["away", "at leader"] as const)("works with one link of three cut, %s (L5)", async (where) => {
    const { simulation, elections } = await oneLinkCut(sim, layer, where);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(elections()).toBeLessThanOrEqual(1);
  });

  it("finds a leader in a mesh of three with two tails (L6)", async () => {
    const { simulation, elections } = await meshWithTails(sim, layer);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(elections()).toBeGreaterThan(0);
  });

  it.each(["send", "hear"] as const)("replaces a leader that can only %s (L7)", async (can) => {
    const { simulation, elections } = await halfLeader(sim, layer, can);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(elections()).toBeGreaterThan(0);
    expect(simulation.history.marks.get("leader without a quorum outside of the core")).toBe(1);
  });

  it("is handed over once by a leader outside of it whose disk hangs (L1)", async () => {
    const { simulation, elections, old } = await hungLeaderOutside(sim, layer);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(elections()).toBe(1);
    expect(leaderOf(simulation)).not.toBe(old);
  });

  it("has no excuse for an election where the leader outside of it is well (L1)", async () => {
    const { simulation, elections } = await fickleLeaderOutside(sim, layer);
    expect(verdict(simulation)).toMatch(/^L1 stable leader: 1 more elections/);
    expect(elections()).toBe(1);
  });

  it("is led by the one node that reaches a quorum (L8)", async () => {
    const { simulation, centre } = await star(sim, layer);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(leaderOf(simulation)).toBe(centre);
  });

  it("elects with a voter that missed three terms (L9)", async () => {
    const { simulation } = await outdatedVoter(sim, layer);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(simulation.history.marks.get("conflict truncated")).toBeGreaterThan(0);
  });

  it.each(["all", "one"] as const)("comes back after a restart of %s of it (L11, L16)", async (who) => {
    const { simulation } = await restarted(sim, layer, who);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("is quiet when nobody asks (L13, L14, L15)", async () => {
    const { simulation, elections } = await undisturbed(sim, layer);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(elections()).toBe(0);
  });
});

describe("a chain of five, in which leadership may wander (a documented limit of Raft)", () => {
  it("breaks no safety", async () => {
    const simulation = await calmCluster(sim, { seed: 4, nodes: 5, layer: "raft" });
    const names: readonly string[] = simulation.cluster.hosts.map(({ name }) => name);
    for (const [at, one] of names.entries()) {
      for (const other of names.slice(at + 2)) {
        simulation.world.network.cut(one, other);
        simulation.world.network.cut(other, one);
      }
    }
    await operateFor(sim, simulation, 3_000, 25);
    expect(verdict(simulation)).toBe("nothing violated");
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
  });
});

describe("events without time (L14)", () => {
  it("are noticed", async () => {
    const simulation = await calmCluster(sim, { seed: 4, nodes: 1, layer: "raft" });
    const again = (): void => {
      simulation.world.timeline.schedule(0, undefined, again);
    };
    again();
    await sim.runFor(simulation, 1_000);
    expect(simulation.history.violations[0]?.invariant).toBe("L14 no busy loop");
  });
});

describe("the core of a liveness phase", () => {
  it("has a quorum of sound nodes, at times no more, and leaves the rest as it is", async () => {
    const simulation = await calmCluster(sim, { seed: 1, nodes: 5, layer: "raft" });
    const [a, b, c] = simulation.cluster.hosts as [SimulatedHost, SimulatedHost, SimulatedHost];
    simulation.cluster.crash(a, false);
    simulation.cluster.wipe(b);
    simulation.cluster.pause(c);
    const cores = Array.from({ length: 40 }, (_, seed) =>
      sim.chooseCore(simulation, sim.chanceFrom(seed, "core")),
    );
    for (const { hosts } of cores) {
      expect(hosts.filter((host) => host.damage === "none").length).toBeGreaterThanOrEqual(3);
    }
    expect(cores.some(({ outside }) => outside.length === 0)).toBe(true);
    const smallest = cores.find(({ hosts }) => hosts.length === 3 && hosts.includes(a)) as Core;
    sim.healCore(simulation, smallest);
    for (const host of smallest.hosts) expect([host.isUp, host.isPaused]).toEqual([true, false]);
    for (const host of smallest.outside) expect([host.isUp, host.isPaused]).toEqual([host !== b, host === c]);
  });

  it("takes in a node that can lead and does not reach all of it", async () => {
    const simulation = await calmCluster(sim, { seed: 1, nodes: 5, layer: "raft" });
    simulation.world.network.cut("d", "a");
    simulation.world.network.cut("e", "b");
    for (let seed = 1; seed <= 40; seed += 1) {
      const { hosts } = sim.chooseCore(simulation, sim.chanceFrom(seed, "core"));
      const names: readonly string[] = hosts.map(({ name }) => name);
      if (names.includes("a")) expect(names).toContain("d");
      if (names.includes("b")) expect(names).toContain("e");
    }
  });

  it("takes in a node that can lead once somebody has come in who is on the way", async () => {
    const profile = { ...sim.calmProfile, spares: 1 };
    const simulation = sim.openSimulation({ seed: 1, nodes: 5, layer: "raft", profile });
    const { cluster, history, world } = simulation;
    cluster.startAll();
    await sim.runFor(simulation, 10_000, () => history.commitIndex > 0);
    // `a` reaches two of five, and `f` in the place of a third.
    for (const name of ["b", "c", "e"]) world.network.cut(name, "a");
    cluster.join(cluster.host("f"), { votes: true, replaces: "b" });
    for (let seed = 1; seed <= 40; seed += 1) {
      const { hosts } = sim.chooseCore(simulation, sim.chanceFrom(seed, "core"));
      const names: readonly string[] = hosts.map(({ name }) => name);
      expect(names).toContain("f");
      if (names.some((name) => "bce".includes(name))) expect(names).toContain("a");
    }
  });

  it("is excused where it lost its quorum to damage, and only then", async () => {
    const simulation = await calmCluster(sim, { seed: 2, nodes: 3, layer: "raft" });
    simulation.cluster.wipe(simulation.cluster.host("a"));
    simulation.cluster.wipe(simulation.cluster.host("b"));
    await sim.checkLiveness(simulation);
    // In the core, and of all at the end.
    expect(simulation.history.marks.get("core without a quorum")).toBe(2);
    expect(verdict(simulation)).toBe("nothing violated");
  });

  it("is excused for ever where more came back as new members than may be lost", async () => {
    const simulation = await calmCluster(sim, { seed: 2, nodes: 3, layer: "raft" });
    const { cluster, history } = simulation;
    for (const name of ["a", "b"]) {
      cluster.wipe(cluster.host(name), { votes: true, replaces: undefined });
      cluster.start(cluster.host(name));
    }
    await sim.checkRecovery(simulation);
    expect(verdict(simulation)).toBe("nothing violated");
    expect(history.marks.get("core without a quorum")).toBe(1);
  });
});
