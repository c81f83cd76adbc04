/** The recipes as they hang on a cluster object. */
import type { Cluster } from "../cluster.ts";
import { createElection } from "./election.ts";
import { createLock, usingLocks } from "./lock.ts";
import { doOnce } from "./once.ts";

export type Recipes = Pick<Cluster, "election" | "lock" | "using" | "once">;

/** They call the object that they hang on. */
export function recipesOf(cluster: () => Cluster): Recipes {
  return {
    election: (name, options = {}) => createElection(cluster(), name, options),
    lock: (name) => createLock(cluster(), name),
    using: async (names, ms, work, options) => usingLocks(cluster(), names, ms, work, options),
    once: async (key, work, options = {}) => doOnce(cluster(), key, work, options),
  };
}
