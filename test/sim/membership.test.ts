/** Changes of membership in simulation: seeds of the profile `membership`, and what such seeds have found. */
import { type MemberId, nodeIdOf } from "@quorate/raft";
import {
  calmProfile,
  calmWire,
  heal,
  namedProfiles,
  openSimulation,
  partition,
  runFor,
  runUntilLeader,
  simulate,
} from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { report } from "./seedRuns.ts";

const { profile } = namedProfiles.membership;
const durationMs = 4_000;

describe.each(["raft", "store"] as const)("members that come and go, layer %s", (layer) => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const nodes = 1 + (seed % 7);
    it(`seed ${seed} with ${nodes} founding nodes breaks nothing`, { timeout: 120_000 }, async () => {
      const result = await simulate({ seed, nodes, layer, profile, durationMs });
      if (result.violations.length > 0) expect.fail(report(result, "membership"));
      if (seed % 5 !== 0) return;
      const again = await simulate({ seed, nodes, layer, profile, durationMs });
      expect(again.traceHash).toBe(result.traceHash);
      const replayed = await simulate({ schedule: result.schedule });
      expect(replayed.traceHash).toBe(result.traceHash);
    });
  }
});

describe("a member that was away while another came in", () => {
  it("answers that one when it leads, though no log of its own names it", async () => {
    const simulation = openSimulation({
      seed: 5,
      nodes: 3,
      layer: "raft",
      // What was sent to it meanwhile is lost with its connections.
      profile: { ...calmProfile, wire: { ...calmWire, healMode: "reset" }, spares: 1 },
    });
    const { cluster, history } = simulation;
    cluster.startAll();
    const leader = await runUntilLeader(simulation);
    const names = cluster.hosts.map(({ name }) => name);
    const away = cluster.hosts.find((host) => host !== leader && !host.isSpare)!;
    const newcomer = cluster.host("d");
    partition(
      simulation,
      [away.name],
      names.filter((name) => name !== away.name),
    );
    cluster.join(newcomer, { votes: true, replaces: undefined });
    const isVoter = (): boolean => history.configuration?.configuration.voters.length === 4;
    expect(await runFor(simulation, 20_000, isVoter)).toBe(true);
    cluster.transfer(leader, "d");
    expect(await runFor(simulation, 5_000, () => cluster.leader() === newcomer)).toBe(true);
    heal(simulation);
    const hasAll = (): boolean =>
      away.member?.state?.commitIndex === newcomer.member?.state?.log.lastIndex &&
      newcomer === cluster.leader();
    expect(await runFor(simulation, 10_000, hasAll)).toBe(true);
  });
});

describe("a node that is wiped again before it was promoted", () => {
  it.each(["raft", "store"] as const)("takes its own place all the same, layer %s", async (layer) => {
    const simulation = openSimulation({ seed: 6, nodes: 3, layer, profile: calmProfile });
    const { cluster, history } = simulation;
    cluster.startAll();
    const leader = await runUntilLeader(simulation);
    const wiped = cluster.hosts.find((host) => host !== leader)!;
    const rest = cluster.hosts.filter((host) => host !== wiped).map(({ name }) => name);
    const plan = { votes: true, replaces: undefined };
    cluster.wipe(wiped, plan);
    cluster.start(wiped);
    const waits = (): boolean =>
      leader.member?.state?.log.configurations.at(-1)?.configuration.learners.length === 1;
    expect(await runFor(simulation, 10_000, waits)).toBe(true);
    partition(simulation, [wiped.name], rest);
    await runFor(simulation, 500);
    expect(waits()).toBe(true);
    cluster.wipe(wiped, plan);
    heal(simulation);
    cluster.start(wiped);
    const isBack = (): boolean =>
      history.configuration?.configuration.voters.some(({ id }) => id === wiped.member?.member) === true;
    expect(await runFor(simulation, 20_000, isBack)).toBe(true);
  });
});

describe("a node that is removed again before it was told that it had come in", () => {
  it.each(["raft", "store"] as const)("asks anew, and comes in, layer %s", async (layer) => {
    const profile = { ...calmProfile, spares: 1 };
    const simulation = openSimulation({ seed: 7, nodes: 3, layer, profile });
    const { cluster, history } = simulation;
    cluster.startAll();
    await runUntilLeader(simulation);
    const newcomer = cluster.host("d");
    const named = (): MemberId | undefined => {
      const { voters, learners } = history.configuration?.configuration ?? { voters: [], learners: [] };
      return [...voters, ...learners].find(({ id }) => nodeIdOf(id) === "d")?.id;
    };
    cluster.join(newcomer, { votes: true, replaces: undefined });
    // As soon as it is a member nobody reaches it any more.
    const isAdded = await runFor(simulation, 10_000, () => {
      if (named() === undefined) return false;
      partition(simulation, ["d"], ["a", "b", "c"]);
      return true;
    });
    expect(isAdded && newcomer.isJoining).toBe(true);
    cluster.changeMembers(cluster.leader()!, [{ kind: "remove", id: named()! }]);
    expect(await runFor(simulation, 10_000, () => named() === undefined)).toBe(true);
    heal(simulation);
    expect(await runFor(simulation, 30_000, () => named() !== undefined && !newcomer.isJoining)).toBe(true);
    expect(history.violations).toEqual([]);
  });
});

describe("a node that was wiped and started as it was, in a cluster that does not know it any more", () => {
  it("comes in when it is told to", async () => {
    const simulation = openSimulation({ seed: 8, nodes: 3, layer: "raft", profile: calmProfile });
    const { cluster, history } = simulation;
    cluster.startAll();
    const leader = await runUntilLeader(simulation);
    const wiped = cluster.hosts.find((host) => host !== leader)!;
    cluster.wipe(wiped);
    const voters = (): readonly MemberId[] =>
      (history.configuration?.configuration.voters ?? []).map(({ id }) => id);
    const before = voters().find((id) => nodeIdOf(id) === wiped.name)!;
    cluster.changeMembers(leader, [{ kind: "remove", id: before }]);
    expect(await runFor(simulation, 5_000, () => voters().length === 2)).toBe(true);
    cluster.start(wiped);
    await runFor(simulation, 2_000);
    cluster.join(wiped, { votes: true, replaces: undefined });
    expect(await runFor(simulation, 10_000, () => voters().length === 3)).toBe(true);
  });
});
