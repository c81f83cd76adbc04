/** @quorate/client/internal: for sister packages, simulators and tests. No promise of stability, and no WebSocket. */
export { type ClientOptions, type ResolvedClientOptions, resolveClientOptions } from "./clientOptions.ts";
export { ConflictError } from "./conflictError.ts";
export {
  type ClientCluster,
  type ClusterOptions,
  type ClusterPorts,
  createCluster,
} from "./createCluster.ts";
export { readRequests, readResponses, requestFrames, responseBytes, responseFrames } from "./frames.ts";
export { HeldLease, type HeldLeaseFacts, type LeaseActs } from "./heldLease.ts";
export { clientHello, clientRole, judgeClient, machineOf, serverHello } from "./hello.ts";
export { CompactedError, OverflowError } from "./historyErrors.ts";
export { holdProcess } from "./holdProcess.ts";
export { allowanceMs } from "./leaseDeadline.ts";
export { clientOptions, type OptionsByCall, takenIn } from "./optionNames.ts";
export { type ClusterMetrics, metricsOf } from "./seen/clusterMetrics.ts";
export { type Metric, metricsText, metricsType, type Sample } from "./seen/metric.ts";
