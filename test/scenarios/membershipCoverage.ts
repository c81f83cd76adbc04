/** Known bugs of changes of membership: which test plays which. */
import { type Absent, type Covered, inFile } from "./covered.ts";

export const coveredOfMembership: readonly Covered[] = [
  ...inFile("test/core/membershipLimits.test.ts", [
    [
      "raft-dev 2015, hydro#3192, copycat#23: the single-server change",
      "is refused before the leader has committed in its own term (the bug of 2015)",
    ],
    [
      "etcd#10998, raft-rs#57: a promoted learner that does not know it",
      "gives its vote when it is asked: it may have been promoted without knowing (etcd#10998)",
    ],
    [
      "openraft#2091: the node with the newest log removed itself",
      "may be needed to lead, and then does not count itself (openraft#2091)",
    ],
  ]),
  ...inFile("test/core/membership.test.ts", [
    [
      "CCF#3948: a quorum over the union of two configurations",
      "needs a majority of both lists while it is joint (CCF#3948)",
    ],
    [
      "etcd#12136: nobody left the joint configuration",
      "is carried on by the next leader, out of the joint configuration (etcd#12136)",
    ],
    [
      "hashicorp/raft#524, #526: a removed server campaigns for ever",
      "is not disturbed by a removed node that was never told (hashicorp#524)",
    ],
  ]),
];

export const notApplicableOfMembership: readonly Absent[] = [
  {
    bug: "etcd#11003: a campaign before a committed change was applied",
    because: "a configuration is in force as soon as it is in the log, applied or not",
  },
  {
    bug: "rethinkdb#5289: told that it is no member, a node wiped its state",
    because: "a removed node keeps its log and its votes: nothing that it is told erases a directory",
  },
];
