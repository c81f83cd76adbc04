/**
 * Which fault strikes next, drawn from the run's profile. Leaders and nodes with a write under way are preferred: that
 * is where it hurts.
 */
import { type SnapshotPhase, snapshotPhases } from "../invariants/history.ts";
import type { Chance } from "../world/chance.ts";
import { drawMemberFault } from "./drawMembers.ts";
import { drawNetworkFault } from "./drawNetwork.ts";
import type { Fault, FaultKind, ProcessFault } from "./fault.ts";
import type { FaultyCluster } from "./faultyCluster.ts";
import { mayLose } from "./memberFaults.ts";
import { quorumSize } from "./memberships.ts";
import type { Profile } from "./profile.ts";

export function drawFault(cluster: FaultyCluster, profile: Profile, chance: Chance): Fault | undefined {
  const kind = drawKind(profile, chance);
  if (kind === undefined) return undefined;
  const node = drawNode(cluster, chance);
  const shortly = Math.ceil(chance.exponential(400));
  switch (kind) {
    case "clockRate":
      return { kind, node, rate: chance.pick([0.5, 0.95, 1.05, 1.5]), forMs: 5 * shortly };
    case "clockLeap":
      return { kind, node, forMs: chance.pick([10, 100, 1_000, 60_000]) };
    case "slowDisk":
      return { kind, node, meanLatencyMs: chance.between(5, 150), forMs: 3 * shortly };
    case "slowReads":
      return { kind, node, meanLatencyMs: chance.between(1, 100), forMs: 3 * shortly };
    case "foreignDisk":
      return { kind, node, from: chance.pick(cluster.hosts).name, forMs: 100 + shortly };
    case "olderDisk":
      // Who joins later has seen nothing of an earlier start, and cannot tell that a directory is older.
      return profile.spares > 0 ? undefined : drawRollBack(cluster, chance, 200 + shortly);
    case "rotSnapshot":
      return { kind, node, at: chance.below(10_000), forMs: shortly };
    case "suspend":
    case "fullDisk":
    case "hangingDisk":
    case "diskError":
      return { kind, node, forMs: shortly };
    case "transfer": {
      const names = cluster.hosts.map((host) => host.name);
      const target = chance.pick([...names, ...names, "", "nobody"]);
      return { kind, target, times: chance.pick([1, 1, 2, 5, 20]), forMs: shortly };
    }
    case "member":
      return drawMemberFault(cluster, chance, shortly);
    case "rot":
    case "wipe":
      return drawDamage(cluster, kind, chance, shortly);
    case "crash":
    case "crashAll":
    case "crashAtCall":
    case "crashAtSnapshot":
    case "pause":
    case "starvation":
    case "changedTimeouts":
      return drawProcessFault(kind, node, chance, shortly);
    default:
      return drawNetworkFault(kind, cluster, node, chance);
  }
}

/** Mostly enough to come to its end: where there is more to do, or chunks wait for the network, it dies within. */
const mostCalls: Readonly<Record<SnapshotPhase, number>> = { taking: 20, receiving: 60, installing: 30 };

function drawProcessFault(
  kind: ProcessFault["kind"],
  node: string,
  chance: Chance,
  forMs: number,
): ProcessFault {
  const silent = chance.happens(0.3);
  switch (kind) {
    case "crash": {
      const whenWriting = chance.happens(0.5);
      return { kind, node, silent, whenWriting, forMs: chance.happens(0.1) ? 3_000 + forMs : forMs };
    }
    case "crashAll":
      return { kind, silent, forMs };
    case "pause":
      return { kind, node, timersFirst: chance.happens(0.5), forMs: 10 + Math.ceil(chance.exponential(600)) };
    case "crashAtCall":
      // Nearly always soon: a start, a write or an election has some dozens of calls.
      return { kind, node, calls: Math.ceil(chance.exponential(60)), silent, forMs };
    case "crashAtSnapshot": {
      const phase = chance.pick(snapshotPhases);
      return { kind, phase, calls: chance.between(1, mostCalls[phase]), silent, forMs };
    }
    case "starvation":
      return { kind, node, eventMs: chance.between(1, 80) / 8, forMs: 50 + 2 * forMs };
    case "changedTimeouts": {
      const heartbeatMs = chance.between(20, 50);
      // At least twice the heartbeat of those who keep theirs.
      const electionTimeoutMinMs = chance.between(100, 200);
      const electionTimeoutMaxMs = electionTimeoutMinMs + chance.between(50, 100);
      return { kind, node, heartbeatMs, electionTimeoutMinMs, electionTimeoutMaxMs, forMs };
    }
  }
}

/**
 * Data are taken from a minority only, so that a loss of what was acknowledged is always a fault of ours: of three
 * nodes one may be damaged by rot, of five one by rot or by wiping, and the others must be a quorum by every
 * configuration that may be in force. With less there is nothing to spare.
 */
function drawDamage(
  cluster: FaultyCluster,
  kind: "rot" | "wipe",
  chance: Chance,
  forMs: number,
): Fault | undefined {
  const { hosts } = cluster;
  const damaged = hosts.find((host) => host.damage !== "none");
  const victim = damaged ?? chance.pick(hosts);
  const quorum = quorumSize(cluster);
  if (quorum < 2 || victim.damage === "wiped" || victim.damage === "rolledBack") return undefined;
  if (kind === "wipe" && quorum < 3) return undefined;
  if (victim.isSpare || !mayLose(cluster, victim)) return undefined;
  if (kind === "wipe") return { kind, node: victim.name, forMs };
  const from = chance.below(1_000);
  return { kind, node: victim.name, from, to: chance.between(from, 1_000), forMs };
}

/** As `drawDamage`: the node that is damaged already, or any. */
function drawRollBack({ hosts }: FaultyCluster, chance: Chance, forMs: number): Fault | undefined {
  const victim = chance.pick(hosts);
  if (hosts.length < 3 || hosts.some(({ damage }) => damage !== "none")) return undefined;
  return { kind: "olderDisk", node: victim.name, forMs };
}

function drawKind(profile: Profile, chance: Chance): FaultKind | undefined {
  const entries = Object.entries(profile.faults) as [FaultKind, number][];
  let total = 0;
  for (const [, weight] of entries) total += weight;
  let at = chance.fraction() * total;
  for (const [kind, weight] of entries) {
    at -= weight;
    if (at < 0) return kind;
  }
  return undefined;
}

function drawNode(cluster: FaultyCluster, chance: Chance): string {
  const leader = cluster.leader();
  const other = chance.pick(cluster.hosts);
  return leader !== undefined && chance.happens(0.4) ? leader.name : other.name;
}
