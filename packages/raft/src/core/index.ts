/** The pure Raft core. */
export * from "./contract.ts";
export { InvariantError, invariant, unreachable } from "./invariant.ts";
export type * from "./messages.ts";
export * from "./types.ts";
