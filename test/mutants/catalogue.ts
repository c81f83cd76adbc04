/**
 * Bugs put in on purpose, each with what must find it: proof that the tests can fail.
 *
 * `find` matches exactly once in `file`. The product has no switch: the text is replaced while a test loads it
 * (loadMutated.ts, namedCases.ts). A mutant that survives fails the build.
 */
import { disk } from "./catalogue/disk.ts";

import { fences } from "./catalogue/fencing.ts";
import { holders } from "./catalogue/holders.ts";
import { keyIndex } from "./catalogue/keyIndex.ts";
import { leases } from "./catalogue/leases.ts";
import { links } from "./catalogue/links.ts";
import { membership } from "./catalogue/membership.ts";
import { linearizableReads } from "./catalogue/reads.ts";
import { replication } from "./catalogue/replication.ts";
import { snapshots } from "./catalogue/snapshots.ts";
import { keyValueStore } from "./catalogue/store.ts";
import { votes } from "./catalogue/votes.ts";
import type { Mutant } from "./mutant.ts";

export const mutants: readonly Mutant[] = [
  ...votes,
  ...replication,
  ...membership,
  ...snapshots,
  ...linearizableReads,
  ...disk,
  ...keyValueStore,
  ...keyIndex,
  ...leases,
  ...holders,
  ...links,
  ...fences,
];
