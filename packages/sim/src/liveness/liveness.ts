/**
 * The liveness phase: no new fault strikes, a core is healed among itself, all else stays as it is for ever, and the
 * core has to work within the bounds; only then is the rest healed too (recovery.ts).
 */
import { calmWire } from "../network/paths.ts";
import type { FaultySimulation } from "../simulation.ts";
import { type Core, chooseCore, runs } from "./core.ts";
import { checkCore, namesOf } from "./coreChecks.ts";
import { drill } from "./drills.ts";
import { checkLeases } from "./leases.ts";
import { checkRecovery } from "./recovery.ts";

export async function checkLiveness(simulation: FaultySimulation): Promise<void> {
  const { history, world } = simulation;
  const chance = world.chance("liveness");
  const core = chooseCore(simulation, chance);
  healCore(simulation, core);
  await checkCore(simulation, core);
  if (history.violations.length === 0) await drill(simulation, core, chance);
  if (history.violations.length === 0) await checkLeases(simulation, core, world.chance("lease liveness"));
  if (history.violations.length === 0) await checkRecovery(simulation);
}

/** Heals, resumes and starts what is in the core; frames are lost nowhere any more, cut paths carry nothing. */
export function healCore(simulation: FaultySimulation, core: Core): void {
  const { nemesis, world } = simulation;
  nemesis.freeze(core.hosts);
  world.paths.temper = calmWire;
  const { outside } = core;
  world.trace.note("##", `the core ${namesOf(core)} is healed; the rest stays as it is`);
  markOutside(simulation, core);
  if (outside.length === 0) simulation.history.mark("core of all nodes");
}

function markOutside({ history, world }: FaultySimulation, { hosts, outside }: Core): void {
  for (const host of outside) {
    if (!host.isUp) history.mark("down outside of the core");
    else if (host.isPaused) history.mark("paused outside of the core");
    else if (runs(host)) history.mark("running outside of the core");
    const cuts = hosts.map(({ name }) => [
      world.paths.isCut(host.name, name),
      world.paths.isCut(name, host.name),
    ]);
    if (cuts.some(([out, back]) => out !== back)) history.mark("one-way cut out of the core");
    else if (cuts.some(([out]) => out)) history.mark("cut off outside of the core");
  }
}
