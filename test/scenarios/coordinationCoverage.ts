/** The known bugs of coordination services, locks and elections, and which test plays each. */
import { type Absent, type Covered, inFile } from "./covered.ts";

export const coveredOfCoordination: readonly Covered[] = [
  ...inFile("test/sim/health.test.ts", [
    [
      "kubernetes#82960: health stayed green while a process led past its time",
      "kubernetes#82960: fails as long as work goes on after its lease was lost",
    ],
  ]),
  ...inFile("test/scenarios/coordination.test.ts", [
    [
      "kubernetes#23731: renewals failed for ever, and the leader went on",
      "kubernetes#23731: whose renewals fail is lost by its own deadline, whatever it is answered",
    ],
    [
      "consul PR 912, #1290, etcd#15922: one failed renewal, or a change of leaders, lost all locks",
      "consul PR 912, etcd#15922: keeps its lease over renewals that failed, and says that it is in jeopardy",
    ],
    [
      "CURATOR-678: a failed release was forgotten",
      "CURATOR-678: whose release fails goes on until it is released, and the next one has it",
    ],
    [
      "etcd#19597, PR 22387: a candidate led by a session that had ended",
      "etcd#11456, #19597: and whose session ends meanwhile is told so, and another is granted",
    ],
    [
      "client-go#1187: stopped leading without a start",
      "client-go#1187: and gives up never runs its work, nor its end",
    ],
    [
      "redlock#296: a lock that was over when it arrived",
      "redlock#296: counts from the sending, so an answer that comes too late gives none",
    ],
    [
      "kubernetes#131867, awslabs PR 116, tristanls#1, #21, #22: a renewal under way revived what was released",
      "awslabs PR 116, kubernetes#131867: is not moved by an answer that comes after it, or after the release",
    ],
    [
      "redlock#253: the signal came after the end",
      "redlock#253: is announced by the signal before it, not after",
    ],
    [
      "nodejs/node#47724: monotonic time stood still in suspend",
      "nodejs/node#47724: passes while the machine sleeps, and the loss says so",
    ],
    [
      "CURATOR-604, #620, #696: led by a node of the session before",
      "CURATOR-604, #620, #696: gives a process that came back nothing of its old session's",
    ],
    [
      "etcd PR 13932: a keep-alive before the grant was applied was not found",
      "etcd PR 13932: that arrives before the entry that opens its session is judged after it",
    ],
  ]),
  ...inFile("test/sim/believers.test.ts", [
    ["kubernetes#82960, #70819, consul#18271: a path that swallows everything", "its path black-holed"],
    ["microsoft/etcd3#158: two leaders when the store came back", "cut off, and the store's leader killed"],
    [
      "etcd#12528, #15247: a stalled leader confirmed renewals",
      "cut off, and the store's leader stopped for a while",
    ],
    [
      "bull#308, bullmq#489, #1497, #3183: a blocked event loop, and the job ran twice",
      "its process stopped, or its loop blocked, for three times its time to live",
    ],
  ]),
  ...inFile("test/machine/leases.test.ts", [
    [
      "etcd#11456, #16221: who waited by an ended session got the lock",
      "is skipped by those whose session has ended (etcd#11456, #19597)",
    ],
    [
      "kubernetes PR 91966: a release that was no valid record",
      "is released by nobody but its holder, by the term of its grant",
    ],
    [
      "fabric8#4616: transitions that were none",
      "is granted under the store's revision, which is its term, and rises with every grant",
    ],
    [
      "CURATOR-504, #644, #645: latches that passed the office to one another for ever",
      "goes to the next waiter in the entry that releases it, which has to claim it",
    ],
  ]),
  ...inFile("test/machine/leaseModel.test.ts", [
    [
      "etcd#14019, #6093: leases that are listed and cannot be revoked",
      "have terms that rise strictly, one grant a name and revision, and an index of each session that agrees",
    ],
  ]),
  ...inFile("test/kv/sessionClock.test.ts", [
    [
      "etcd#14758, PR 20590, 20615: a renewal that raced the end succeeded",
      "a keep-alive that arrived before and is confirmed after is not confirmed either",
    ],
    ["etcd#9935, #10686: an end that failed was dropped, and the key lived for hours", "is proposed again"],
  ]),
  ...inFile("test/kv/leaseClock.test.ts", [
    [
      "kubernetes PR 138066, amazon-kinesis-client#1765, #1718, #1729, PR 1743: a successor that is gone",
      "is passed on after the window, unless it is claimed",
    ],
  ]),
  ...inFile("test/kv/watches.test.ts", [
    [
      "etcd#18089, #19179: a delete was lost at the edge of compaction",
      "that is slow when a delete comes %s (etcd #18089)",
    ],
  ]),
  ...inFile("test/sim/leaseSessions.test.ts", [
    [
      "etcd#2660: keys were lost by an election",
      "and for twenty of them no living session is lost, and a dead one is gone within two",
    ],
  ]),
  ...inFile("test/sim/leases.test.ts", [
    [
      "mongo-leader 1.6.7: a healthy leader was expired each time",
      "is held under a term, renewed for as long as its holder lives, and goes on to the next when released",
    ],
    [
      "consul#1172, #3569, awslabs#44, #34, #42: a dead holder's lock took twice its time",
      "of a crashed holder passes within its time to live and a little",
    ],
    [
      "kubernetes PR 120824, client-go#448: every restart waited for the whole lease",
      "goes with the session of a client that closes, and so do its attached keys",
    ],
    [
      "amazon-kinesis-client#1673, #427, #1700: acquired after it was stopped",
      "is not waited for by who asks with `tryAcquire`, or takes its place back",
    ],
    [
      "amazon-kinesis-client#1669: the work was dead, and its leadership lived on",
      "is renewed only while its work reports progress, where it was asked to be",
    ],
  ]),
  ...inFile("test/sim/recipes.test.ts", [
    [
      "fabric8#6020, consul#4902: never led again after a loss",
      "runs the work again after a loss, and gives what the work gives when it has settled",
    ],
    [
      "kubernetes-client/python#2075: led on after the work had thrown",
      "rejects with the loss where it is not to rejoin, and with the work's own error, which no release masks",
    ],
    [
      "kthena#1793: the old leader's work went on after the loss",
      "ends the process of work that goes on after the loss, where that was asked for",
    ],
  ]),
  ...inFile("test/cli/guardedChild.test.ts", [
    [
      "etcdctl lock, consul#9788, #1843: the child outlived the session",
      "that does not end when asked is killed before the deadline, with what it has started",
    ],
  ]),
  ...inFile("test/cli/exitCodes.test.ts", [
    ["etcd#19261: exit code 0 for a failure", "are never 0 for an error, of whatever kind"],
  ]),
  ...inFile("test/client/session.test.ts", [
    [
      "node-consul#54: the session was never renewed",
      "is renewed four times in its time to live, through the leader",
    ],
  ]),
  ...inFile("test/client/routing.test.ts", [
    [
      "controller-runtime#3298, #1774: asked in a hot loop, or not at all",
      "never asks in a hot loop, not even a node that claims to lead and denies it",
    ],
  ]),
  ...inFile("test/client/outcomes.test.ts", [
    [
      "redlock#169: a promise that never settled",
      "ends a write that was sent with an unknown outcome, a read with none",
    ],
  ]),
  ...inFile("test/client/store.test.ts", [
    [
      "consul#432: options that contradict one another were dropped in silence",
      "refuse conditions that contradict each other",
    ],
  ]),
  ...inFile("test/client/lostAnswers.test.ts", [
    ["amazon-kinesis-client#1788: a failed update left a wrong counter behind", "counters are exact"],
  ]),
  ...inFile("test/system/postgresql.test.ts", [
    [
      "authentik#23876, greptimedb#7670, leoflow#1199: a lock was lost in a pool of connections",
      "refuses a pool, whose queries may run on any connection",
    ],
  ]),
];

export const laterOfCoordination: readonly Absent[] = [
  {
    bug: "etcd#16221: a read-write lock let an expired waiter and the next writer in",
    because: "waits for read-write locks; their queue is the one in which etcd#11456 is played",
  },
  {
    bug: "Curator GH-1290, CURATOR-621, #595, #358, #724: barriers, downgrades, permits that were not freed",
    because: "waits for barriers, read-write locks and semaphores",
  },
];

export const notApplicableOfCoordination: readonly Absent[] = [
  {
    bug: "etcd#17623: a token ran out during a long campaign",
    because: "there are no tokens that run out: a connection shows the cluster's secret in its hello, once",
  },
  {
    bug: "etcd#17642: a time to live of 9223372036 during a change of leaders",
    because: "no answer tells a remaining time: a holder counts its own, from what it sent",
  },
  {
    bug: "etcd#6922, #5571, #8618: the end of a lease was told by a stream that had stopped",
    because:
      "a deadline is a timer and a comparison in the holder's process, and no message is needed to end it",
  },
  {
    bug: "GHSA-xg4h-6gfc-h4m8, etcd PR 21681, PR 15815: watches and transactions went past permissions",
    because: "there are no permissions by key: whoever knows the secret may do everything",
  },
  {
    bug: "awslabs/dynamodb-lock-client#29: heartbeats of thousands of locks, one after the other",
    because: "a session is renewed, not a lease: one keep-alive is for all that it holds",
  },
];
