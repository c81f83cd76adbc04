/** The shapes of partitions, as the directed paths that they cut. */
import type { Chance } from "../world/chance.ts";
import type { PartitionShape, Path } from "./fault.ts";

/** `focus` is the node that the shapes with one are about: the leader, where there is one. */
export function cutsOf(
  shape: PartitionShape,
  nodes: readonly string[],
  focus: string,
  chance: Chance,
): readonly Path[] {
  const mixed = chance.shuffled(nodes);
  switch (shape) {
    case "halves": {
      const cut = chance.between(1, Math.max(1, nodes.length - 1));
      return both(between(mixed.slice(0, cut), mixed.slice(cut)));
    }
    case "isolated":
      return both(between([focus], without(nodes, focus)));
    case "leader out only":
      return between(without(nodes, focus), [focus]);
    case "leader in only":
      return between([focus], without(nodes, focus));
    case "bridge": {
      const [bridge, ...rest] = mixed as [string, ...string[]];
      void bridge;
      const half = rest.length >> 1;
      return both(between(rest.slice(0, half), rest.slice(half)));
    }
    case "ring":
      return keepOnly(mixed, (one, other) => {
        const distance = Math.abs(one - other);
        return distance === 1 || distance === mixed.length - 1;
      });
    case "chain":
      return keepOnly(mixed, (one, other) => Math.abs(one - other) === 1);
    case "one way": {
      const [from, to] = mixed as [string, string];
      return from === undefined || to === undefined ? [] : [[from, to]];
    }
  }
}

/** Both directions of every path between nodes of different groups: a partition into these groups. */
export function cutsBetween(...groups: readonly (readonly string[])[]): readonly Path[] {
  return groups.flatMap((these, at) => both(between(these, groups.slice(at + 1).flat())));
}

function without(nodes: readonly string[], node: string): readonly string[] {
  return nodes.filter((other) => other !== node);
}

export function between(these: readonly string[], those: readonly string[]): readonly Path[] {
  return these.flatMap((from) => those.map((to): Path => [from, to]));
}

export function both(cuts: readonly Path[]): readonly Path[] {
  return cuts.flatMap(([from, to]): Path[] => [
    [from, to],
    [to, from],
  ]);
}

/** Cuts every path but those between positions that are neighbours. */
function keepOnly(
  nodes: readonly string[],
  isKept: (one: number, other: number) => boolean,
): readonly Path[] {
  const cuts: Path[] = [];
  for (const [one, from] of nodes.entries()) {
    for (const [other, to] of nodes.entries()) {
      if (one !== other && !isKept(one, other)) cuts.push([from, to]);
    }
  }
  return cuts;
}
