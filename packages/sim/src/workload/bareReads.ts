/**
 * Linearizable reads of a node with nothing above Raft, and what they are held to: all that was committed, or
 * acknowledged to anybody, before the read was asked has been applied when it is answered.
 */
import { QuorateError } from "@quorate/raft";
import type { SimulatedCluster, SimulatedHost } from "../cluster/cluster.ts";
import type { FaultyHost } from "../faults/faultyCluster.ts";
import type { History } from "../invariants/history.ts";
import { outcomeOf } from "../recording/outcomeOf.ts";
import type { WorkloadStats } from "./workload.ts";

/** Resolves, with whether it worked, or never if the node dies first. */
export async function readAt(
  cluster: SimulatedCluster,
  host: SimulatedHost,
  timeoutMs: number,
  acknowledged: number,
  stats: WorkloadStats,
): Promise<boolean> {
  const machine = host.running?.list?.machine ?? host.running?.replica;
  if (host.running === undefined || machine === undefined) return false;
  const { history } = cluster.checks;
  const floor = { committed: history.commitIndex, acknowledged };
  const ended = cluster.world.trace.observer?.operated(`at ${host.name}`, "read", "read index");
  const abort = abortAfter(cluster, host, timeoutMs);
  try {
    const point = await host.running.raft.readIndex({ signal: abort.signal });
    ended?.("ok");
    stats.reads += 1;
    checkRead(history, host, floor, { ...point, seen: machine.appliedIndex });
    return true;
  } catch (error) {
    ended?.(outcomeOf(error));
    if (!(error instanceof QuorateError)) throw error;
    stats.readsFailed += 1;
    return false;
  } finally {
    abort.cancel();
  }
}

/** What was so, in the whole cluster, when a read was asked: it must see no less. */
export interface ReadFloor {
  readonly committed: number;
  readonly acknowledged: number;
}

/** A read was answered at `index`, when `seen` was applied. */
export function checkRead(
  history: History,
  host: FaultyHost,
  { committed, acknowledged }: ReadFloor,
  { index, seen, asLeader }: { readonly index: number; readonly seen: number; readonly asLeader: boolean },
): void {
  history.mark(asLeader ? "read by a leader" : "read by a follower");
  history.require(
    index >= committed && seen >= index && seen >= acknowledged,
    "linearizable reads",
    () =>
      `${host.name} answers a read at index ${index} with ${seen} applied, though ${committed} were ` +
      `committed and ${acknowledged} acknowledged before it was asked`,
  );
}

/** A signal that the node's own process fires. */
export function abortAfter(
  cluster: SimulatedCluster,
  host: SimulatedHost,
  timeoutMs: number,
): { signal: AbortSignal; cancel: () => void } {
  const controller = new AbortController();
  const cancel = cluster.world.timeline.schedule(timeoutMs, host.process, () => controller.abort());
  return { signal: controller.signal, cancel };
}
