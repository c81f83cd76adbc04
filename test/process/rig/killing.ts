/** A series of kills under load, drawn from a seed, after each of which every node must come back by itself. */
import type { Load } from "./load.ts";
import type { RealCluster } from "./realCluster.ts";
import { pause } from "./waiting.ts";

export interface KillPlan {
  readonly kills: number;
  /** How many of them hit all nodes at once; the others hit one. */
  readonly ofAll: number;
  readonly seed: number;
}

/** mulberry32: small, and good enough to choose victims. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export async function killUnderLoad(cluster: RealCluster, load: Load, plan: KillPlan): Promise<void> {
  const random = generator(plan.seed);
  const everyNth = plan.kills / Math.max(1, plan.ofAll);
  let ofAllSoFar = 0;
  for (let kill = 0; kill < plan.kills; kill += 1) {
    // At any point of a write, not always at the same one.
    await pause(random() * 40);
    const all = ofAllSoFar < plan.ofAll && kill >= (ofAllSoFar + 1) * everyNth - 1;
    if (all) ofAllSoFar += 1;
    const one = cluster.nodes[Math.floor(random() * cluster.nodes.length)];
    const victims = all || one === undefined ? cluster.nodes : [one];
    await Promise.all(victims.map((node) => node.kill()));
    if (!all) await load.progress(5);
    for (const node of victims) node.start();
    await cluster.healthy();
    await load.progress(5);
  }
}
