/** Bugs of elections: votes, pre-votes, quorums, and who may disturb whom. */
import { inFile, type Mutant, unsearched } from "../mutant.ts";

const core = "packages/raft/src/core";
const durability = inFile("test/core/durability.test.ts");
const liveness = inFile("test/core/liveness.test.ts");
const scenarios = inFile("test/scenarios/scenarios.test.ts");

export const votes: readonly Mutant[] = [
  {
    name: "the vote is not persisted",
    source: "PySyncObj#202, nodedb#161",
    file: `${core}/disk.ts`,
    find: "    term,\n    vote,\n    floor,\n    truncateFrom: disk.truncateFrom,",
    replace: "    term,\n    vote: undefined,\n    floor,\n    truncateFrom: disk.truncateFrom,",
    killedBy: durability("a vote stands over a crash: the other candidate of the term is refused"),
    search: {
      kind: "seeds",
      layer: "core",
      nodes: 3,
      durationMs: 2_000,
      as: ["persisted before sent", "one vote per term"],
    },
  },
  {
    name: "a vote leaves before it is durable",
    source: "sofa-jraft#1241, #1245",
    file: `${core}/outbox.ts`,
    find: 'message.kind === "voteResponse" && message.granted);',
    replace: "message.term < 0);",
    killedBy: durability("a vote in a term that is durable already waits for its own write"),
    search: { kind: "seeds", layer: "core", nodes: 5, durationMs: 4_000, as: ["persisted before sent"] },
  },
  {
    name: "a candidate asks with a log that is not durable",
    source: "a late grant, given to a longer log than the candidate has after a crash",
    file: `${core}/outbox.ts`,
    find: 'message.kind === "voteRequest" && isLogDurable(disk, log)',
    replace: 'message.kind === "voteRequest" && (isLogDurable(disk, log) || true)',
    killedBy: durability(
      "RequestVote waits for the log that it claims, which comes to the disk with the vote",
    ),
    search: { kind: "seeds", layer: "core", nodes: 3, durationMs: 4_000, as: ["persisted before sent"] },
  },
  {
    name: "a candidate leads before its own vote is durable",
    source: "sofa-jraft#1245",
    file: `${core}/election.ts`,
    find: "else if (votes.has(state.options.self)) takeOffice(state);",
    replace: "else takeOffice(state);",
    killedBy: durability(
      "RequestVote leaves at once, and nobody leads before the own vote is durable (sofa-jraft#1245)",
    ),
    search: unsearched("the core's own invariant stops the node at the step that would break the rule"),
  },
  {
    name: "a step down in the same term clears the vote",
    source: "CCF#5891, #8094",
    file: `${core}/roles.ts`,
    find: "  if (term === state.currentTerm) return;\n",
    replace: "",
    killedBy: scenarios(
      "CCF#5891: a former candidate that follows the leader of its term gives no second vote in it",
    ),
    search: {
      kind: "seeds",
      layer: "core",
      nodes: 5,
      durationMs: 4_000,
      as: ["one vote per term", "persisted before sent", "election safety"],
    },
  },
  {
    name: "a vote that comes twice counts twice",
    source: "coyote's Raft sample",
    file: `${core}/election.ts`,
    find: "  if (votes.has(from)) return;\n  votes.set(from, granted);\n  const configuration = configurationOf(state.log);",
    replace:
      "  const configuration = configurationOf(state.log);\n" +
      "  const other = configuration.voters.find(({ id }) => !votes.has(id));\n" +
      "  votes.set(votes.has(from) && other !== undefined ? other.id : from, granted);",
    killedBy: inFile("test/core/paper.test.ts")(
      "a voter is counted once, and its first answer stands (coyote's Raft sample counted doubles)",
    ),
    search: {
      kind: "seeds",
      layer: "core",
      nodes: 5,
      durationMs: 6_000,
      profile: "network",
      as: ["election safety", "leader completeness", "commit agreement"],
    },
  },
  {
    name: "of an even number of voters, half is a quorum",
    source: "wenweihu86/raft-java#21",
    file: `${core}/quorum.ts`,
    find: "return Math.floor(voters.length / 2) + 1;",
    replace: "return Math.ceil(voters.length / 2);",
    killedBy: inFile("test/core/quorum.test.ts")(
      "is more than half of the voters: of four it takes three (wenweihu86/raft-java#21)",
    ),
    search: {
      kind: "seeds",
      layer: "core",
      nodes: 4,
      durationMs: 4_000,
      as: ["commit rule", "election safety", "leader completeness"],
    },
  },
  {
    name: "a log is refused only if both its term and its index are lower",
    source: "liferaft#8",
    file: `${core}/vote.ts`,
    find: "if (candidate.lastTerm !== ownTerm) return candidate.lastTerm > ownTerm;",
    replace: "if (candidate.lastTerm >= ownTerm) return true;",
    killedBy: inFile("test/core/paperReplication.test.ts")(
      "the voter denies its vote if its own log is more up-to-date than that of the candidate",
    ),
    search: {
      kind: "seeds",
      layer: "core",
      nodes: 5,
      durationMs: 6_000,
      as: ["leader completeness", "commit agreement", "no unexpected stop"],
    },
  },
  {
    name: "a vote does not look at the candidate's log",
    source: "the paper, §5.4.1",
    file: `${core}/vote.ts`,
    find: "return state.floor === undefined && isUpToDate(state.log, candidate);",
    replace: "return state.floor === undefined && candidate.lastIndex >= 0;",
    killedBy: liveness(
      "one whose log lags cannot depose a leader, nor win in a gap between leaders (NuRaft#134)",
    ),
    search: {
      kind: "seeds",
      layer: "core",
      nodes: 5,
      durationMs: 6_000,
      as: ["leader completeness", "commit agreement", "no unexpected stop"],
    },
  },
  {
    name: "a node that hears its leader gives votes against it",
    source: "Dissertation §4.2.3, openraft#2111",
    file: `${core}/timers.ts`,
    find: "return state.nowMs - state.election.leaderHeardMs < state.options.electionTimeoutMinMs;",
    replace: "return state.nowMs < state.election.leaderHeardMs;",
    killedBy: liveness(
      "a node that hears its leader refuses votes and pre-votes without touching its term (Dissertation §4.2.3)",
    ),
    search: unsearched("it disturbs good leaders, which is no violation of safety"),
  },
  {
    name: "a refused pre-vote is not answered",
    source: "etcd#8243",
    file: `${core}/vote.ts`,
    find: '  post(state, from, { kind: "preVoteResponse", term, granted });',
    replace: '  if (granted) post(state, from, { kind: "preVoteResponse", term, granted });',
    killedBy: liveness(
      "a refusal is said and its higher term is adopted, so that a lower term stops nobody (etcd#8243)",
    ),
    search: unsearched(
      "in the end some message of another kind teaches the term: it costs time, and no more",
    ),
  },
  {
    name: "a pre-candidate still believes in its leader",
    source: "etcd#9586",
    file: `${core}/roles.ts`,
    find: 'becomeFollower(state, state.currentTerm, undefined);\n  state.role = "preCandidate";',
    replace: 'becomeFollower(state, state.currentTerm, state.leader);\n  state.role = "preCandidate";',
    killedBy: liveness(
      "a pre-candidate forgets its leader, so that two of them can elect one another (etcd#9586)",
    ),
    search: unsearched("it makes elections slower, which is no violation of safety"),
  },
  {
    name: "the election timer runs while the vote is being written",
    source: "RATIS-980",
    file: "packages/raft/src/core/persisted.ts",
    find: "if (isVoteNews && durable.term === state.currentTerm) armElectionTimer(state);",
    replace: "if (isVoteNews && durable.term < 0) armElectionTimer(state);",
    killedBy: durability(
      "the election timer starts when the vote is durable, so a slow disk brings no second election (RATIS-980)",
    ),
    search: unsearched("it costs elections on slow disks, which is no violation of safety"),
  },
  {
    name: "a leader that nobody answers stays in office",
    source: "openraft#2080",
    file: `${core}/step.ts`,
    find: "      becomeFollower(state, state.currentTerm, undefined);\n      return;",
    replace: "      leading.quorumCheckMs = nowMs + options.electionTimeoutMaxMs;",
    killedBy: liveness("answers of a quorum keep it, whichever voters they come from"),
    search: unsearched(
      "its followers leave it after a timeout; its clients wait longer, which is no violation of safety",
    ),
  },
  {
    name: "a member that lost entries votes all the same",
    source: "NATS#7587; storage-and-wire's floor",
    file: `${core}/vote.ts`,
    find: "return state.floor === undefined && isUpToDate(state.log, candidate);",
    replace: "return isUpToDate(state.log, candidate);",
    killedBy: inFile("test/core/floor.test.ts")("a member grants no vote and no pre-vote, and says so"),
    search: {
      kind: "seeds",
      layer: "core",
      nodes: 5,
      durationMs: 6_000,
      profile: "disks",
      as: ["mute members are silent"],
    },
  },
];
