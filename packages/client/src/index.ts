/** @quorate/client: connect() to a Quorate cluster from outside; no native module. */
export type * from "./cluster.ts";
