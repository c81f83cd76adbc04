/**
 * Directed scenarios of liveness: partial partitions and restarts on which clusters have been seen to livelock. Each
 * takes the simulator as an argument, so that it runs on the sources as they are and on broken ones.
 */
import type { SimulatedHost, Simulation } from "@quorate/sim";
import { calmCluster, type Layer, leaderOf, outcomeOf, type Simulator } from "./scenarios.ts";

export interface Scene {
  readonly simulation: Simulation;
  /** Elections won since the paths were cut. */
  readonly elections: () => number;
}

/** A leader without a quorum has given up by then, and its followers have noticed: three election timeouts. */
const deposedMs = 900;

type Path = readonly [from: SimulatedHost, to: SimulatedHost];

async function calm(sim: Simulator, nodes: number, layer: Layer, seed: number = 3): Promise<Simulation> {
  const simulation = await calmCluster(sim, { seed, nodes, layer });
  await outcomeOf(sim, simulation, simulation.workload.write(leaderOf(simulation), 1_000));
  return simulation;
}

/** Cuts, counts elections from here on, waits for what the cuts bring about, and holds `core` to its duties. */
async function judge(
  sim: Simulator,
  simulation: Simulation,
  cuts: readonly Path[],
  core: readonly SimulatedHost[],
  settleMs: number = 0,
): Promise<Scene> {
  const { history, world } = simulation;
  const before = history.leaders.size;
  for (const [from, to] of cuts) world.network.cut(from.name, to.name);
  const names = core.map(({ name }) => name);
  await sim.runFor(simulation, settleMs);
  await sim.checkCore(simulation, sim.coreOf(simulation, names));
  return { simulation, elections: () => history.leaders.size - before };
}

function bothWays(one: SimulatedHost, other: SimulatedHost): readonly Path[] {
  return [
    [one, other],
    [other, one],
  ];
}

function split(simulation: Simulation): {
  readonly leader: SimulatedHost;
  readonly others: readonly SimulatedHost[];
} {
  const leader = leaderOf(simulation);
  return { leader, others: simulation.cluster.hosts.filter((host) => host !== leader) };
}

/** All but these pairs are cut. */
function onlyBetween(simulation: Simulation, pairs: readonly Path[]): readonly Path[] {
  const { hosts } = simulation.cluster;
  const isKept = (one: SimulatedHost, other: SimulatedHost): boolean =>
    pairs.some(([from, to]) => (from === one && to === other) || (from === other && to === one));
  return hosts.flatMap((from) =>
    hosts.flatMap((to): Path[] => (from === to || isKept(from, to) ? [] : [[from, to]])),
  );
}

/** A follower hears nobody, and all hear it. */
export async function deafFollower(sim: Simulator, layer: Layer): Promise<Scene> {
  const simulation = await calm(sim, 5, layer);
  const { others } = split(simulation);
  const deaf = others[0] as SimulatedHost;
  const rest = simulation.cluster.hosts.filter((host) => host !== deaf);
  return judge(
    sim,
    simulation,
    rest.map((host): Path => [host, deaf]),
    rest,
  );
}

/** Cloudflare, November 2020: one link of three is cut, and the leader sees both of its ends, or is one of them. */
export async function oneLinkCut(sim: Simulator, layer: Layer, where: "away" | "at leader"): Promise<Scene> {
  const simulation = await calm(sim, 3, layer);
  const { leader, others } = split(simulation);
  const [one, other] = others as [SimulatedHost, SimulatedHost];
  return where === "away"
    ? judge(sim, simulation, bothWays(one, other), simulation.cluster.hosts, deposedMs)
    : judge(sim, simulation, bothWays(leader, one), [leader, other], deposedMs);
}

/** Three in a full mesh, of which two have a friend each whom nobody else sees (decentralizedthoughts, 2020). */
export async function meshWithTails(sim: Simulator, layer: Layer): Promise<Scene> {
  const simulation = await calm(sim, 5, layer);
  const { leader, others } = split(simulation);
  const [two, three, four, five] = others as [SimulatedHost, SimulatedHost, SimulatedHost, SimulatedHost];
  // The leader of before is a tail, so that a new one has to be found.
  const pairs: Path[] = [
    [two, three],
    [two, four],
    [three, four],
    [leader, two],
    [five, three],
  ];
  return judge(sim, simulation, onlyBetween(simulation, pairs), [two, three, four]);
}

/** The leader sends and hears nothing, or hears and sends nothing. */
export async function halfLeader(sim: Simulator, layer: Layer, can: "send" | "hear"): Promise<Scene> {
  const simulation = await calm(sim, 5, layer);
  const { leader, others } = split(simulation);
  const cuts = others.map((host): Path => (can === "send" ? [host, leader] : [leader, host]));
  return judge(sim, simulation, cuts, others);
}

/** The leader is outside of the core, and none of its writes end any more. It has none under way when that begins. */
export async function hungLeaderOutside(
  sim: Simulator,
  layer: Layer,
): Promise<Scene & { readonly old: SimulatedHost }> {
  const simulation = await calm(sim, 5, layer);
  const { leader, others } = split(simulation);
  leader.temper.hangsUntilMs = Number.POSITIVE_INFINITY;
  return { ...(await judge(sim, simulation, [], others)), old: leader };
}

/** The leader is outside of the core, is well, and gives its office away while the core is watched. */
export async function fickleLeaderOutside(sim: Simulator, layer: Layer): Promise<Scene> {
  const simulation = await calm(sim, 5, layer);
  const { leader, others } = split(simulation);
  const { cluster, world } = simulation;
  world.timeline.schedule(3_000, undefined, () => cluster.transfer(leader, undefined));
  return judge(sim, simulation, [], others);
}

/** A star: only its centre, which did not lead, reaches a quorum (Omni-Paxos, "quorum loss"). */
export async function star(
  sim: Simulator,
  layer: Layer,
): Promise<Scene & { readonly centre: SimulatedHost }> {
  const simulation = await calm(sim, 5, layer);
  const centre = split(simulation).others[1] as SimulatedHost;
  const pairs = simulation.cluster.hosts.map((host): Path => [centre, host]);
  const scene = await judge(
    sim,
    simulation,
    onlyBetween(simulation, pairs),
    simulation.cluster.hosts,
    deposedMs,
  );
  return { ...scene, centre };
}

/** A voter that missed three terms is needed again, with an old leader's tail in its log. */
export async function outdatedVoter(sim: Simulator, layer: Layer): Promise<Scene> {
  const simulation = await calm(sim, 3, layer);
  const { cluster, workload, world } = simulation;
  const { leader: old, others } = split(simulation);
  for (const [from, to] of others.flatMap((host) => bothWays(old, host)))
    world.network.cut(from.name, to.name);
  void workload.write(old, 400);
  for (let term = 0; term < 3; term += 1) {
    await sim.runFor(simulation, 5_000, () => others.some((host) => host.member?.state?.role === "leader"));
    const leader = others.find((host) => host.member?.state?.role === "leader") as SimulatedHost;
    await outcomeOf(sim, simulation, workload.write(leader, 1_000));
    cluster.crash(leader, false);
    cluster.start(leader);
    await sim.runFor(simulation, 50);
  }
  await sim.runFor(simulation, 5_000, () => others.some((host) => host.member?.state?.role === "leader"));
  const gone = others.find((host) => host.member?.state?.role === "leader") as SimulatedHost;
  cluster.crash(gone, true);
  world.paths.healAll();
  const left = cluster.hosts.filter((host) => host !== gone);
  return judge(sim, simulation, [], left);
}

/** All are killed at once, or one follower alone while the others go on. */
export async function restarted(sim: Simulator, layer: Layer, who: "all" | "one"): Promise<Scene> {
  const simulation = await calm(sim, 3, layer);
  const core = sim.coreOf(
    simulation,
    simulation.cluster.hosts.map(({ name }) => name),
  );
  const before = simulation.history.leaders.size;
  if (who === "all") await sim.restartAll(simulation, core, true);
  else await sim.restartOne(simulation, core, sim.chanceFrom(1, "who"), false);
  return { simulation, elections: () => simulation.history.leaders.size - before };
}

/** Nothing is done to it. */
export async function undisturbed(sim: Simulator, layer: Layer): Promise<Scene> {
  const simulation = await calm(sim, 3, layer);
  return judge(sim, simulation, [], simulation.cluster.hosts);
}

/** Clients take leases, one dies, and nothing else is done to it. */
export async function leasesPassedOn(sim: Simulator): Promise<Scene> {
  const simulation = await calmCluster(sim, { seed: 3, nodes: 3, layer: "store", leaseClients: 2 });
  const core = sim.coreOf(
    simulation,
    simulation.cluster.hosts.map(({ name }) => name),
  );
  const before = simulation.history.leaders.size;
  await sim.checkLeases(simulation, core, sim.chanceFrom(1, "leases"));
  return { simulation, elections: () => simulation.history.leaders.size - before };
}
