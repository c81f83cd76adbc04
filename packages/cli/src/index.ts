/**
 * The package `quorate`: one install, one import. `join()` makes a node of a cluster in this process, `connect()`
 * talks to one from outside; both give the same `Cluster`.
 */
export * from "@quorate/client";
export { type JoinOptions, join, type NodeCluster, type NodeControl } from "@quorate/kv";
export { type ErrorCode, errorCodes, type Outcome, QuorateError } from "@quorate/raft";
