/** Short words for tests of membership on cores in memory. */
import {
  type Configuration,
  configurationOf,
  type Index,
  type MemberChange,
  type MembershipOutcome,
  nodeIdOf,
} from "@quorate/raft";
import { expect } from "vitest";
import {
  advance,
  type Cluster,
  campaign,
  configurationFor,
  createCluster,
  idOf,
  nodeOf,
  turn,
} from "./cluster.ts";

export function leaderOf(cluster: Cluster): string {
  const leaders = [...cluster.nodes].filter(([, node]) => node.up && node.state.role === "leader");
  leaders.sort(([, one], [, other]) => other.state.currentTerm - one.state.currentTerm);
  const [leader] = leaders;
  if (leader === undefined) throw new Error("nobody leads");
  return leader[0];
}

export function request(
  cluster: Cluster,
  changes: readonly MemberChange[],
  ifIndex?: Index,
): MembershipOutcome {
  const name = leaderOf(cluster);
  const { memberships } = turn(cluster, name, { kind: "membershipRequested", id: 1, changes, ifIndex });
  expect(memberships).toHaveLength(1);
  return memberships[0]!;
}

/** Asks for it, and lets it end. */
export function change(cluster: Cluster, ...changes: MemberChange[]): void {
  expect(request(cluster, changes)).toMatchObject({ kind: "appended" });
  advance(cluster, 400);
}

export function add(name: string): MemberChange {
  return { kind: "add", member: memberNamed(name), promotes: true };
}

export function remove(name: string): MemberChange {
  return { kind: "remove", id: idOf(name) };
}

export function memberNamed(name: string): Configuration["voters"][number] {
  return configurationFor([name]).voters[0]!;
}

export function seenBy(
  cluster: Cluster,
  name: string,
): { voters: string; outgoing: string; learners: string } {
  const { voters, outgoing, learners } = configurationOf(nodeOf(cluster, name).state.log);
  const names = (members: Configuration["voters"]): string =>
    members
      .map((member) => nodeIdOf(member.id))
      .sort()
      .join("");
  return { voters: names(voters), outgoing: names(outgoing), learners: names(learners) };
}

export function votersSeenBy(cluster: Cluster, name: string): string {
  const { voters, outgoing } = seenBy(cluster, name);
  return outgoing === "" ? voters : `${voters}/${outgoing}`;
}

/** A cluster of these with a leader, the first of them, that has committed. */
export function ledCluster(...nodes: string[]): Cluster {
  const cluster = createCluster({ nodes });
  if (nodes.length === 1) turn(cluster, nodes[0]!, { kind: "tick" });
  else campaign(cluster, nodes[0]!);
  advance(cluster, 60);
  expect(leaderOf(cluster)).toBe(nodes[0]);
  return cluster;
}
