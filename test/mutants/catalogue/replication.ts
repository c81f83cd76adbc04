/** Bugs of replication: appends, acks, and what commits. */
import { inFile, type Mutant, type Search, unsearched } from "../mutant.ts";

const core = "packages/raft/src/core";
const durability = inFile("test/core/durability.test.ts");
const follower = inFile("test/core/follower.test.ts");

const threeNodes = { kind: "seeds", layer: "core", nodes: 3, durationMs: 2_000 } as const;
const fiveNodes = { kind: "seeds", layer: "core", nodes: 5, durationMs: 4_000 } as const;

/** A cut below the commit index is noticed at once; the core's own invariants may come first, and stop the node. */
const cut: Search["as"] = ["commit agreement", "index order", "no unexpected stop"];

export const replication: readonly Mutant[] = [
  {
    name: "an entry of an older term commits by counting",
    source: "the paper, Figure 8; logcabin#44",
    file: `${core}/commit.ts`,
    find: "if (index <= state.commitIndex || termAt(state.log, index) !== state.currentTerm) return;",
    replace: "if (index <= state.commitIndex || termAt(state.log, index) === undefined) return;",
    killedBy: inFile("test/core/paperReplication.test.ts")(
      "Figure 8 (c), (d): an entry of an older term on a majority is not committed, and may be overwritten",
    ),
    search: { ...fiveNodes, as: ["commit rule"] },
  },
  {
    name: "the quorum's index is taken of values that lost their order",
    source: "openraft#1802",
    file: `${core}/quorum.ts`,
    find: "  while (at > 0 && values[at - 1]! < value) {",
    replace: "  if (at > 0 && values[at - 1]! < value) {",
    killedBy: inFile("test/core/quorum.test.ts")(
      "has reached what brute force says it has, over every order of updates (openraft#1802)",
    ),
    search: { ...fiveNodes, as: ["commit rule", "no unexpected stop", "liveness"] },
  },
  {
    name: "a leader counts its own entries before they are durable",
    source: "etcd#14370",
    file: `${core}/commit.ts`,
    find: "id === state.options.self ? state.disk.durableIndex",
    replace: "id === state.options.self ? state.log.lastIndex",
    killedBy: durability(
      "appends leave before the leader's own write, and its own match counts after it (D36, etcd#14370)",
    ),
    search: { ...threeNodes, as: ["commit rule"] },
  },
  {
    name: "an append is acknowledged before its sync",
    source: "NATS#7567, yugabyte#32875",
    file: `${core}/follower.ts`,
    find: "const matchIndex = asIndex(Math.min(following.verified, disk.durableIndex));",
    replace: "const matchIndex = following.verified;",
    killedBy: inFile("test/scenarios/scenarios.test.ts")(
      "NATS 2.12.1 (Jepsen): unsynced copies are no majority, so no power cut takes back what was committed",
    ),
    search: { ...threeNodes, as: ["persisted before sent"] },
  },
  {
    name: "the last index is acknowledged, not what was verified",
    source: "CCF#6016",
    file: `${core}/follower.ts`,
    find: "const matchIndex = asIndex(Math.min(following.verified, disk.durableIndex));",
    replace: "const matchIndex = disk.durableIndex;",
    killedBy: durability("an ack claims no more than this session's appends have verified (CCF#6016)"),
    search: unsearched(
      "a probe begins where the logs part, so that its entries cut what is wrong: only appends of very few bytes end before",
    ),
  },
  {
    name: "every append truncates what follows it, below the commit index too",
    source: "openraft#511",
    file: `${core}/follower.ts`,
    find: `  while (at < entries.length && isHeld(state, entries[at]!)) at += 1;
  const first = entries[at];
  if (first === undefined) return;
  if (first.index <= log.lastIndex) {
    invariant(first.index > commitIndex, `,
    replace: `  const first = entries[at];
  if (first === undefined) return;
  if (first.index <= log.lastIndex) {
    invariant(commitIndex >= 0 || isHeld(state, first), `,
    killedBy: follower("begins at the first entry that conflicts, and not where an old append ends"),
    search: { ...fiveNodes, as: cut },
  },
  {
    name: "an append is taken without a look at the entry before it",
    source: "the paper, §5.3",
    file: `${core}/follower.ts`,
    find: "if (prevIndex >= state.commitIndex && termAt(state.log, prevIndex) !== prevTerm) {",
    replace: "if (prevIndex >= state.commitIndex && termAt(state.log, prevIndex) === undefined) {",
    killedBy: inFile("test/core/paperReplication.test.ts")(
      "if the follower does not find an entry with the same index and term, it refuses the new entries",
    ),
    search: {
      ...fiveNodes,
      as: ["log matching", "follower commit bound", "persisted before sent", "commit agreement"],
    },
  },
  {
    name: "a follower commits what it holds, verified or not",
    source: "CCF#8172",
    file: `${core}/follower.ts`,
    find: "commitUpTo(state, asIndex(Math.min(request.commitIndex, end)));",
    replace: "commitUpTo(state, asIndex(Math.min(request.commitIndex, state.log.lastIndex)));",
    killedBy: follower("is at most what the append itself has verified (CCF#8172)"),
    search: { ...fiveNodes, as: ["follower commit bound"] },
  },
  {
    name: "a heartbeat tells the commit index to whoever may not hold it",
    source: "the dissertation, §3.5; openraft#1500",
    file: `${core}/replication.ts`,
    find: "const commitIndex = asIndex(Math.min(peer.match, state.commitIndex));",
    replace: "const commitIndex = state.commitIndex;",
    killedBy: inFile("test/core/progress.test.ts")(
      "a heartbeat tells each follower of no more than it is known to hold (S13)",
    ),
    search: { ...fiveNodes, as: ["follower commit bound"] },
  },
  {
    name: "a write that was overtaken makes its overwritten entries durable",
    source: "etcd-io/raft, the ABA race of asynchronous writes",
    file: `${core}/disk.ts`,
    find: "disk.outstanding.upTo > kept) disk.outstanding.upTo = kept;",
    replace: "disk.outstanding.upTo < 0) disk.outstanding.upTo = kept;",
    killedBy: durability(
      "a completion whose entries were overwritten since marks nothing durable (etcd/raft, the ABA race)",
    ),
    search: { ...fiveNodes, durationMs: 6_000, as: ["persisted before sent", "commit rule", "log matching"] },
  },
  {
    name: "an answer of an older session is believed",
    source: "raft-rs#571, etcd-io/raft#349",
    file: `${core}/replication.ts`,
    find: "  if (response.session !== peer.session) return;\n  const { result } = response;",
    replace: "  const { result } = response;",
    killedBy: inFile("test/core/sessions.test.ts")(
      "an answer of another session is dropped (raft-rs#571, etcd/raft#349)",
    ),
    search: unsearched("no member loses a log within a term before membership changes"),
  },
  {
    name: "nothing is sent again that was lost on the way",
    source: "etcd-io/raft#52: stuck in the probe",
    file: `${core}/replication.ts`,
    find: '  if (peer.mode === "probe") clearInflight(peer);\n',
    replace: '  if (peer.mode === "probe") return;\n',
    killedBy: inFile("test/core/progress.test.ts")(
      "is repeated on a heartbeat's answer only when it was unanswered for a heartbeat interval",
    ),
    search: { ...threeNodes, as: ["L2 service", "L3 convergence", "L11 quiet catch-up", "liveness"] },
  },
];
