/**
 * A schedule that chance draws, with the shadow at its side: losses, doubled and late messages, slow disks, crashes,
 * partitions, for one to five nodes.
 */
import { createRandom, entryOverheadBytes, nextBetween, type RandomState } from "@quorate/raft";
import {
  type Cluster,
  crash,
  createCluster,
  deliver,
  finishWrite,
  heal,
  nodeOf,
  partition,
  propose,
  restart,
  turn,
} from "../core/cluster.ts";
import { followCluster, noteRestart, type Shadow } from "./shadow.ts";

interface Run {
  readonly cluster: Cluster;
  readonly shadow: Shadow;
  readonly random: RandomState;
  readonly names: readonly string[];
}

/** Throws at the first step that the specification does not have; else tells how often each action was taken. */
export function runShadowed(seed: number, steps: number): ReadonlyMap<string, number> {
  const random = createRandom(seed, "shadow");
  const names = ["a", "b", "c", "d", "e"].slice(0, [1, 3, 3, 5][nextBetween(random, 0, 4)]);
  const cluster = createCluster({
    nodes: names,
    core: {
      seed,
      maxAppendBytes: 1 + nextBetween(random, 0, 20),
      maxCachedBytes: nextBetween(random, 0, 10 * entryOverheadBytes),
    },
  });
  const shadow = followCluster(cluster);
  const run = { cluster, shadow, random, names };
  for (const name of names) if (nextBetween(random, 0, 2) === 0) cluster.slowDisks.add(name);
  for (let at = 0; at < steps; at += 1) act(run, at);
  return shadow.counts;
}

function act(run: Run, at: number): void {
  const { cluster, random, names } = run;
  const name = names[nextBetween(random, 0, names.length)]!;
  const node = nodeOf(cluster, name);
  const choice = nextBetween(random, 0, 100);
  if (choice < 50) deliverOne(run);
  else if (choice < 60) passTime(run);
  else if (choice < 72) {
    if (node.up && node.writing !== undefined) finishWrite(cluster, name);
  } else if (choice < 82) {
    if (node.up) propose(cluster, name, `${at}`, at);
  } else if (choice < 84) {
    if (node.up) turn(cluster, name, { kind: "readRequested", id: at });
  } else if (choice < 86) {
    if (node.up) crash(cluster, name, nextBetween(random, 0, 2) === 0);
  } else if (choice < 92) {
    if (!node.up) {
      restart(cluster, name);
      noteRestart(run.shadow, nodeOf(cluster, name));
    }
  } else if (choice < 93) {
    partition(
      cluster,
      names.filter((other) => other !== name),
    );
  } else if (choice < 96) heal(cluster);
}

function passTime({ cluster, random }: Run): void {
  cluster.nowMs += nextBetween(random, 1, 60);
  for (const [name, node] of cluster.nodes) {
    if (node.up && node.effects.nextDeadlineMs <= cluster.nowMs) turn(cluster, name, { kind: "tick" });
  }
}

function deliverOne({ cluster, shadow, random }: Run): void {
  const { queue } = cluster;
  if (queue.length === 0) return;
  const at = nextBetween(random, 0, 4) === 0 ? nextBetween(random, 0, queue.length) : 0;
  const flight = queue[at]!;
  if (nextBetween(random, 0, 20) > 0) queue.splice(at, 1);
  if (nextBetween(random, 0, 20) === 0) return;
  const receiver = [...cluster.nodes.values()].find(({ id }) => id === flight.to);
  if (receiver?.up !== true) return;
  shadow.receiving = flight;
  deliver(cluster, flight);
}
