/**
 * The core of a liveness phase: the nodes that are healed, among themselves, while all else stays broken for ever.
 *
 * It holds a quorum whose data nobody touched. Faults that always heal hide livelocks: whatever a core needs from
 * outside shows only where nothing comes from there.
 */
import type { FaultyHost } from "../faults/faultyCluster.ts";
import { areQuorum, comers, mayBecomeQuorum, quorumSize } from "../faults/memberships.ts";
import type { FaultySimulation } from "../simulation.ts";
import type { Chance } from "../world/chance.ts";

export interface Core {
  readonly hosts: readonly FaultyHost[];
  readonly outside: readonly FaultyHost[];
}

export function coreOf({ cluster }: FaultySimulation, names: readonly string[]): Core {
  return {
    hosts: cluster.hosts.filter(({ name }) => names.includes(name)),
    outside: cluster.hosts.filter(({ name }) => !names.includes(name)),
  };
}

/** Any set with a quorum of sound nodes in it, at times all. */
export function chooseCore(simulation: FaultySimulation, chance: Chance): Core {
  const { cluster, history } = simulation;
  const { hosts } = cluster;
  const mixed = chance.shuffled(hosts);
  const chosen = new Set(mixed.slice(0, chance.between(quorumSize(cluster), hosts.length)));
  for (const host of mixed) {
    if (areQuorum(cluster, (one) => chosen.has(one) && one.damage === "none")) break;
    if (host.damage === "none") chosen.add(host);
  }
  // Its leader goes on with what was begun, and then counts on whom it promotes.
  for (const host of comers(cluster)) chosen.add(host);
  // Only all together can found a cluster; with something committed, a quorum has been told of its birth.
  if (history.commitIndex === 0) for (const host of hosts) chosen.add(host);
  drawIn(simulation, chosen);
  return coreOf(
    simulation,
    [...chosen].map(({ name }) => name),
  );
}

/**
 * A node that can lead a quorum but does not reach all of the core would keep those that it does not reach waiting:
 * nobody whom it reaches votes against a leader that it hears. That is how Raft is; such a node belongs to the core.
 */
function drawIn(simulation: FaultySimulation, chosen: Set<FaultyHost>): void {
  const { hosts } = simulation.cluster;
  for (let changes = true; changes; ) {
    changes = false;
    for (const host of hosts) {
      if (chosen.has(host) || !mayLead(simulation, host, chosen) || reachesAll(simulation, host, chosen))
        continue;
      chosen.add(host);
      changes = true;
    }
  }
}

function mayLead(simulation: FaultySimulation, host: FaultyHost, core: ReadonlySet<FaultyHost>): boolean {
  if (!runs(host)) return false;
  const { cluster, world } = simulation;
  const { paths } = world;
  return mayBecomeQuorum(
    cluster,
    (other) =>
      other === host ||
      ((core.has(other) || runs(other)) &&
        !paths.isCut(host.name, other.name) &&
        !paths.isCut(other.name, host.name)),
  );
}

function reachesAll({ world }: FaultySimulation, host: FaultyHost, core: ReadonlySet<FaultyHost>): boolean {
  return [...core].every(
    (other) => world.paths.isWhole(host.name, other.name) && world.paths.isWhole(other.name, host.name),
  );
}

export function runs(host: FaultyHost): boolean {
  return host.isUp && !host.isPaused;
}

/** No write of it will end well: a leader hands over when its first one has hung for long enough, or stops with it. */
export function isDiskBroken({ world }: FaultySimulation, { temper }: FaultyHost): boolean {
  return temper.hangsUntilMs > world.timeline.nowMs || temper.isFull || temper.hasFailed;
}

/** Whether the rest of the core is a quorum with whole data without this one. */
export function mayMiss({ cluster }: FaultySimulation, { hosts }: Core, missed: FaultyHost): boolean {
  return areQuorum(cluster, (host) => host !== missed && hosts.includes(host) && host.damage === "none");
}

/** Leaders outside that no quorum can answer: they must notice. */
export function deafLeaders(simulation: FaultySimulation, core: Core): readonly FaultyHost[] {
  const inside = new Set(core.hosts);
  return core.outside.filter(
    (host) => runs(host) && host.member?.state?.role === "leader" && !mayLead(simulation, host, inside),
  );
}

/**
 * Before a stuck core is called a bug: does it lack a quorum for a reason? A node that lost data may refuse to come
 * back, or be mute until it has regained them. Undefined: it has no excuse.
 */
export function excuseOf(simulation: FaultySimulation, core: Core): string | undefined {
  const { cluster, history } = simulation;
  const excused = core.hosts.filter((host) => {
    const state = host.member?.state;
    return host.damage !== "none" && (state === undefined || state.floor !== undefined);
  });
  const names = excused.map(({ name, damage }) => `${name} (${damage})`).join(", ") || "nobody";
  // The others have promised themselves to the directory that is gone, and cannot know that it founded nothing.
  if (history.commitIndex === 0 && excused.length > 0)
    return `it takes all nodes to found a cluster; the data of ${names} were taken`;
  const left = core.hosts.filter((host) => !excused.includes(host));
  if (areQuorum(cluster, (host) => left.includes(host))) return undefined;
  return (
    `it takes ${quorumSize(cluster)} voters, and the core has no quorum by every configuration that may be in force; ` +
    `the data of ${names} were taken`
  );
}
