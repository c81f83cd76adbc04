/**
 * How many events a second the simulator gets through on one core, with every invariant and the client oracle on: five
 * nodes, and the character of each run as its seed draws it.
 *
 *   pnpm bench:sim [seeds, by default 100] [layer]...
 *
 * Each layer has a process of its own, and all that this uses counts: loading, compiling, and the threads that collect
 * garbage. The wall clock is that of a machine with other work; processor time is what can be compared.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { simulate, type WorldOptions } from "@quorate/sim";

type Layer = NonNullable<WorldOptions["layer"]>;

const layers: Readonly<Record<Layer, true>> = { store: true, raft: true, core: true };

async function measure(layer: Layer, seeds: number): Promise<void> {
  let events = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const result = await simulate({ seed, nodes: 5, layer });
    const [violation] = result.violations;
    if (violation !== undefined)
      throw new Error(`Seed ${seed}: ${violation.invariant}, ${violation.sentence}`);
    events += result.events;
  }
  const { user, system } = process.cpuUsage();
  const cpuS = (user + system) / 1e6;
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
      eventsPerWallS: Math.round(events / wallS),
    }),
  );
}

function isLayer(name: string): name is Layer {
  return Object.hasOwn(layers, name);
}

const [seeds = "100", ...asked] = process.argv.slice(2);
const names = asked.length === 0 ? Object.keys(layers) : asked;
const [only, ...more] = names;
if (only !== undefined && more.length === 0) {
  if (!isLayer(only))
    throw new Error(`There is no layer ${only}; there are ${Object.keys(layers).join(", ")}.`);
  await measure(only, Number(seeds));
} else {
  const program = fileURLToPath(import.meta.url);
  for (const name of names) execFileSync(process.execPath, [program, seeds, name], { stdio: "inherit" });
}
