/**
 * L17: leases go on in a healed core, whatever those outside of it do. What a client held that is gone passes to who
 * waits, within its time to live; and a client that lives loses nothing.
 *
 * Three new clients: one holds and stays, one holds and dies, one waits for what that one has.
 */
import type { FaultyHost } from "../faults/faultyCluster.ts";
import { type FaultySimulation, runFor } from "../simulation.ts";
import type { LeaseCandidate } from "../workload/leaseCandidate.ts";
import type { LeaseLiveness } from "../workload/workload.ts";
import type { Chance } from "../world/chance.ts";
import { boundMs, timeoutsMs } from "./bounds.ts";
import type { Core } from "./core.ts";
import { stuck } from "./coreChecks.ts";
import { areLed, sound } from "./progress.ts";

const invariant = "L17 leases pass on";
/** The leader's clock may be slower by as much as a healed one's is, and the client's by what leases allow for. */
const slowerClocks = 1.07;

export async function checkLeases(simulation: FaultySimulation, core: Core, chance: Chance): Promise<void> {
  const { history, workload } = simulation;
  const { leases } = workload;
  if (leases?.areWanted !== true) return;
  const hosts = sound(simulation, core.hosts);
  // Without a leader it has an excuse, which was found before; and where it was begun anew it may still look for one.
  if (!(await runFor(simulation, boundMs(simulation, 10), () => areLed(simulation, hosts)))) return;
  if (!(await checkLeftOvers(simulation, core, hosts, leases))) return;
  await checkPassingOn(simulation, core, leases, chance);
  if (history.violations.length === 0) history.mark("lease passed on in a healed core");
}

/** Of those who went in the safety phase. */
async function checkLeftOvers(
  simulation: FaultySimulation,
  core: Core,
  hosts: readonly FaultyHost[],
  leases: LeaseLiveness,
): Promise<boolean> {
  const withinMs = slowerClocks * leases.longestTtlMs + timeoutsMs(simulation, 10);
  const isDone = (): boolean => areLed(simulation, hosts) && leases.leftOver() === undefined;
  if (await runFor(simulation, withinMs, isDone)) return true;
  stuck(simulation, core, invariant, `has had a leader for ${withinMs} ms, and ${leases.leftOver()}`);
  return false;
}

async function checkPassingOn(
  simulation: FaultySimulation,
  core: Core,
  leases: LeaseLiveness,
  chance: Chance,
): Promise<void> {
  const { history, world } = simulation;
  const [living, dying, waiting] = [leases.candidate(), leases.candidate(), leases.candidate()];
  const patienceMs = boundMs(simulation, 20);
  const isAnswered = async (sentence: string, isSo: () => boolean): Promise<boolean> => {
    if (await runFor(simulation, patienceMs, isSo)) return true;
    stuck(simulation, core, invariant, `${sentence} for ${patienceMs} ms`);
    return false;
  };
  living.ask("kept", patienceMs);
  dying.ask("passed on", patienceMs);
  const areHeld = (): boolean => living.isHolder && dying.isHolder;
  if (!(await isAnswered("grants no lease that is free", areHeld))) return;
  waiting.ask("passed on", 3 * patienceMs);
  if (!(await isAnswered("takes nobody into a queue", () => waiting.isQueued("passed on")))) return;
  const elections = history.leaders.size;
  const diedMs = world.timeline.nowMs;
  dying.vanish(chance.happens(0.5));
  // Each new leader gives it its time once more, less what of its silence is logged.
  const boundNowMs = (): number =>
    (1 + history.leaders.size - elections) * (slowerClocks * dying.ttlMs + timeoutsMs(simulation, 3));
  const elapsedMs = (): number => world.timeline.nowMs - diedMs;
  while (elapsedMs() < boundNowMs()) {
    const leftMs = boundNowMs() - elapsedMs();
    if (await runFor(simulation, leftMs, () => waiting.isHolder)) break;
    if (history.violations.length > 0) return;
  }
  const passedMs = elapsedMs();
  // Long enough that it would have been taken from the one who lives, if its renewals did not count.
  await runFor(simulation, slowerClocks * living.ttlMs);
  judge(simulation, core, { living, waiting }, passedMs);
}

function judge(
  simulation: FaultySimulation,
  core: Core,
  { living, waiting }: { readonly living: LeaseCandidate; readonly waiting: LeaseCandidate },
  elapsedMs: number,
): void {
  if (!waiting.isHolder) {
    const ms = Math.round(elapsedMs);
    stuck(
      simulation,
      core,
      invariant,
      `has not passed a lease on to ${waiting.name} ${ms} ms after its holder died`,
    );
  }
  if (living.loss !== undefined) {
    stuck(simulation, core, invariant, `took a lease from ${living.name}, which lives: ${living.loss}`);
  }
  living.leave();
  waiting.leave();
}
