/**
 * Which change of the membership comes next. It may be refused, or meet another one; but whoever was wiped or removed,
 * a quorum with whole data stays: a loss of what was acknowledged is always a fault of ours.
 */
import { type Configuration, maxVoters, nodeIdOf } from "@quorate/raft";
import { memberPhases } from "../invariants/history.ts";
import type { Chance } from "../world/chance.ts";
import type { Fault, MemberStep } from "./fault.ts";
import type { FaultyCluster, FaultyHost } from "./faultyCluster.ts";
import { mayLose } from "./memberFaults.ts";

interface Names {
  readonly voters: readonly string[];
  readonly learners: readonly string[];
  /** Neither: spares, and those that were removed. */
  readonly others: readonly string[];
}

const mostSteps = 3;

export function drawMemberFault(cluster: FaultyCluster, chance: Chance, forMs: number): Fault | undefined {
  const { configuration } = cluster.checks.history.configuration ?? {};
  if (configuration === undefined) return undefined;
  const names = namesIn(cluster, configuration);
  const count = chance.pick([1, 1, 1, 2, mostSteps]);
  const crashAt = chance.happens(0.4) ? chance.pick(memberPhases) : "never";
  const steps: MemberStep[] = [];
  for (let attempt = 0; attempt < count; attempt += 1) {
    const step = drawStep(cluster, names, chance);
    if (step === undefined || steps.some(({ node }) => node === step.node)) continue;
    if (leavesQuorum(cluster, configuration, [...steps, step])) steps.push(step);
  }
  return steps.length === 0 ? undefined : { kind: "member", steps, crashAt, forMs };
}

function namesIn({ hosts }: FaultyCluster, { voters, outgoing, learners }: Configuration): Names {
  const voting = [...new Set([...voters, ...outgoing].map(({ id }) => nodeIdOf(id) as string))];
  const learning = learners.map(({ id }) => nodeIdOf(id) as string);
  const known = new Set([...voting, ...learning]);
  const others = hosts.map(({ name }) => name as string).filter((name) => !known.has(name));
  return { voters: voting, learners: learning, others };
}

/** The leader, who has the most to do with it, more often than others. */
function drawStep(
  cluster: FaultyCluster,
  { voters, learners, others }: Names,
  chance: Chance,
): MemberStep | undefined {
  const leader = cluster.leader()?.name as string | undefined;
  const voter = leader !== undefined && chance.happens(0.3) ? leader : chance.pick(voters);
  const choice = chance.below(12);
  const other = others.length === 0 ? undefined : chance.pick(others);
  const learner = learners.length === 0 ? undefined : chance.pick(learners);
  if (choice < 3 && other !== undefined && voters.length + learners.length < maxVoters) {
    return { action: chance.happens(0.7) ? "add" : "addLearner", node: other };
  }
  if (choice < 5 && other !== undefined) return { action: "replace", node: other, of: voter };
  if (choice < 7) return { action: "remove", node: chance.happens(0.8) ? voter : (learner ?? voter) };
  if (choice === 7) return { action: "demote", node: voter };
  if (choice < 10 && learner !== undefined) return { action: "promote", node: learner };
  return mayLose(cluster, cluster.host(voter)) ? { action: "rejoin", node: voter } : undefined;
}

/**
 * Once the steps are made, the voters that are left with whole data are a majority of those that are left. A node that
 * is wiped counts as lost until it is back; whoever comes in is whole, and has caught up before it votes.
 */
function leavesQuorum(
  cluster: FaultyCluster,
  { voters }: Configuration,
  steps: readonly MemberStep[],
): boolean {
  const going = new Set(
    steps.filter(({ action }) => action === "remove" || action === "demote").map(({ node }) => node),
  );
  const wiped = new Set(steps.filter(({ action }) => action === "rejoin").map(({ node }) => node));
  const left = voters.filter(({ id }) => !going.has(nodeIdOf(id)));
  const isWhole = (host: FaultyHost | undefined): boolean =>
    host !== undefined && host.damage === "none" && !wiped.has(host.name);
  const whole = left.filter(({ id }) => isWhole(cluster.hosts.find(({ member }) => member?.member === id)));
  return left.length > 0 && whole.length * 2 > left.length;
}
