/**
 * Clients that take leases in random runs: nothing is violated there, and each check of theirs can fail, on sources
 * that were broken on purpose.
 */
import type { InvariantName, SimulationResult } from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { leases } from "../mutants/catalogue/leases.ts";
import { loadMutated } from "../mutants/loadMutated.ts";
import type { Simulator } from "./scenarios.ts";
import { report } from "./seedRuns.ts";

/** Clocks within the bound, and no fault of nodes but those that may cost a lease. */
function leaseRun(sim: Simulator, seed: number): Promise<SimulationResult> {
  const faults = { crash: 4, pause: 3, partition: 3, transfer: 2 };
  const profile = {
    ...sim.calmProfile,
    leaseClients: 3,
    faults,
    meanFaultGapMs: 700,
    meanOperationGapMs: 50,
  };
  return sim.simulate({ seed, nodes: 3, profile, durationMs: 12_000, recovers: false });
}

/** Of the catalogue, by name, and the check that finds it. */
const broken: readonly (readonly [InvariantName, string])[] = [
  ["lease deadline", "a holder believes for a whole time to live after its last renewal is answered again"],
  ["lease exclusion", "a broken lease is finished at once, though its holder does not know"],
  ["lease exclusion", "a holder believes in its lease until the release is answered"],
  ["lease terms rise", "the term of a grant does not rise with it"],
  ["fencing", "a fenced write asks for some holder, not for its own term"],
];

describe("clients that take leases in random runs", () => {
  it("see nothing violated, and the same seed is the same run", { timeout: 120_000 }, async () => {
    const sim = await import("@quorate/sim");
    for (let seed = 1; seed <= 2; seed += 1) {
      const result = await leaseRun(sim, seed);
      if (result.violations.length > 0) expect.fail(report(result));
      const again = await sim.simulate({ schedule: sim.readSchedule(sim.writeSchedule(result.schedule)) });
      expect(again.traceHash).toBe(result.traceHash);
    }
  });

  it.each(broken)("fail %s where %s", { timeout: 120_000 }, async (invariant, name) => {
    const mutant = leases.find((one) => one.name === name);
    expect(mutant, "it is in the catalogue").toBeDefined();
    const { sim, close } = await loadMutated(mutant);
    try {
      const found: string[] = [];
      for (let seed = 1; seed <= 40 && found.length === 0; seed += 1) {
        found.push(...(await leaseRun(sim, seed)).violations.map((violation) => violation.invariant));
      }
      expect(found[0]).toBe(invariant);
    } finally {
      await close();
    }
  });
});
