/**
 * After the faults: everything is healed, and within fixed bounds of virtual time a leader stands, every node answers
 * reads, writes go through, and all logs and machines become equal.
 *
 * A node whose data the simulation itself destroyed may stay out; every other one must come back by itself.
 */
import type { FaultyCluster, FaultyHost } from "./faults/faultyCluster.ts";
import { calmWire } from "./network/paths.ts";
import { runFor, type Simulation } from "./simulation.ts";

type Faulty = Simulation<FaultyCluster>;

const electionTimeoutMaxMs = 300;
/** Links are dialled again at a pace of up to a second, refused ones of a few. */
const linksMs = 8_000;
export const leaderWithinMs: number = 10 * electionTimeoutMaxMs + linksMs;
export const answersWithinMs: number = 20 * electionTimeoutMaxMs + linksMs;
export const convergesWithinMs: number = 30 * electionTimeoutMaxMs + linksMs;

export async function checkRecovery(simulation: Faulty): Promise<void> {
  const { cluster, history, nemesis, world } = simulation;
  nemesis.end();
  world.paths.temper = calmWire;
  world.trace.note("##", "everything is healed");
  if (!(await runFor(simulation, leaderWithinMs, () => isLed(simulation)))) {
    if (history.violations.length === 0) {
      history.fail(
        "liveness",
        `no leader ${leaderWithinMs} ms after everything was healed: ${describe(simulation)}`,
      );
    }
    return;
  }
  for (const host of cluster.hosts) checkPresence(simulation, host);
  await checkAnswers(simulation);
  if (history.violations.length > 0) return;
  if (!(await runFor(simulation, convergesWithinMs, () => hasConverged(simulation)))) {
    if (history.violations.length === 0) {
      history.fail(
        "replica equality",
        `not all equal after ${convergesWithinMs} ms: ${describe(simulation)}`,
      );
    }
    return;
  }
  checkEquality(simulation);
}

/** Those that must be whole: nothing was done to their data, or it was found and made good. */
export function sound(simulation: Faulty): readonly FaultyHost[] {
  return simulation.cluster.hosts.filter((host) => host.damage === "none");
}

function isLed(simulation: Faulty): boolean {
  const leader = simulation.cluster.leader();
  const state = leader?.member?.state;
  if (state === undefined || state.leading === undefined) return false;
  const { currentTerm, commitIndex, leading } = state;
  if (commitIndex < leading.noopIndex) return false;
  return sound(simulation).every((host) => host.member?.state?.currentTerm === currentTerm);
}

function checkPresence({ history }: Faulty, host: FaultyHost): void {
  if (host.damage !== "none") return;
  history.require(
    host.isUp && host.member?.state?.floor === undefined,
    "no false refusal",
    () => `${host.name} did not come back as a voter: ${host.stopReason ?? "it is mute"}`,
  );
}

async function checkAnswers(simulation: Faulty): Promise<void> {
  const { workload } = simulation;
  for (const host of sound(simulation)) {
    const answered = await eventually(simulation, () => workload.read(host, 1_000));
    if (!answered) fail(simulation, `${host.name} answers no read`);
  }
  const writers = sound(simulation).filter((host) => workload.takesWrites(host));
  for (const host of writers) {
    for (let written = 0; written < 3; written += 1) {
      const answered = await eventually(simulation, () => writeAt(simulation, host));
      if (!answered) fail(simulation, `no write goes through by way of ${host.name}`);
    }
  }
}

/** Leadership may have moved since the writer was chosen. */
function writeAt({ cluster, workload }: Faulty, host: FaultyHost): Promise<boolean> {
  const writer = workload.takesWrites(host) ? host : cluster.leader();
  return writer === undefined ? Promise.resolve(false) : workload.write(writer, 1_000);
}

function fail(simulation: Faulty, sentence: string): void {
  if (simulation.history.violations.length > 0) return;
  simulation.history.fail("liveness", `${sentence} after everything was healed: ${describe(simulation)}`);
}

/** Tries again until it works, within the bound. */
async function eventually(simulation: Faulty, attempt: () => Promise<boolean>): Promise<boolean> {
  const { timeline } = simulation.world;
  const untilMs = timeline.nowMs + answersWithinMs;
  while (timeline.nowMs < untilMs && simulation.history.violations.length === 0) {
    let outcome: boolean | undefined;
    void attempt().then((worked) => {
      outcome = worked;
    });
    await runFor(simulation, untilMs - timeline.nowMs, () => outcome !== undefined);
    if (outcome === true) return true;
    await runFor(simulation, 50);
  }
  return false;
}

function hasConverged(simulation: Faulty): boolean {
  const leader = simulation.cluster.leader()?.member?.state;
  if (leader === undefined || leader.commitIndex !== leader.log.lastIndex) return false;
  return sound(simulation).every((host) => {
    const state = host.member?.state;
    return (
      state !== undefined &&
      state.commitIndex === leader.commitIndex &&
      state.log.lastIndex === leader.log.lastIndex &&
      state.appliedIndex === leader.commitIndex
    );
  });
}

function checkEquality(simulation: Faulty): void {
  const { history, workload } = simulation;
  const hosts = sound(simulation);
  const first = hosts[0];
  if (first === undefined) return;
  const digest = first.running?.digest();
  for (const host of hosts) {
    history.require(
      host.running?.digest() === digest,
      "replica equality",
      () => `${host.name} and ${first.name} have applied the same entries and hold different states`,
    );
  }
  workload.checkFinally(first);
}

function describe({ cluster }: Faulty): string {
  return cluster.hosts
    .map((host) => {
      const state = host.member?.state;
      if (!host.isUp) return `${host.name} down (${host.stopReason ?? "killed"})`;
      if (state === undefined) return `${host.name} not born`;
      return `${host.name} ${state.role} t${state.currentTerm} commit ${state.commitIndex}/${state.log.lastIndex}`;
    })
    .join(", ");
}
