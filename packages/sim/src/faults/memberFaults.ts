/**
 * Changes of the membership while everything else goes wrong too. What a step is about is looked up when it strikes;
 * one that does not apply any more is left out, so that a schedule can be made smaller.
 */
import { type Member, type MemberChange, membersOf, nodeIdOf } from "@quorate/raft";
import type { MemberPhase } from "../invariants/history.ts";
import { addressOf } from "../network/network.ts";
import type { MemberStep, MembershipFault } from "./fault.ts";
import type { FaultyCluster, FaultyHost } from "./faultyCluster.ts";
import { areQuorum } from "./memberships.ts";
import type { Site, Strikes } from "./strikes.ts";

export const memberStrikes: Strikes<MembershipFault["kind"]> = {
  member(site, { steps, crashAt, forMs }) {
    const { cluster } = site;
    if (crashAt !== "never") crashLeaderAt(site, crashAt, forMs);
    const changes = steps.flatMap((step): readonly MemberChange[] => {
      const change = begin(site, cluster.host(step.node), step, forMs);
      return change === undefined ? [] : [change];
    });
    const leader = cluster.leader();
    if (leader !== undefined && changes.length > 0) cluster.changeMembers(leader, changes);
  },
};

/** What is to be asked of the leader for it; nodes without a cluster ask themselves. */
function begin(
  { cluster, later }: Site,
  host: FaultyHost,
  step: MemberStep,
  forMs: number,
): MemberChange | undefined {
  const joins = (replaces: string | undefined): void => {
    const votes = step.action !== "addLearner";
    later(forMs, () => cluster.join(host, { votes, replaces }));
  };
  switch (step.action) {
    case "rejoin":
      if (!mayLose(cluster, host)) return undefined;
      cluster.wipe(host, { votes: true, replaces: undefined });
      later(forMs, () => cluster.start(host));
      return undefined;
    case "add":
    case "addLearner": {
      const member = memberOf(host);
      if (member !== undefined) return { kind: "add", member, promotes: step.action === "add" };
      joins(undefined);
      return undefined;
    }
    case "replace": {
      const by = memberOf(host);
      const id = memberNamed(cluster, step.of);
      if (id === undefined) return undefined;
      if (by !== undefined) return { kind: "replace", id, by };
      joins(step.of);
      return undefined;
    }
    default: {
      const id = memberNamed(cluster, step.node);
      return id === undefined ? undefined : { kind: step.action, id };
    }
  }
}

/** Without it the others are a quorum by every configuration that may be in force, and their data are whole. */
export function mayLose(cluster: FaultyCluster, host: FaultyHost): boolean {
  return areQuorum(cluster, (other) => other !== host && other.damage === "none");
}

/** Undefined: it is nobody yet, or was wiped, and comes in by asking. */
function memberOf({ name, member }: FaultyHost): Member | undefined {
  return member?.isBorn ? { id: member.member, address: addressOf(name) } : undefined;
}

function memberNamed({ checks }: FaultyCluster, name: string): Member["id"] | undefined {
  const { configuration } = checks.history.configuration ?? {};
  if (configuration === undefined) return undefined;
  return membersOf(configuration).find(({ id }) => nodeIdOf(id) === name)?.id;
}

function crashLeaderAt({ cluster, later }: Site, crashAt: MemberPhase, forMs: number): void {
  const { history } = cluster.checks;
  history.onPhase = (phase, id) => {
    const host = cluster.hosts.find(({ member }) => member?.member === id);
    if (phase !== crashAt || host === undefined) return;
    history.onPhase = undefined;
    history.mark(`leader killed at ${phase}`);
    // Between what went out at once and what a reply brings.
    later(0, () => {
      cluster.crash(host, false);
      later(forMs, () => cluster.start(host));
    });
  };
}
