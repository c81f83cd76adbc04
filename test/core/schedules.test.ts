/**
 * Schedules that chance draws: messages lost, doubled and overtaken, slow disks, crashes that lose what was
 * not written, partitions, pauses. Safety is checked at every turn; then everything heals and the cluster
 * must recover.
 */
import { createRandom, entryOverheadBytes, nextBetween, type RandomState } from "@quorate/raft";
import { describe, expect, it } from "vitest";
import {
  advance,
  answerLoad,
  type Cluster,
  type ClusterOptions,
  crash,
  createCluster,
  deliver,
  finishWrite,
  heal,
  nodeOf,
  partition,
  propose,
  restart,
  settle,
  turn,
} from "./cluster.ts";
import { type History, noteRead, recordHistory } from "./history.ts";
import { leaderOf, termsOf, textOf } from "./views.ts";

interface Run {
  readonly cluster: Cluster;
  readonly history: History;
  readonly random: RandomState;
  readonly names: readonly string[];
  /** Per mille of deliveries. */
  readonly loss: number;
  readonly duplication: number;
  readonly reordering: number;
  readonly crashes: number;
  nextId: number;
}

function startRun(seed: number): Run {
  const random = createRandom(seed, "schedule");
  const draw = (min: number, max: number): number => nextBetween(random, min, max);
  const names = ["a", "b", "c", "d", "e"].slice(0, draw(0, 3) === 0 ? draw(1, 6) : [3, 5][draw(0, 2)]);
  const core: ClusterOptions["core"] = {
    maxInflightAppends: draw(1, 6),
    maxInflightBytes: draw(1, 200),
    maxAppendBytes: draw(1, 40),
    maxUncommittedEntries: draw(1, 50),
    maxUncommittedBytes: draw(1, 400),
    maxPendingReads: draw(1, 20),
    maxCachedBytes: draw(0, 2) === 0 ? 0 : draw(0, 30 * entryOverheadBytes),
    seed,
  };
  const cluster = createCluster({ nodes: names, core });
  cluster.slowLoads = true;
  const some = (max: number): number => (draw(0, 3) === 0 ? 0 : draw(0, max));
  for (const name of names) if (draw(0, 2) === 0) cluster.slowDisks.add(name);
  return {
    cluster,
    history: recordHistory(cluster),
    random,
    names,
    loss: some(200),
    duplication: some(200),
    reordering: some(400),
    crashes: some(12),
    nextId: 1,
  };
}

function act(run: Run): void {
  const { cluster, random, names } = run;
  const draw = (max: number): number => nextBetween(random, 0, max);
  const name = names[draw(names.length)]!;
  const node = nodeOf(cluster, name);
  const choice = draw(1000);
  if (choice < run.crashes) {
    if (node.up) crash(cluster, name, draw(2) === 0);
  } else if (choice < 60) {
    if (!node.up && draw(4) === 0) restart(cluster, name);
  } else if (choice < 70) {
    const at = draw(names.length);
    if (draw(3) > 0) heal(cluster);
    else partition(cluster, names.slice(0, at), names.slice(draw(2) === 0 ? at : Math.max(0, at - 1)));
  } else if (choice < 200) {
    if (node.up) propose(cluster, name, `${run.nextId}`, run.nextId);
    run.nextId += 1;
  } else if (choice < 240) {
    if (node.up) {
      noteRead(run.history, name, run.nextId);
      turn(cluster, name, { kind: "readRequested", id: run.nextId });
    }
    run.nextId += 1;
  } else if (choice < 340) {
    if (node.up && node.writing !== undefined) finishWrite(cluster, name);
  } else if (choice < 400) {
    answerOldestLoad(run, name);
  } else if (choice < 500) passTime(run, draw(200) === 0 ? 400 : 1 + draw(30));
  else deliverSome(run);
}

function answerOldestLoad({ cluster, random }: Run, name: string): void {
  const node = nodeOf(cluster, name);
  const load = node.loads.shift();
  if (load !== undefined && node.up) answerLoad(cluster, name, load, 1 + nextBetween(random, 0, 3));
}

function passTime({ cluster }: Run, ms: number): void {
  cluster.nowMs += ms;
  for (const [name, node] of cluster.nodes) {
    if (node.up && node.effects.nextDeadlineMs <= cluster.nowMs) turn(cluster, name, { kind: "tick" });
  }
}

function deliverSome(run: Run): void {
  const { cluster, random } = run;
  const { queue } = cluster;
  if (queue.length === 0) return;
  const isLate = nextBetween(random, 0, 1000) < run.reordering;
  const at = isLate ? nextBetween(random, 0, queue.length) : 0;
  const flight = queue[at]!;
  if (nextBetween(random, 0, 1000) >= run.duplication) queue.splice(at, 1);
  if (nextBetween(random, 0, 1000) >= run.loss) deliver(cluster, flight);
}

/** Loads are answered, disks are quick, everybody is up and hears everybody. */
function recover(run: Run): void {
  const { cluster, names } = run;
  heal(cluster);
  cluster.slowDisks.clear();
  for (const name of names) {
    if (!nodeOf(cluster, name).up) restart(cluster, name);
    if (nodeOf(cluster, name).writing !== undefined) finishWrite(cluster, name);
  }
  settle(cluster);
  for (let round = 0; round < 600 && !(round > 200 && isConverged(cluster)); round += 1) {
    for (const name of names) while (nodeOf(cluster, name).loads.length > 0) answerOldestLoad(run, name);
    advance(cluster, 10, 10);
  }
}

function isConverged(cluster: Cluster): boolean {
  const leader = leaderOf(cluster);
  if (leader === undefined) return false;
  const { lastIndex } = leader.state.log;
  return [...cluster.nodes.values()].every(({ state }) => state.commitIndex === lastIndex);
}

function checkRecovered({ cluster, history }: Run): void {
  expect(isConverged(cluster), "one leader, everything committed everywhere").toBe(true);
  const nodes = [...cluster.nodes.values()];
  for (const node of nodes) {
    expect(termsOf(node)).toEqual(termsOf(nodes[0]!));
    expect(node.applied.map(textOf)).toEqual(nodes[0]!.applied.map(textOf));
  }
  expect(leaderOf(cluster)?.state.leading?.uncommittedBytes).toBe(0);
  const unanswered = [...history.readFloors.keys()].filter((key) => {
    const node = nodeOf(cluster, key.slice(0, key.indexOf("/")));
    return node.state.boot === 1; // a read of a process that died ends with it
  });
  expect(unanswered, "every read ends").toEqual([]);
}

const seeds = 150;
const steps = 1200;

function runSeed(seed: number): Set<string> {
  const run = startRun(seed);
  try {
    for (let at = 0; at < steps; at += 1) act(run);
    recover(run);
    checkRecovered(run);
  } catch (error) {
    throw new Error(`seed ${seed} of ${run.names.length} nodes`, { cause: error });
  }
  return run.history.seen;
}

describe("under loss, duplication, reordering, crashes, slow disks and partitions", () => {
  it("every history is safe and every cluster recovers", () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= seeds; seed += 1) for (const mark of runSeed(seed)) seen.add(mark);
    expect([...seen].sort()).toEqual(["election", "read by follower", "read by leader"]);
  });
});
