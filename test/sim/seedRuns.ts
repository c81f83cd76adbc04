/**
 * What the seed files share: each seed runs twice under every fault, and both runs must find nothing and leave the same
 * trace. The seeds are spread over files, so that the test runner's processes share the work.
 */
import { type ProfileName, type SimulationOptions, type SimulationResult, simulate } from "@quorate/sim";
import { expect, it } from "vitest";

/** How long the safety phase of a seed is here, in virtual time. */
const durationMs = 4_000;

export function seedOptions(seed: number, nodes: number = 5): SimulationOptions {
  // Mostly the whole node; every fourth seed the bare runtime, whose smaller machine shows Raft's own order.
  return { seed, nodes, layer: seed % 4 === 0 ? "raft" : "store", durationMs };
}

/** What a failure prints: the violation, the last lines of the trace, and how to see all of it. */
export function report(result: SimulationResult, profile: ProfileName = "swarm"): string {
  const { seed, nodes, violations, lastLines, schedule } = result;
  const found = violations.map(({ invariant, sentence }) => `${invariant}: ${sentence}`);
  const { layer, durationMs: timeMs } = schedule;
  const again =
    `npx --yes pnpm@12 quorate sim --seed ${seed} --nodes ${nodes} ` +
    `--layer ${layer} --profile ${profile} --time ${timeMs}ms`;
  return [...found, ...lastLines.slice(-40), "the same again, and its schedule in a file:", again].join("\n");
}

export function runSeeds(from: number, to: number, nodes: number = 5): void {
  for (let seed = from; seed <= to; seed += 1) {
    it(`seed ${seed} breaks nothing, and runs the same way twice`, { timeout: 120_000 }, async () => {
      const options = seedOptions(seed, nodes);
      const first = await simulate(options);
      if (first.violations.length > 0) expect.fail(report(first));
      const second = await simulate(options);
      expect(second.traceHash).toBe(first.traceHash);
      expect(second.events).toBe(first.events);
    });
  }
}
