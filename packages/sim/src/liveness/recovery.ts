/**
 * The end of a run: everything is healed, and within fixed bounds of virtual time a leader stands, every node answers
 * reads, writes go through, and all logs and machines become equal.
 *
 * A node whose data the simulation itself destroyed may stay out; every other one must come back by itself.
 */
import type { FaultyHost } from "../faults/faultyCluster.ts";
import { calmWire } from "../network/paths.ts";
import { type FaultySimulation, runFor } from "../simulation.ts";
import { boundMs } from "./bounds.ts";
import { failUnlessExcused } from "./coreChecks.ts";
import { areLed, describe, haveConverged, isSettled, odd, serve, sound } from "./progress.ts";

const operationsEach = 3;

export async function checkRecovery(simulation: FaultySimulation): Promise<void> {
  const { cluster, history, nemesis, world } = simulation;
  nemesis.end();
  world.paths.temper = calmWire;
  world.trace.note("##", "everything is healed");
  const all = { hosts: cluster.hosts };
  const isReady = (): boolean =>
    isSettled(simulation, all) && areLed(simulation, sound(simulation, cluster.hosts));
  const leaderWithinMs = boundMs(simulation, 10);
  if (!(await runFor(simulation, leaderWithinMs, isReady))) {
    fail(simulation, `no leader that all follow ${leaderWithinMs} ms after everything was healed`);
    return;
  }
  const hosts = sound(simulation, cluster.hosts);
  for (const host of hosts) checkPresence(simulation, host);
  const answersWithinMs = boundMs(simulation, 20);
  const unserved = await serve(simulation, hosts, operationsEach, world.timeline.nowMs + answersWithinMs);
  if (unserved !== undefined) {
    fail(simulation, `${unserved.sentence} within ${answersWithinMs} ms after everything was healed`);
    return;
  }
  if (history.violations.length > 0) return;
  const convergesWithinMs = boundMs(simulation, 30);
  if (!(await runFor(simulation, convergesWithinMs, () => haveConverged(simulation, hosts)))) {
    if (history.violations.length > 0) return;
    history.fail("replica equality", `not all equal after ${convergesWithinMs} ms: ${describe(simulation)}`);
    return;
  }
  checkEquality(simulation, hosts);
  await checkWatches(simulation);
}

/** A watch whose node was lost finds another one, and goes on where it was. */
async function checkWatches(simulation: FaultySimulation): Promise<void> {
  const { history, workload } = simulation;
  if (history.violations.length > 0 || workload.untold === undefined) return;
  const withinMs = boundMs(simulation, 40);
  if (await runFor(simulation, withinMs, () => workload.untold?.() === undefined)) return;
  if (history.violations.length > 0) return;
  const sentence = `${withinMs} ms after all was equal these lack something: ${workload.untold?.()}`;
  history.fail("complete watches", sentence);
}

function checkPresence({ history }: FaultySimulation, host: FaultyHost): void {
  history.require(
    host.isUp && host.member?.state?.floor === undefined,
    "no false refusal",
    () => `${host.name} did not come back as a voter: ${host.stopReason ?? "it is mute"}`,
  );
}

/** Whoever was wiped is a new member; where so many were that no quorum is left, nobody can take them in again. */
function fail(simulation: FaultySimulation, sentence: string): void {
  failUnlessExcused(simulation, { hosts: simulation.cluster.hosts, outside: [] }, "liveness", sentence);
}

function checkEquality({ history, workload }: FaultySimulation, hosts: readonly FaultyHost[]): void {
  const first = hosts[0];
  if (first === undefined) return;
  const other = odd(hosts);
  history.require(
    other === undefined,
    "replica equality",
    () => `${other?.name} and ${first.name} have applied the same entries and hold different states`,
  );
  workload.checkFinally(first);
}
