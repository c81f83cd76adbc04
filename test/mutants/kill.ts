/** Runs what must find a mutant, on a simulator that was loaded with it or without. */
import type { Violation } from "@quorate/sim";
import { pausedLeader, type Simulator } from "../sim/scenarios.ts";
import type { Killer } from "./catalogue.ts";

export async function violationsOf(sim: Simulator, killer: Killer): Promise<readonly Violation[]> {
  switch (killer.kind) {
    case "seed": {
      const { kind: _, ...options } = killer;
      return (await sim.simulate(options)).violations;
    }
    case "scenario":
      return (await pausedLeader(sim, killer.layer)).history.violations;
  }
}
