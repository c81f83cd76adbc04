/** @quorate/client: connect() to a Quorate cluster from outside; no native module. */
export type { ClientOptions } from "./clientOptions.ts";
export type * from "./cluster.ts";
export { ConflictError } from "./conflictError.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export { StaleTermError } from "./fencing/staleTermError.ts";
export type { Format } from "./protocol/index.ts";
