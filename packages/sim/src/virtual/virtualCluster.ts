/**
 * A cluster in virtual time for the tests of a user's own code: `virtualCluster(options, async (world) => …)`.
 *
 * The shipped nodes and the shipped client, on a simulated network, disks and clocks. Between two events all promises
 * are followed to their end, those of the callback too, and everything stops when the callback has settled. Must never
 * wait for real time, but where the callback says so.
 */
import { QuorateError } from "@quorate/raft";
import { storeAssembly } from "../cluster/assembly.ts";
import { SimulatedCluster } from "../cluster/cluster.ts";
import { calmProfile } from "../faults/profile.ts";
import { Checks } from "../invariants/checks.ts";
import { History } from "../invariants/history.ts";
import { calmWire, type WireTemper } from "../network/paths.ts";
import { refuseUnless, requireInteger, requireNames } from "../requirements.ts";
import { assertNoViolation, runUntilLeader } from "../scenario.ts";
import { runFor } from "../simulation.ts";
import { World } from "../world/world.ts";
import { PendingCalls } from "./pendingCalls.ts";
import { refusingRealTime } from "./realTime.ts";
import { VirtualWorld } from "./virtualWorld.ts";

export interface VirtualClusterOptions {
  /** 1 to 7. Default 3. */
  readonly nodes?: number;
  /** An unsigned 32-bit integer that decides all that is left to chance. Default 1. */
  readonly seed?: number;
  /** The virtual time that the callback may take. Default 120,000 ms. */
  readonly withinMs?: number;
  /** How the network is, if not calm: delays, and between nodes also loss, repetition and reordering. */
  readonly wire?: Partial<WireTemper>;
  /** Gets every line of the trace. */
  readonly onLine?: (line: string) => void;
}

export interface VirtualRun<T> {
  /** What the callback gave. */
  readonly value: T;
  /** Covers every event: equal for equal seeds, options and callbacks. */
  readonly traceHash: string;
  /** True time from the start of the nodes to the end of the callback. */
  readonly virtualMs: number;
  readonly events: number;
}

const startWithinMs = 20_000;

/**
 * Starts the nodes, and once they serve calls `main`, whose world gives clients and does to all of them what can go
 * wrong. Resolves when `main` does; whatever still runs then stands still for ever, as in a process that is killed.
 *
 * Rejects with what `main` throws; with `TIMED_OUT` where it has not ended after `withinMs`, and tells what is waited
 * for; with `INVALID_OPTIONS` where it asks for a real timer; with `INVARIANT_BROKEN` if Quorate breaks a promise, or
 * what `world.always` was told does not hold.
 */
export async function virtualCluster<T>(
  options: VirtualClusterOptions,
  main: (world: VirtualWorld) => Promise<T>,
): Promise<VirtualRun<T>> {
  let end: (() => T) | undefined;
  const failed = (error: unknown): void => {
    end ??= () => {
      throw error;
    };
  };
  const stage = openStage(options, failed);
  await refusingRealTime(failed, async () => {
    const { cluster, virtual, world } = stage;
    cluster.startAll();
    await runUntilLeader(stage, { withinMs: startWithinMs });
    await advance(stage, startWithinMs, () => cluster.hosts.every((host) => host.running !== undefined));
    world.timeline.schedule(0, undefined, () => {
      (async () => main(virtual))().then((value) => {
        end ??= () => value;
      }, failed);
    });
    await advance(stage, options.withinMs ?? defaultWithinMs, () => end !== undefined);
    virtual.end();
  });
  assertNoViolation(stage);
  if (end === undefined) throw stillWaiting(stage, options.withinMs ?? defaultWithinMs);
  const { world } = stage;
  const value = (end as () => T)();
  return { value, traceHash: world.trace.hashText(), virtualMs: world.timeline.nowMs, events: world.events };
}

const defaultWithinMs = 120_000;

interface VirtualStage {
  readonly world: World;
  readonly history: History;
  readonly cluster: SimulatedCluster;
  readonly calls: PendingCalls;
  readonly virtual: VirtualWorld;
}

function openStage(options: VirtualClusterOptions, failed: (error: unknown) => void): VirtualStage {
  requireNames(options, ["nodes", "seed", "withinMs", "wire", "onLine"]);
  const { nodes = 3, seed = 1, withinMs = defaultWithinMs, wire, onLine } = options;
  requireInteger("nodes", nodes, 1, 7);
  requireInteger("seed", seed, 0, 0xffff_ffff);
  refuseUnless(withinMs > 0 && withinMs <= 1e9, "withinMs", withinMs, "over 0 and at most 10^9 ms");
  const world = new World(seed, { keptLines: 200, ...(onLine === undefined ? {} : { onLine }) });
  world.paths.temper = { ...calmWire, ...wire };
  const history = new History(world.timeline, world.trace);
  const assembly = storeAssembly(calmProfile.options, { staysWhenRemoved: false });
  const cluster = new SimulatedCluster(world, new Checks(history), nodes, assembly, 0, (at) => `n${at + 1}`);
  for (const host of cluster.hosts) host.temper.meanLatencyMs = calmProfile.meanDiskLatencyMs;
  const calls = new PendingCalls(() => world.timeline.nowMs);
  return { world, history, cluster, calls, virtual: new VirtualWorld(cluster, calls, failed) };
}

/** Lets time pass, but for what the callback does outside of it. */
async function advance(stage: VirtualStage, forMs: number, isDone: () => boolean): Promise<void> {
  const { history, virtual, world } = stage;
  const untilMs = world.timeline.nowMs + forMs;
  while (!isDone() && history.violations.length === 0) {
    await virtual.settled();
    const leftMs = untilMs - world.timeline.nowMs;
    let hasStopped = false;
    await runFor(stage, leftMs, () => {
      virtual.look();
      hasStopped ||= isDone() || virtual.mustStop();
      return hasStopped;
    });
    if (!hasStopped) return;
  }
}

function stillWaiting({ calls, virtual, world }: VirtualStage, withinMs: number): QuorateError {
  const { nowMs } = world.timeline;
  const lines = [...calls.waiting].map(
    ({ who, what, sinceMs }) =>
      `  ${who}${virtual.plightOf(who)}: ${what}, for ${Math.round(nowMs - sinceMs)} ms`,
  );
  const what =
    lines.length > 0
      ? `What is waited for:\n${lines.slice(0, shownCalls).join("\n")}`
      : "No call of it is under way: it may wait for something real, which belongs into world.outside(fn), or for a " +
        "process that was killed or stands still.";
  return new QuorateError(
    "TIMED_OUT",
    `The callback has not ended after ${withinMs} ms of virtual time (withinMs). ${what}`,
  );
}

const shownCalls = 20;
