/** @quorate/kv: join() a Quorate cluster as one of its nodes, in this process. */
export type * from "@quorate/client";
export {
  CompactedError,
  ConflictError,
  LeaseLostError,
  OverflowError,
  StaleTermError,
} from "@quorate/client";
export type { NodeCluster, NodeControl } from "./assembleNode.ts";
export { join } from "./join.ts";
export type { JoinOptions, SnapshotOptions } from "./joinOptions.ts";
