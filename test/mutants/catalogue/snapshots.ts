/** Bugs of snapshots and compaction. */
import { inFile, type Mutant, type Search, unsearched } from "../mutant.ts";

const core = "packages/raft/src/core";
const sending = inFile("test/core/snapshotSending.test.ts");
const taker = inFile("test/node/snapshotTaker.test.ts");
const receiving = inFile("test/core/snapshotReceiving.test.ts");

const run = { kind: "seeds", layer: "core", nodes: 5, durationMs: 8_000, profile: "churn" } as const;
/** The core's own invariants may notice first, and stop the node. */
const stops: Search["as"] = ["no unexpected stop"];

export const snapshots: readonly Mutant[] = [
  {
    name: "an append goes out though its previous entry is compacted",
    source: "etcd-io/raft#31, #36",
    file: `${core}/snapshotSending.ts`,
    find: 'return peer.mode !== "snapshot" && peer.next <= log.boundary.index;',
    replace: 'return peer.mode !== "snapshot" && peer.next < 0 * log.boundary.index;',
    killedBy: sending("is never sent an append whose previous entry is compacted (etcd-io/raft#31, #36)"),
    search: { ...run, as: stops },
  },
  {
    name: "entries that were read before they were compacted are sent",
    source: "found by the simulator",
    file: `${core}/replication.ts`,
    find: "if (needsSnapshot(state, peer)) return; // what it was read for was compacted meanwhile",
    replace: "if (peer.next < 0) return;",
    killedBy: sending("is sent no entries that were read before they were compacted"),
    search: { ...run, as: stops },
  },
  {
    name: "an older snapshot is installed over a newer log",
    source: "camunda#6092, etcd#1763, #1837",
    file: `${core}/snapshots.ts`,
    find: "return index <= commitIndex || termAt(log, index) === term;",
    replace: "return index < 0 && commitIndex < 0 && termAt(log, index) === term;",
    killedBy: receiving("camunda#6092, etcd#1763, #1837: is ignored, and what is committed is acknowledged"),
    search: { ...run, as: ["snapshot equivalence", "no unexpected stop"] },
  },
  {
    name: "the suffix is kept over a snapshot whose boundary has another term",
    source: "openraft#561",
    file: `${core}/snapshots.ts`,
    find: "return index <= commitIndex || termAt(log, index) === term;",
    replace: "return index <= commitIndex || (termAt(log, index) ?? 0) >= term - term + 1;",
    killedBy: receiving(
      "is installed where the entry at the boundary is of another term, and nothing of the log stays (Figure 13, 7)",
    ),
    search: {
      ...run,
      as: ["commit agreement", "no unexpected stop", "persisted before sent", "log matching"],
    },
  },
  {
    name: "the log is compacted beyond what the kept snapshots reach back to",
    source: "raft.md rule 37",
    file: `${core}/snapshots.ts`,
    find: "snapshots.compactableTo = asIndex(Math.min(tail, compactableTo ?? 0));",
    replace: "snapshots.compactableTo = asIndex(Math.max(tail, compactableTo ?? 0));",
    killedBy: sending("leaves a tail by count and by bytes, and nothing above what the store allows"),
    search: unsearched("what the older snapshot is for shows only where the newer one is damaged"),
  },
  {
    name: "a snapshot is written ahead of the log on the disk",
    source: "raft.md rule 37",
    file: "packages/raft/src/node/snapshotTaker.ts",
    find: "while (disk.durableIndex < index && !this.#isCancelled) {",
    replace: "while (disk.durableIndex < 0 && !this.#isCancelled) {",
    killedBy: taker("never ahead of the log on the disk, though a follower applies what it has not written"),
    search: unsearched("the log store refuses it, for it looks for the entry's checksum"),
  },
  {
    name: "a snapshot is written without letting the node have its turns",
    source: "raft.md rule 34",
    file: "packages/raft/src/node/snapshotTaker.ts",
    find: "await pace.rest();\n      if (this.#isCancelled) return false;",
    replace: "if (this.#isCancelled) return false;",
    killedBy: taker("piece by piece, with a turn of the node between any two"),
    search: unsearched("it makes pauses, which is no violation of safety"),
  },
  {
    name: "the last term of an empty log is 0",
    source: "NuRaft#668",
    file: `${core}/log.ts`,
    find: "return log.runs.length === 0 ? log.boundary.term : log.runs[log.runs.length - 1]!.term;",
    replace: "return (log.runs.length === 0 ? 0 : log.runs[log.runs.length - 1]!.term) as Term;",
    killedBy: receiving(
      "NuRaft#668: has the boundary's term as its last, and refuses its vote to a shorter log",
    ),
    search: {
      ...run,
      as: ["persisted before sent", "leader completeness", "commit agreement", "no unexpected stop"],
    },
  },
  {
    name: "a snapshot is acknowledged before it is installed",
    source: "jraft#480, raft.md rule 35",
    file: `${core}/snapshotReceiving.ts`,
    find: '} else incoming.phase = "received";',
    replace: '} else {\n    incoming.phase = "received";\n    acknowledge(state, header);\n  }',
    killedBy: receiving("openraft#561: nothing is acknowledged before log and machine begin at it"),
    search: unsearched("the acknowledgement claims what is durable, which is less: the leader takes no harm"),
  },
  {
    name: "appends go on while a snapshot is installed",
    source: "raft.md rule 35",
    file: `${core}/follower.ts`,
    find: "if (isPending(state.snapshots.incoming)) return; // the log stands still",
    replace: "if (state.commitIndex < 0) return;",
    killedBy: receiving("openraft#561: nothing is acknowledged before log and machine begin at it"),
    search: unsearched(
      "a leader sends no entries where it sends a snapshot: only old copies of its appends come meanwhile",
    ),
  },
  {
    name: "a node campaigns while it installs a snapshot",
    source: "etcd's promotable; raft.md rule 12",
    file: `${core}/roles.ts`,
    find: "if (floor !== undefined || isPending(snapshots.incoming)) return false;",
    replace: "if (floor !== undefined) return false;",
    killedBy: receiving("the node does not campaign, neither by itself nor when it is told to (rule 12)"),
    search: unsearched("its log is short, and nobody elects it"),
  },
  {
    name: "compaction leaves nothing for a follower that is sent a snapshot",
    source: "hashicorp/raft#697, #704",
    file: `${core}/snapshots.ts`,
    find: "if (leading !== undefined) upTo = heldBack(leading, upTo);",
    replace: "if (leading !== undefined) upTo = Math.max(upTo, 0);",
    killedBy: sending("waits for a follower that was sent a snapshot, but not for ever (hashicorp/raft#697)"),
    search: unsearched("one snapshot after the other is slow and violates nothing"),
  },
  {
    name: "a snapshot's answer of another session is believed",
    source: "scylla#29092",
    file: `${core}/snapshotSending.ts`,
    find: "if (transfer === undefined || response.session !== peer.session) return;",
    replace: "if (transfer === undefined) return;",
    killedBy: sending("takes no answer to an earlier chunk, of another session or beyond the content"),
    search: unsearched("the offset of the chunk still has to fit, and what comes of it is a chunk too many"),
  },
  {
    name: "a snapshot carries the newest configuration, committed or not",
    source: "canonical/raft#250, #323, #354",
    file: `${core}/log.ts`,
    find: "while (at > 0 && log.configurations[at]!.index > index) at -= 1;",
    replace: "while (at > 0 && log.configurations[at]!.index < 0) at -= index;",
    killedBy: inFile("test/core/compaction.test.ts")(
      "canonical/raft#250: the configuration of a snapshot is the one at its boundary, not a newer one that is open",
    ),
    search: { ...run, layer: "raft", as: ["snapshot equivalence"] },
  },
];
