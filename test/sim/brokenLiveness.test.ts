/**
 * Each liveness check can fail: the scenarios of liveness.test.ts on sources that were broken on purpose.
 */
import type { LivenessName } from "@quorate/sim";
import { describe, expect, it } from "vitest";
import { loadMutated } from "../mutants/loadMutated.ts";
import { occurrences, type Patch } from "../mutants/sources.ts";
import {
  deafFollower,
  halfLeader,
  leasesPassedOn,
  restarted,
  type Scene,
  star,
  undisturbed,
} from "./livenessScenarios.ts";
import type { Simulator } from "./scenarios.ts";

interface Broken extends Patch {
  readonly name: string;
  readonly scene: (sim: Simulator) => Promise<Scene>;
  readonly as: LivenessName;
}

const core = "packages/raft/src/core";

const noQuorumCheck: Patch = {
  file: `${core}/step.ts`,
  find: "      becomeFollower(state, state.currentTerm, undefined);\n      return;",
  replace: "      leading.quorumCheckMs = nowMs + options.electionTimeoutMaxMs;",
};

const broken: readonly Broken[] = [
  {
    name: "a leader without a quorum keeps its followers loyal",
    ...noQuorumCheck,
    scene: (sim) => star(sim, "raft"),
    as: "L1 stable leader",
  },
  {
    name: "a follower's read is never answered",
    file: `${core}/reads.ts`,
    find: 'if (read.kind === "remote") respond(state, read.from, read.requestId, index);',
    replace: 'if (read.kind === "remote") continue;',
    scene: (sim) => undisturbed(sim, "raft"),
    as: "L2 service",
  },
  {
    name: "followers do not learn of later commits",
    file: `${core}/commit.ts`,
    find: "if (index <= state.commitIndex) return;",
    replace: 'if (index <= state.commitIndex || (state.role !== "leader" && index > 8)) return;',
    scene: (sim) => undisturbed(sim, "raft"),
    as: "L3 convergence",
  },
  {
    name: "equal logs lead to different states",
    file: "packages/sim/src/cluster/assembly.ts",
    find: "machine }, digest: machine.digest };",
    replace: "machine }, digest: () => host.name + machine.digest() };",
    scene: (sim) => undisturbed(sim, "raft"),
    as: "L3 convergence",
  },
  {
    name: "there is no pre-vote",
    file: `${core}/election.ts`,
    find: "  becomePreCandidate(state);\n",
    replace: "  standForElection(state);\n  if (state.floor === undefined) return;\n",
    scene: (sim) => deafFollower(sim, "raft"),
    as: "L4 no election storm",
  },
  {
    name: "a leader never asks whether a quorum answers",
    ...noQuorumCheck,
    scene: (sim) => halfLeader(sim, "raft", "send"),
    as: "L7 deaf leader steps down",
  },
  {
    name: "a follower does not say that it lacks entries",
    file: `${core}/follower.ts`,
    find: "  if (leader === undefined) return;\n  const hintIndex",
    replace: "  if (log.lastIndex >= 0) return;\n  const hintIndex",
    scene: (sim) => restarted(sim, "raft", "one"),
    as: "L11 quiet catch-up",
  },
  {
    name: "every heartbeat is answered with a rejection",
    file: `${core}/follower.ts`,
    find: "if (commitIndex > Math.max(verified, state.commitIndex)) reject",
    replace: "if (commitIndex > 0) reject",
    scene: (sim) => undisturbed(sim, "raft"),
    as: "L13 no probing loop",
  },
  {
    name: "heartbeats are sent each millisecond",
    file: `${core}/replication.ts`,
    find: "leading.heartbeatDueMs = state.nowMs + state.options.heartbeatMs;",
    replace: "leading.heartbeatDueMs = state.nowMs + 1;",
    scene: (sim) => undisturbed(sim, "raft"),
    as: "L14 no busy loop",
  },
  {
    name: "committed bytes still count as uncommitted",
    file: `${core}/commit.ts`,
    find: "leading.uncommittedBytes -= bytes;",
    replace: "leading.uncommittedBytes -= bytes - 1;",
    scene: (sim) => undisturbed(sim, "raft"),
    as: "L15 nothing left pending",
  },
  {
    name: "who was restarted never campaigns",
    file: `${core}/roles.ts`,
    find: "commitIndex, options }: RaftState): boolean {\n  if (floor !== undefined ||",
    replace: "commitIndex, options, boot }) {\n  if (boot > 1 || floor !== undefined ||",
    scene: (sim) => restarted(sim, "raft", "all"),
    as: "L16 restart of all",
  },
  {
    name: "a session that fell silent is never ended",
    file: "packages/kv/src/server/office.ts",
    find: 'if (this.expiryMs(session, ttlMs) <= nowMs) return "expired";',
    replace: 'if (this.expiryMs(session, ttlMs) < 0) return "expired";',
    scene: (sim) => leasesPassedOn(sim),
    as: "L17 leases pass on",
  },
  {
    name: "a keep-alive is answered and not counted",
    file: "packages/kv/src/server/office.ts",
    find: "this.heardMs.set(session, Math.max(arrivedMs, this.heardMs.get(session) ?? 0));",
    replace: "this.heardMs.set(session, this.heardMs.get(session) ?? arrivedMs);",
    scene: (sim) => leasesPassedOn(sim),
    as: "L17 leases pass on",
  },
];

describe("a broken core fails the liveness check that is about it", () => {
  it.each(broken)("$as: $name", { timeout: 60_000 }, async (patch) => {
    expect(occurrences(patch), `the text to replace is in ${patch.file} once`).toBe(1);
    const { sim, close } = await loadMutated(patch);
    try {
      const { simulation } = await patch.scene(sim);
      expect(simulation.history.violations[0]).toMatchObject({ invariant: patch.as });
    } finally {
      await close();
    }
  });
});
