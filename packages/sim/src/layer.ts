/** How much of a node runs in a simulation: all of it, all but the store, or the bare core. */
export const layers = ["store", "raft", "core"] as const;

export type Layer = (typeof layers)[number];
