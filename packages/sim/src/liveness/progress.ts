/**
 * What "it works" means for some of the nodes: they are led, they serve, they are equal. Used for the core that is
 * healed while the rest stays broken, and for all nodes at the end.
 */
import { isJoint, isVoter, newestConfiguration } from "@quorate/raft";
import type { FaultyHost } from "../faults/faultyCluster.ts";
import { belongs } from "../faults/memberships.ts";
import { type FaultySimulation, runFor } from "../simulation.ts";

type Hosts = readonly FaultyHost[];

/** Those that must work: members by the newest committed configuration, from whom the simulation took no data. */
export function sound({ cluster }: FaultySimulation, hosts: Hosts): Hosts {
  return hosts.filter((host) => host.damage === "none" && belongs(cluster, host));
}

/** One leader, of these or another, that has committed in its term, is not about to go, and that all these follow. */
export function areLed({ cluster }: FaultySimulation, hosts: Hosts): boolean {
  const state = cluster.leader()?.member?.state;
  if (state?.leading === undefined || state.commitIndex < state.leading.noopIndex) return false;
  if (state.leading.transfer !== undefined) return false;
  // A write that hangs since before the healing makes it hand over within its diskStallMs.
  if (state.disk.durableIndex < state.commitIndex) return false;
  return hosts.every((host) => {
    const member = host.member?.state;
    return member?.currentTerm === state.currentTerm && member.leader === state.options.self;
  });
}

/** The leader stays, has no change open, and of these hosts nobody waits to be taken in or promoted. */
export function isSettled({ cluster }: FaultySimulation, { hosts }: { readonly hosts: Hosts }): boolean {
  const state = cluster.leader()?.member?.state;
  if (state === undefined || hosts.some((host) => host.isJoining)) return false;
  const { index, configuration } = newestConfiguration(state.log);
  if (index > state.commitIndex || isJoint(configuration)) return false;
  if (!isVoter(configuration, state.options.self)) return false;
  const waiting = configuration.learners.filter(({ promotes }) => promotes);
  return !waiting.some(({ id }) =>
    hosts.some(({ member, damage }) => damage === "none" && member?.member === id),
  );
}

export interface Unserved {
  /** Whoever did not serve, and what it did not do. */
  readonly sentence: string;
}

/** So many reads and writes by way of each; undefined: all went through before `untilMs`. */
export async function serve(
  simulation: FaultySimulation,
  hosts: Hosts,
  each: number,
  untilMs: number,
): Promise<Unserved | undefined> {
  const { workload } = simulation;
  // A leader outside is as good a way as any; clients that write nothing of themselves have none.
  const writers = new Set([...hosts, ...leaders(simulation)].filter((host) => workload.takesWrites(host)));
  for (const host of hosts) {
    for (let done = 0; done < each; done += 1) {
      if (!(await eventually(simulation, untilMs, () => workload.read(host, 1_000)))) {
        return { sentence: `${host.name} answers no read` };
      }
    }
  }
  for (const host of writers) {
    for (let done = 0; done < each; done += 1) {
      if (!(await eventually(simulation, untilMs, () => writeAt(simulation, host)))) {
        return { sentence: `no write goes through by way of ${host.name}` };
      }
    }
  }
  return undefined;
}

function leaders({ cluster }: FaultySimulation): Hosts {
  const leader = cluster.leader();
  return leader === undefined ? [] : [leader];
}

/** Leadership may have moved since the writer was chosen. */
function writeAt({ cluster, workload }: FaultySimulation, host: FaultyHost): Promise<boolean> {
  const writer = workload.takesWrites(host) ? host : cluster.leader();
  return writer === undefined ? Promise.resolve(false) : workload.write(writer, 1_000);
}

/** Tries again until it works, or until `untilMs`. */
async function eventually(
  simulation: FaultySimulation,
  untilMs: number,
  attempt: () => Promise<boolean>,
): Promise<boolean> {
  const { timeline } = simulation.world;
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

/** All of these have committed and applied all that the leader has. */
export function haveConverged({ cluster }: FaultySimulation, hosts: Hosts): boolean {
  const leader = cluster.leader()?.member?.state;
  if (leader === undefined || leader.commitIndex !== leader.log.lastIndex) return false;
  return hosts.every((host) => {
    const state = host.member?.state;
    return (
      state !== undefined &&
      state.commitIndex === leader.commitIndex &&
      state.log.lastIndex === leader.log.lastIndex &&
      state.appliedIndex === leader.commitIndex
    );
  });
}

/** Of hosts that have applied the same entries: one whose state differs from the first one's, if any. */
export function odd(hosts: Hosts): FaultyHost | undefined {
  const digest = hosts[0]?.running?.digest();
  return hosts.find((host) => host.running?.digest() !== digest);
}

/** Every node in a few words, for a violation. */
export function describe({ cluster }: FaultySimulation): string {
  return cluster.hosts
    .map((host) => {
      const state = host.member?.state;
      if (!host.isUp) return `${host.name} down (${host.stopReason ?? "killed"})`;
      const paused = host.isPaused ? " paused" : "";
      if (state === undefined) return `${host.name} not born${paused}`;
      const { role, currentTerm, commitIndex, log, floor } = state;
      const mute = floor === undefined ? "" : " mute";
      return `${host.name} ${role}${mute}${paused} t${currentTerm} commit ${commitIndex}/${log.lastIndex}`;
    })
    .join(", ");
}
