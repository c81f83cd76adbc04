/** What a fault of the network is like: which paths, and for how long. `node` is the one that it is about, if any. */
import type { Chance } from "../world/chance.ts";
import { clientCutDirections, type NetworkFault, type Path, partitionShapes } from "./fault.ts";
import type { FaultyCluster } from "./faultyCluster.ts";
import { cutsOf } from "./partitions.ts";

/** Twice the longest election timeout of the nodes. */
const longestGapMs = 600;
const mostGaps = 64;

export function drawNetworkFault(
  kind: NetworkFault["kind"],
  cluster: FaultyCluster,
  node: string,
  chance: Chance,
): NetworkFault {
  const names = cluster.hosts.map((host) => host.name);
  const forMs = 50 + Math.ceil(chance.exponential(900));
  switch (kind) {
    case "partition": {
      const shape = chance.pick(partitionShapes);
      return { kind, shape, cuts: cutsOf(shape, names, node, chance), forMs };
    }
    case "lossyPath":
      return { kind, from: node, to: chance.pick(names), loss: 0.05 + chance.fraction() * 0.95, forMs };
    case "clog":
      return { kind, from: node, to: chance.pick(names), forMs };
    case "swizzleClog": {
      const paths = pathsOf(names);
      const stops = chance.shuffled(paths).slice(0, chance.between(1, Math.max(1, paths.length)));
      return { kind, stops, releases: chance.shuffled(stops), forMs: 2 * forMs };
    }
    case "flapping":
      return drawFlapping(names, node, chance);
    case "clientCut":
      return { kind, node, lost: chance.pick(clientCutDirections), forMs };
  }
}

function drawFlapping(names: readonly string[], node: string, chance: Chance): NetworkFault {
  const to = chance.pick(names);
  const paths: Path[] = [[node, to]];
  if (chance.happens(0.5)) paths.push([to, node]);
  const forMs = 1_000 * chance.between(1, 30);
  const gapsMs: number[] = [];
  for (let totalMs = 0; totalMs < forMs && gapsMs.length < mostGaps; totalMs += gapsMs.at(-1) as number) {
    gapsMs.push(chance.between(10, longestGapMs));
  }
  return { kind: "flapping", paths, gapsMs, forMs };
}

function pathsOf(names: readonly string[]): readonly Path[] {
  return names.flatMap((from) => names.filter((to) => to !== from).map((to): Path => [from, to]));
}
