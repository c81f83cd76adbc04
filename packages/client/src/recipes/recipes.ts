/** The recipes as they hang on a cluster object. */
import type { Cluster } from "../cluster.ts";
import { taken } from "../optionNames.ts";
import { createElection } from "./election.ts";
import { createLock, usingLocks } from "./lock.ts";
import { doOnce } from "./once.ts";
import type { WorkPorts } from "./workUnderLease.ts";

export type Recipes = Pick<Cluster, "election" | "lock" | "using" | "once">;

/** They call the object that they hang on, and tell `works` what runs under their leases. */
export function recipesOf(cluster: () => Cluster, works: NonNullable<WorkPorts["works"]>): Recipes {
  const ports = (): Pick<Cluster, "kv" | "lease"> & WorkPorts => {
    const { kv, lease, clock } = cluster();
    return { kv, lease, clock, works };
  };
  return {
    election: (name, options = {}) => createElection(ports(), name, options),
    lock: (name, ...options: readonly unknown[]) => {
      taken("cluster.lock", options[0]);
      return createLock(ports(), name);
    },
    using: async (names, ms, work, options) => usingLocks(ports(), names, ms, work, options),
    once: async (key, work, options = {}) => doOnce(ports(), key, work, options),
  };
}
