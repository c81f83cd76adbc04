/**
 * How many events a second the simulator gets through on one core, with every invariant and the client oracle on: five
 * nodes, and the character of each run as its seed draws it.
 *
 *   pnpm bench:sim [seeds] [layer]...
 *
 * By default 100 seeds, and 400 of the bare core, whose seeds take a quarter of the time. Each layer has a process of
 * its own, and all that this uses counts: loading, compiling, and the threads that collect garbage. `warm` is the rate
 * without the first fifth of the seeds, in which nearly all is compiled. The wall clock is that of a machine with other
 * work; processor time is what can be compared.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { simulate, type WorldOptions } from "@quorate/sim";

type Layer = NonNullable<WorldOptions["layer"]>;

const seedsByDefault: Readonly<Record<Layer, number>> = { store: 100, raft: 100, core: 400 };

interface Spent {
  readonly events: number;
  readonly cpuS: number;
}

async function measure(layer: Layer, seeds: number): Promise<void> {
  let events = 0;
  let cold: Spent = { events: 0, cpuS: 0 };
  const coldSeeds = Math.floor(seeds / 5);
  for (let seed = 1; seed <= seeds; seed += 1) {
    const result = await simulate({ seed, nodes: 5, layer });
    const [violation] = result.violations;
    if (violation !== undefined)
      throw new Error(`Seed ${seed}: ${violation.invariant}, ${violation.sentence}`);
    events += result.events;
    if (seed === coldSeeds) cold = { events, cpuS: usedCpuS() };
  }
  const cpuS = usedCpuS();
  const wallS = performance.now() / 1e3;
  const round = (seconds: number): number => Math.round(seconds * 100) / 100;
  console.log(
    JSON.stringify({
      layer,
      seeds,
      events,
      cpuS: round(cpuS),
      wallS: round(wallS),
      eventsPerCpuS: Math.round(events / cpuS),
      warmEventsPerCpuS: Math.round((events - cold.events) / (cpuS - cold.cpuS)),
      eventsPerWallS: Math.round(events / wallS),
    }),
  );
}

function usedCpuS(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function isLayer(name: string): name is Layer {
  return Object.hasOwn(seedsByDefault, name);
}

const [first, ...others] = process.argv.slice(2);
const seeds = first !== undefined && /^\d+$/.test(first) ? Number(first) : undefined;
const asked = seeds === undefined && first !== undefined ? [first, ...others] : others;
const names = asked.length === 0 ? Object.keys(seedsByDefault) : asked;
const [only, ...more] = names;
if (only !== undefined && more.length === 0) {
  if (!isLayer(only))
    throw new Error(`There is no layer ${only}; there are ${Object.keys(seedsByDefault).join(", ")}.`);
  await measure(only, seeds ?? seedsByDefault[only]);
} else {
  const program = fileURLToPath(import.meta.url);
  const given = seeds === undefined ? [] : [`${seeds}`];
  for (const name of names) {
    execFileSync(process.execPath, [program, ...given, name], { stdio: "inherit" });
  }
}
