/** The known bugs of snapshots and compaction, and which test plays each. */
import { type Covered, inFile } from "./covered.ts";

export const coveredOfSnapshots: readonly Covered[] = [
  ...inFile("test/core/snapshotSending.test.ts", [
    [
      "openraft#1828, RATIS-1305, RATIS-1241: a compacted leader and a follower that nobody knows",
      "is sent the snapshot with no new write, and goes on from its boundary (openraft#1828)",
    ],
    [
      "etcd-io/raft#31, #36: an append without a previous term after compaction",
      "is never sent an append whose previous entry is compacted (etcd-io/raft#31, #36)",
    ],
    [
      "scylla#29092: a snapshot of an earlier leadership",
      "scylla#29092: ends with the term, and what is under way of it changes nothing later",
    ],
    [
      "tikv#16435, #17213: a stuck snapshot blocks everything else",
      "tikv#16435, #17213: blocks neither a transfer of leadership nor a change of membership, and ends with its peer",
    ],
    [
      "hashicorp/raft#697, #704: one snapshot after the other",
      "waits for a follower that was sent a snapshot, but not for ever (hashicorp/raft#697)",
    ],
  ]),
  ...inFile("test/core/snapshotReceiving.test.ts", [
    [
      "camunda#6092, etcd#1763, #1837: a stale snapshot",
      "camunda#6092, etcd#1763, #1837: is ignored, and what is committed is acknowledged",
    ],
    [
      "RATIS-2511: reads hang while a snapshot is installed",
      "RATIS-2511: reads are told to go elsewhere, those that wait too",
    ],
    [
      "openraft#561: a crash between snapshot and log",
      "openraft#561: nothing is acknowledged before log and machine begin at it",
    ],
    [
      "nebula#1769: a candidate refuses the snapshot of its term's leader",
      "nebula#1769: a candidate steps down for the snapshot of its term's leader",
    ],
    [
      "MicroRaft d300e13: the term at the boundary is forgotten",
      "MicroRaft d300e13: knows the term at its boundary, so that an append there fits",
    ],
    [
      "canonical/raft#250, #323, #354, ClickHouse#105784: an uncommitted configuration in a snapshot",
      "canonical/raft#250: has the configuration that was in force at the boundary, and no other (Figure 13, 8)",
    ],
  ]),
];
