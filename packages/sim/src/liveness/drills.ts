/**
 * L11 and L16: what a healed core must survive on its own, one drill a run at most, chosen by the seed.
 */
import type { FaultyHost } from "../faults/faultyCluster.ts";
import { type FaultySimulation, runFor } from "../simulation.ts";
import type { Chance } from "../world/chance.ts";
import { boundMs } from "./bounds.ts";
import { type Core, mayMiss } from "./core.ts";
import { checkConvergence, stuck } from "./coreChecks.ts";
import { areLed, serve, sound } from "./progress.ts";

const writesMissed = 5;
/** Long enough that the leader has given up on whoever is down. */
const downForMs = 1_000;

export async function drill(simulation: FaultySimulation, core: Core, chance: Chance): Promise<void> {
  const choice = chance.below(4);
  const isSilent = chance.happens(0.5);
  const hasSpare = missed(simulation, core).length > 0;
  if (choice === 0) await restartAll(simulation, core, isSilent);
  else if (choice === 1 && hasSpare) await restartOne(simulation, core, chance, isSilent);
}

/** Every node of the core dies at one instant; with its disks as they are it serves again, without anybody's help. */
export async function restartAll(simulation: FaultySimulation, core: Core, isSilent: boolean): Promise<void> {
  const { cluster, history, world } = simulation;
  const hosts = sound(simulation, core.hosts);
  history.mark("core restarted at once");
  world.trace.note("##", "every node of the core is killed and started again");
  for (const host of hosts) cluster.crash(host, isSilent);
  for (const host of hosts) cluster.start(host);
  const withinMs = boundMs(simulation, 20);
  const untilMs = world.timeline.nowMs + withinMs;
  const isLed = await runFor(simulation, withinMs, () => areLed(simulation, hosts));
  const unserved = isLed ? await serve(simulation, hosts, 1, untilMs) : { sentence: "has no leader" };
  if (unserved === undefined) return;
  stuck(
    simulation,
    core,
    "L16 restart of all",
    `${unserved.sentence} within ${withinMs} ms after all of it was started again`,
  );
}

/** Followers without whom the others of the core are still a quorum. */
function missed(simulation: FaultySimulation, core: Core): readonly FaultyHost[] {
  const hosts = sound(simulation, core.hosts).filter((host) => host !== simulation.cluster.leader());
  return hosts.filter((host) => mayMiss(simulation, core, host));
}

/** A follower misses writes while it is down, and catches up though nobody writes any more (braft#292). */
export async function restartOne(
  simulation: FaultySimulation,
  core: Core,
  chance: Chance,
  isSilent: boolean,
): Promise<void> {
  const { cluster, history, world } = simulation;
  const hosts = sound(simulation, core.hosts);
  const follower = chance.pick(missed(simulation, core));
  const others = hosts.filter((host) => host !== follower);
  history.mark("follower of the core restarted");
  cluster.crash(follower, isSilent);
  const untilMs = world.timeline.nowMs + boundMs(simulation, 20);
  const unserved = await serve(simulation, others.slice(0, 1), writesMissed, untilMs);
  if (unserved !== undefined) {
    stuck(simulation, core, "L2 service", `${unserved.sentence} while ${follower.name} of it is down`);
    return;
  }
  await runFor(simulation, downForMs);
  cluster.start(follower);
  await checkConvergence(simulation, core, "L11 quiet catch-up", 20);
}
