/**
 * Which test plays which known bug, and which bugs wait for a feature, or cannot happen here.
 *
 * `title` stands in `file` word for word (coverage.test.ts looks). When a feature comes, its rows move from `later` up.
 */
import {
  coveredOfCoordination,
  laterOfCoordination,
  notApplicableOfCoordination,
} from "./coordinationCoverage.ts";
import { type Absent, type Covered, inFile } from "./covered.ts";
import { coveredOfMembership, notApplicableOfMembership } from "./membershipCoverage.ts";
import { coveredOutside } from "./outsideCoverage.ts";
import { coveredOfSnapshots } from "./snapshotCoverage.ts";

export const covered: readonly Covered[] = [
  ...coveredOfMembership,
  ...inFile("test/core/sickLeader.test.ts", [
    [
      "hashicorp/raft#503, #612, #666: a leader with a hung disk keeps its office",
      "stays for as long as a stall may last, and then hands over to a voter that keeps more",
    ],
  ]),
  ...inFile("test/core/transfer.test.ts", [
    [
      "hashicorp/raft#696: a transfer that never ended",
      "and nothing of it is left when the node leads again (hashicorp/raft#696)",
    ],
    [
      "hashicorp/raft#581, redpanda#2606: writes during a transfer",
      "wait, and are refused with nothing done once the successor is asking for votes (hashicorp/raft#581)",
    ],
    [
      "canonical/raft#203, #205, dragonboat 1c7ebd3: a transfer undone by pre-vote",
      "is not undone by heartbeats of the old leader, for it asks for no pre-vote (canonical/raft#203)",
    ],
    [
      "tikv#1593, openraft#1747, #1748: a read during a transfer, there by lease",
      "of the old leader, which does not know yet that it was succeeded, is not confirmed (tikv#1593)",
    ],
    [
      "tikv#9351, raft-rs#169: a read right after a transfer",
      "waits for the no-op of the new leader, and sees what the old one acknowledged (tikv#9351, raft-rs#169)",
    ],
    ["openraft#1805: a log not flushed", "asks for no vote before its log is flushed (openraft#1805)"],
  ]),
  ...coveredOfSnapshots,
  ...coveredOutside,
  ...coveredOfCoordination,
  ...inFile("test/scenarios/scenarios.test.ts", [
    [
      "CCF#5891: a former candidate voted twice",
      "CCF#5891: a former candidate that follows the leader of its term gives no second vote in it",
    ],
    [
      "CCF pre_vote_double_leader: a pre-candidate's step down cleared its vote",
      "CCF pre_vote_double_leader: a voter that was a pre-candidate in between keeps its vote",
    ],
    [
      "nebula#2419: a repeated request for votes was refused",
      "nebula#2419: a request for votes that is sent again is granted again, and counts once",
    ],
    [
      "raft-rs#83, #84: votes of an older round were kept",
      "raft-rs#83: votes of one round do not count in the next",
    ],
    [
      "NuRaft#668: a compacted voter compared with term 0",
      "NuRaft#668: with an empty log, the last term is that of the boundary before it",
    ],
    [
      "canonical/raft#279: an outdated node came back as the leader died",
      "canonical/raft#279: a revived node of an older term and log does not keep the others from electing",
    ],
    [
      "rabbitmq/ra#439: pre-candidate against candidate",
      "rabbitmq/ra#439: a pre-candidate and a candidate of a newer term do not block one another",
    ],
    [
      "decentralizedthoughts: partial partition of five",
      "decentralizedthoughts: three in a mesh, two of them with a leaf, keep one leader",
    ],
    [
      "etcd-io/raft#54: bytes in flight leaked",
      "etcd-io/raft#54: the window's bytes come back to nothing, whatever is acknowledged, rejected or lost",
    ],
    [
      "NATS#7567, Jepsen NATS 2.12.1: acknowledged before the sync",
      "NATS 2.12.1 (Jepsen): unsynced copies are no majority, so no power cut takes back what was committed",
    ],
    [
      "d-engine#381: served before the quorum's answer",
      "d-engine#381: an index that is applied already is not served before a quorum has answered",
    ],
    [
      "redisraft#18, #19, #22, sofa-jraft#1092: stale read after a full restart",
      "redisraft#18: after a restart of all nodes no read is served before the new term commits",
    ],
  ]),
  ...inFile("test/core/paper.test.ts", [
    [
      "coyote's Raft sample: one voter counted twice",
      "a voter is counted once, and its first answer stands (coyote's Raft sample counted doubles)",
    ],
  ]),
  ...inFile("test/core/paperReplication.test.ts", [
    [
      "logcabin#44, Figure 8: copies of an older term were counted",
      "Figure 8 (c), (d): an entry of an older term on a majority is not committed, and may be overwritten",
    ],
    [
      "liferaft#8: freshness was an AND of term and index",
      "the voter denies its vote if its own log is more up-to-date than that of the candidate",
    ],
  ]),
  ...inFile("test/core/durability.test.ts", [
    [
      "sofa-jraft#1241, hashicorp/raft#661: vote answered before, or written in two parts",
      "a vote leaves once term and vote are durable in one write (sofa-jraft#1241, hashicorp/raft#661)",
    ],
    [
      "sofa-jraft#1245: asked for votes before the own one was durable",
      "RequestVote leaves at once, and nobody leads before the own vote is durable (sofa-jraft#1245)",
    ],
    [
      "PySyncObj#202, nodedb#161: votes were not persisted",
      "a vote stands over a crash: the other candidate of the term is refused",
    ],
    [
      "CCF#8094: a step down in the same term cleared the vote",
      "a step down in the same term keeps the vote (CCF#5891, #8094)",
    ],
    [
      "RATIS-980: the timer ran while the vote was being written",
      "the election timer starts when the vote is durable, so a slow disk brings no second election (RATIS-980)",
    ],
    [
      "yugabyte#32875: an empty append acknowledged what was in memory only",
      "an empty or repeated append and a heartbeat acknowledge nothing that is only in memory (yugabyte#32875)",
    ],
    [
      "CCF#6016: the last index was acknowledged, of another branch",
      "an ack claims no more than this session's appends have verified (CCF#6016)",
    ],
    [
      "etcd#14370: a single node acknowledged before its sync",
      "a sole voter commits when its own write is durable, not before",
    ],
    [
      "etcd-io/raft, asynchronous storage writes: the ABA race",
      "a completion whose entries were overwritten since marks nothing durable (etcd/raft, the ABA race)",
    ],
    [
      "openraft#1960: completions out of order lost the newer one",
      "a write reported twice, or a late report of an older one, changes nothing",
    ],
    [
      "etcd#10063: a sync for each rise of the commit index",
      "a mere rise of the commit index writes nothing (etcd#10063)",
    ],
  ]),
  ...inFile("test/core/liveness.test.ts", [
    [
      "etcd#8243, canonical/raft#142, openraft#1796: pre-votes of a lower term were ignored",
      "a refusal is said and its higher term is adopted, so that a lower term stops nobody (etcd#8243)",
    ],
    [
      "etcd#8501: a higher term with a shorter log",
      "a node of a higher term and a shorter log does not block the others (etcd#8501)",
    ],
    [
      "etcd#9586: a pre-candidate believed in its leader",
      "a pre-candidate forgets its leader, so that two of them can elect one another (etcd#9586)",
    ],
    [
      "NuRaft#134: a hopeless node deposed leaders",
      "one whose log lags cannot depose a leader, nor win in a gap between leaders (NuRaft#134)",
    ],
    ["NuRaft#609: a busy flag was never cleared", "one swallowed answer stops nobody for long (NuRaft#609)"],
    [
      "hashicorp/raft#605, #606: a leader's own pre-vote was refused",
      "a leader that asks for votes itself is no reason to refuse it (hashicorp/raft#606)",
    ],
    [
      "openraft#2080: a leader without a quorum kept its followers loyal",
      "a bridge: a leader that only the bridge hears gives way to the connected majority (openraft#2080)",
    ],
    [
      "openraft#2111: a leaf disturbed a healthy leader",
      "two leaves: whoever lost the leader alone does not disturb those who hear it (openraft#2111)",
    ],
    ["Cloudflare 2020: a chain of three", "a chain of three keeps one leader (Cloudflare 2020)"],
    [
      "cockroach#1131, logcabin#56: a node with an inflated term returns",
      "a node whose term ran ahead comes back: the leader learns its term and a new one follows",
    ],
  ]),
  ...inFile("test/core/quorum.test.ts", [
    [
      "openraft#1802: a quorum of a list out of order",
      "has reached what brute force says it has, over every order of updates (openraft#1802)",
    ],
    [
      "wenweihu86/raft-java#21: two of four were a majority",
      "is more than half of the voters: of four it takes three (wenweihu86/raft-java#21)",
    ],
  ]),
  ...inFile("test/core/sessions.test.ts", [
    [
      "raft-rs#571, etcd-io/raft#349, openraft#492: an answer of an older session",
      "an answer of another session is dropped (raft-rs#571, etcd/raft#349)",
    ],
    [
      "cockroach#31618: the counter of uncommitted bytes did not come back",
      "are bounded by count and by bytes, and taken again once committed (cockroach#31618)",
    ],
  ]),
  ...inFile("test/core/follower.test.ts", [
    [
      "openraft#511: an append below the commit index was a conflict",
      "an append is an ack, not a conflict, whatever it says of its previous entry (openraft#511 lost data)",
    ],
    [
      "CCF#8172: committed more than the message verified",
      "is at most what the append itself has verified (CCF#8172)",
    ],
    [
      "etcd#13509: a leader's commit index beyond a log that lost entries",
      "never goes beyond the log, though the leader says so to one that lost its entries (etcd#13509)",
    ],
  ]),
  ...inFile("test/core/progress.test.ts", [
    [
      "etcd#14633, etcd-io/raft#52: a lost window wedged",
      "a full window does not wedge when everything in it is lost (etcd#14633)",
    ],
    [
      "etcd-io/raft#149: next ≤ match",
      "a match never falls within a session, and an answer from beyond our log is nobody's",
    ],
    [
      "openraft#1500: the heartbeat spoke of the leader's commit index",
      "a heartbeat tells each follower of no more than it is known to hold (S13)",
    ],
    [
      "hashicorp/raft#541: pipelining without a bound",
      "keeps a window by bytes, of which one append may always go",
    ],
  ]),
  ...inFile("test/core/reads.test.ts", [
    [
      "etcd#7331, tikv#9239, sofa-jraft#1049: a read index before a commit of the own term",
      "waits until an entry of the leader's own term is committed (etcd#7331, sofa-jraft#1049)",
    ],
    [
      "etcd#20418, etcd-io/raft#397, antfly#599: a repeated read and late answers",
      "late and doubled answers to one round never confirm a read that came after it (etcd#20418)",
    ],
  ]),
  ...inFile("test/core/time.test.ts", [
    ["etcd#12291, nebula#2723: steps of the clock", "a clock that does not move, or goes back, does no harm"],
    [
      "redisraft#28, #43, #52: all nodes killed at once",
      "a crash and a restart of all nodes ends with a leader of a higher term",
    ],
  ]),
  ...inFile("test/sim/partitions.test.ts", [
    [
      "etcd#741, Consul 2014: a cut-off leader served its own reads",
      "acknowledges no write and answers no linearizable read, of %i nodes",
    ],
    [
      "tikv#964, sofa-jraft#15, #25: a leader that was paused served one more read",
      "answers no stale read and acknowledges nothing that is lost",
    ],
  ]),
  ...inFile("test/sim/directories.test.ts", [
    [
      "openraft's FAQ, redisraft#2, nexus#3939: a wiped voter came back under its name",
      "is another member that nobody knows: it stays out, is told why, and the others go on",
    ],
    [
      "etcd#13509 and its kin: an older copy of a directory",
      "is refused by those who have seen more of it, and the node stops with the reason",
    ],
  ]),
  ...inFile("test/core/floor.test.ts", [
    [
      "NATS#7587, PAR: a node that lost acknowledged entries voted",
      "a member grants no vote and no pre-vote, and says so",
    ],
  ]),
  ...inFile("test/storage/powerCut.test.ts", [
    [
      "curvine#1368, qdrant#1172, canonical/raft#199: hard state and entries apart; robustmq#2039: no sync",
      "anywhere in a write leaves a voter that has all earlier writes, and this one whole or not at all",
    ],
    [
      "etcd#5230, #6515: a torn tail, zeros behind it",
      "leaves zeros or noise in the place of what was not synced, and a voter all the same",
    ],
  ]),
  ...inFile("test/storage/logStore.test.ts", [
    [
      "cockroach#37102: a sync failed once and succeeded later, without the pages",
      "acknowledges nothing, rejects everything with the first cause, and opens again as a voter",
    ],
  ]),
  ...inFile("test/storage/crash.test.ts", [
    [
      "dqlite#190, #309, etcd#3591: a full disk left a store that would not open",
      "stops the store, which acknowledges nothing of the failed write and opens whole once there is room",
    ],
  ]),
  ...inFile("test/node/cluster.test.ts", [
    [
      "hashicorp/raft#614, canonical/raft#314, #320, #321, #450, sofa-jraft#1243: a failed write was survived",
      "stops at the first failed write, and acknowledges nothing of it",
    ],
  ]),
  ...inFile("test/node/applier.test.ts", [
    [
      "etcd#10063, #4278: paging skipped committed entries",
      "applies each entry once and in order, first from disk, then from memory",
    ],
    [
      "sofa-jraft#1246: an exception stalled the state machine in silence",
      "stops loudly at the entry that the machine cannot take",
    ],
  ]),
  ...inFile("test/node/waiters.test.ts", [
    [
      "NuRaft#295: a promise that was never settled",
      "ends when its signal does, with the outcome unknown, and leaves no listener behind",
    ],
  ]),
  ...inFile("test/transport/linkPace.test.ts", [
    [
      "openraft#1810: a follower that hangs blocked the core",
      "loses messages, and its link after five seconds.",
    ],
  ]),
  ...inFile("test/machine/sessions.test.ts", [
    [
      "rqlite#2759, atomix#341, iggy#3753: a command ran twice",
      "that arrives twice runs once, and gets the stored answer, though the state went on",
    ],
    [
      "etcd#12528, #15247: a stalled leader ended what was alive",
      "expires only by a command of the term that it is applied in",
    ],
  ]),
  ...inFile("test/kv/sessionClock.test.ts", [
    [
      "etcd#13491, #17132: what remains of a time to live after changes of leaders",
      "gives every session a whole time to live from when the new leader took office",
    ],
  ]),
];

/** What cannot be played before the feature is there. */
export const later: readonly Absent[] = laterOfCoordination;

/** What the design leaves no room for. */
export const notApplicable: readonly Absent[] = [
  ...notApplicableOfCoordination,
  ...notApplicableOfMembership,
  {
    bug: "etcd-io/raft#166, #99, etcd#12704, d-engine#391, scylla#30777: reads by lease",
    because: "there are none: every linearizable read asks a quorum",
  },
  {
    bug: "etcd#13766, #13967, convex#145: applied index and data were saved apart",
    because:
      "the machine is in memory; what is saved of it is a snapshot, which names the index that it is of",
  },
];
