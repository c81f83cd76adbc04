/**
 * How a node without a cluster is taken in where nothing above Raft would ask for it: its operator asks whoever leads,
 * again and again, as the whole node does by itself.
 */
import { admission, type Member, type MemberChange, membersOf, nodeIdOf, QuorateError } from "@quorate/raft";
import type { JoinPlan } from "../faults/faultyCluster.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { SimulatedCluster } from "./cluster.ts";

const askedAgainMs = 100;
/** After which nobody waits for the answer of a leader that may be dead. */
const patienceMs = 2_000;

/**
 * Resolves with the cluster that has the member now, rejects where it is refused for good; never ends where its process
 * dies first.
 */
export async function admit(
  cluster: SimulatedCluster,
  process: SimulatedProcess,
  member: Member,
  plan: JoinPlan,
): Promise<string> {
  for (;;) {
    const clusterId = await ask(cluster, process, member, plan);
    if (clusterId !== undefined) return clusterId;
    await after(process, askedAgainMs);
  }
}

async function ask(
  cluster: SimulatedCluster,
  process: SimulatedProcess,
  member: Member,
  plan: JoinPlan,
): Promise<string | undefined> {
  const raft = cluster.leader()?.running?.raft;
  const status = raft?.status();
  const { configuration, clusterId } = status ?? {};
  if (raft === undefined || status === undefined || configuration === undefined) return undefined;
  const admitting = admission(configuration, member, plan.votes);
  // What is not committed yet may be overwritten, and who waits for it would wait for ever.
  if (admitting === undefined) return status.configurationIndex <= status.commitIndex ? clusterId : undefined;
  const replaced =
    admitting.kind === "add" && membersOf(configuration).find(({ id }) => nodeIdOf(id) === plan.replaces);
  const change: MemberChange = replaced ? { kind: "replace", id: replaced.id, by: member } : admitting;
  const changed = raft.changeMembers([change]).then(
    () => clusterId,
    (error: unknown) => {
      if (!(error instanceof QuorateError)) throw error;
      if (error.code === "CHANGE_REFUSED") cluster.checks.history.mark("change refused");
      if (error.code === "CHANGE_REFUSED" && !error.retryable) throw error;
      return undefined;
    },
  );
  return Promise.race([changed, after(process, patienceMs)]);
}

function after(process: SimulatedProcess, delayMs: number): Promise<undefined> {
  return new Promise((resolve) => process.clock.after(delayMs, () => resolve(undefined)));
}
