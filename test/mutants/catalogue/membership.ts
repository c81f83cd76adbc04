/** Bugs of membership and of handing leadership over. */
import { inFile, type Mutant, type Search, unsearched } from "../mutant.ts";

const core = "packages/raft/src/core";
const limits = inFile("test/core/membershipLimits.test.ts");
const transfer = inFile("test/core/transfer.test.ts");
const changes = inFile("test/core/membership.test.ts");
const ownRemoval = "packages/kv/src/server/ownRemoval.ts";
const removal = inFile("test/kv/ownRemoval.test.ts");
const noAnswers = unsearched(
  "it takes a node that is removed and taken in again at once, or two clusters at one address: random runs come to neither",
);

const run = { kind: "seeds", layer: "raft", nodes: 3, durationMs: 6_000, profile: "membership" } as const;
/** Who counts wrongly commits too early, or elects too easily. */
const counted: Search["as"] = ["commit rule", "membership"];

export const membership: readonly Mutant[] = [
  {
    name: "a joint configuration asks for a majority of its new voters alone",
    source: "CCF#3948",
    file: `${core}/quorum.ts`,
    find: "return hasMajority(voters, has) && (outgoing.length === 0 || hasMajority(outgoing, has));",
    replace: "return hasMajority(outgoing.length < 0 ? outgoing : voters, has);",
    killedBy: inFile("test/core/memberChange.test.ts")("asks a majority of each list, of values as of votes"),
    search: { ...run, as: counted },
  },
  {
    name: "a leader changes its members before it has committed in its term",
    source: "the bug of 2015 in the single-server change (raft-dev)",
    file: `${core}/membership.ts`,
    find: 'if (commitIndex < leading.noopIndex) return "notReady";',
    replace: 'if (commitIndex < 0) return "notReady";',
    killedBy: limits("is refused before the leader has committed in its own term (the bug of 2015)"),
    search: { ...run, as: ["membership"] },
  },
  {
    name: "a change of members begins while another is under way",
    source: "the dissertation, §4.1",
    file: `${core}/membership.ts`,
    find: 'if (commitIndex < index || isJoint(configuration)) return "changing";',
    replace: 'if (commitIndex < 0) return "changing";',
    killedBy: limits("is refused while another one is under way, joint phase included"),
    search: { ...run, as: ["membership"] },
  },
  {
    name: "a learner counts in the quorum",
    source: "the dissertation, §4.2.1",
    file: `${core}/quorum.ts`,
    find:
      "  { voters, outgoing }: Configuration,\n  reached: (id: MemberId) => number,\n): number {\n" +
      "  const value = reachedByMajority(voters, reached);\n",
    replace:
      "  { voters, outgoing, learners }: Configuration,\n  reached: (id: MemberId) => number,\n): number {\n" +
      "  const values = [...voters, ...learners].map(({ id }) => reached(id)).sort((one, other) => other - one);\n" +
      "  const value = values[majorityOf(voters) - 1] ?? 0;\n",
    killedBy: limits("never counts, neither for commits nor for votes"),
    search: { ...run, as: counted },
  },
  {
    name: "a leader that is going counts itself",
    source: "the dissertation, §4.2.2",
    file: `${core}/commit.ts`,
    find: "const index = asIndex(reachedByQuorum(configurationOf(state.log), matchOf));",
    replace:
      "const { voters, outgoing, learners } = configurationOf(state.log);\n" +
      '  const self = { id: state.options.self, address: "" };\n' +
      "  const counted = voters.some(({ id }) => id === self.id) ? voters : [self, ...voters];\n" +
      "  const index = asIndex(reachedByQuorum({ voters: counted, outgoing, learners }, matchOf));",
    killedBy: changes("counts without the leader that is going: both others have to have its removal"),
    search: { ...run, as: counted },
  },
  {
    name: "a joint configuration is never left",
    source: "etcd#12136",
    file: `${core}/membership.ts`,
    find: "if (isJoint(configuration)) appendConfiguration(state, leading, leaveJoint(configuration));",
    replace: "if (isJoint(configuration)) leaveJoint(configuration);",
    killedBy: changes(
      "goes by way of a joint configuration when more than one voter differs, and out of it by itself",
    ),
    search: { ...run, as: ["L10 membership settles", "liveness"] },
  },
  {
    name: "a target of a transfer is told before everything is committed",
    source: "hashicorp/raft#581, etcd#12704",
    file: `${core}/transfer.ts`,
    find: "if (peer.match !== log.lastIndex || state.commitIndex !== log.lastIndex) return;",
    replace: "if (peer.match !== log.lastIndex) return;",
    killedBy: transfer("waits until everything is committed, so that no write is left without an outcome"),
    search: unsearched(
      "it leaves writes without an outcome, which clients stand: it is no violation of safety",
    ),
  },
  {
    name: "living voters are taken away while others are gone",
    source: "etcd's strict reconfiguration check; the simulator, seed 535 of the profile churn",
    file: `${core}/membership.ts`,
    find: "if (!keepsVoters && !hasQuorum(next, (id) => isHeard(state, leading, id)))",
    replace: "if (!keepsVoters && !hasQuorum(next, (id) => isHeard(state, leading, id) || id !== undefined))",
    killedBy: inFile("test/core/membershipLimits.test.ts")(
      "is refused where those that are left could commit nothing, and taken where they could",
    ),
    search: unsearched("it takes a chain of faults that one seed in hundreds comes to"),
  },
  {
    name: "a node believes by its own log alone that it was removed",
    source: "found here: one that was taken in again stopped on its way through its log",
    file: ownRemoval,
    find: "if (told.list.members.some(({ member }) => member === node.member)) return;",
    replace:
      "if (node.status().removedAt === undefined && told.list.members.some(({ member }) => member === node.member)) return;",
    killedBy: removal(
      "stays where its log is still on its way from its removal to the entry that took it in again",
    ),
    search: noAnswers,
  },
  {
    name: "a node believes in a membership without it that may still be overwritten",
    source: "the dissertation, §4.1: a configuration is in force before it is committed",
    file: ownRemoval,
    find: "if (told.list.index > Math.max(told.commitIndex, commitIndex)) return;",
    replace: "if (told.list.index > Math.max(told.list.index, commitIndex)) return;",
    killedBy: removal("stays where it is told of what may be overwritten"),
    search: noAnswers,
  },
  {
    name: "what a node of another cluster has committed counts, if it has a member's name",
    source: "found here: a new cluster at the addresses of an old one",
    file: ownRemoval,
    find: "(node) => node.clusterId === clusterId && members.some(({ id }) => id === node.id),",
    replace: "(node) => clusterId !== node.id && members.some(({ id }) => id === node.id),",
    killedBy: removal(
      "is what members of the same cluster say, and none of another cluster that has their name",
    ),
    search: noAnswers,
  },
];
