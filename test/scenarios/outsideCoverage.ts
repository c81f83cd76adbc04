/** The known bugs of what stands outside the store, commands under a lock and writes to databases, and their tests. */
import { type Covered, inFile } from "./covered.ts";

export const coveredOutside: readonly Covered[] = [
  ...inFile("test/process/lockCommand.test.ts", [
    [
      "etcdctl lock, consul#9788, #1843: the command goes on when its lock is lost",
      "with its path black-holed, the command is dead before another client gets the lock",
    ],
    [
      "etcd#19261: the command line ends with 0 where it failed",
      "ends with 120 where somebody else has it, 127 where there is no command, 125 where it fails itself",
    ],
  ]),
  ...inFile("test/process/demo.test.ts", [
    [
      "bull#308, bullmq#489, #1497, #3183: a worker that stood still does a job again that another has done",
      "freezes a leader past its lease, has its late write refused, and charges everybody once",
    ],
  ]),
  ...inFile("test/system/postgresql.test.ts", [
    [
      "authentik#23876, greptimedb#7670, leoflow#1199: a pool of connections takes a lock along",
      "refuses a pool, whose queries may run on any connection",
    ],
  ]),
  ...inFile("test/system/sqlFenceCases.ts", [
    [
      "kubernetes-client/python#2075, kthena#1793: an old leader that never looks at its lease writes on",
      "with eight holders at once, no term writes after a newer: seed %i",
    ],
  ]),
];
