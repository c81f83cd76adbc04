/** @quorate/client: connect() to a Quorate cluster from outside; no native module. */
export type { ClientOptions } from "./clientOptions.ts";
export type * from "./cluster.ts";
export { ConflictError } from "./conflictError.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export { StaleTermError } from "./fencing/staleTermError.ts";
export { CompactedError, OverflowError } from "./historyErrors.ts";
export type * from "./leaseApi.ts";
export { LeaseLostError, type LossReason } from "./leaseLostError.ts";
export type { CompareOperator, Format, GrantEnd, StoreLimits } from "./protocol/index.ts";
export type { Election, Leader, LeadOptions } from "./recipes/election.ts";
export type { ElectionOptions } from "./recipes/electionOptions.ts";
export type { Lock } from "./recipes/lock.ts";
export type { OnceOptions, OnceResult } from "./recipes/once.ts";
export type { Work, WorkOptions } from "./recipes/workUnderLease.ts";
export { type ClusterMetrics, prometheusText, type SessionMetrics } from "./seen/clusterMetrics.ts";
export type { ClusterHealth } from "./seen/health.ts";
export type { LeaseMetrics } from "./seen/leaseCounts.ts";
export type { Latency, RequestKind, RequestMetrics } from "./seen/requestCounts.ts";
export type { OverdueWork } from "./seen/workRegister.ts";
export { parseSequencer, type Sequencer } from "./sequencer.ts";
export type {
  Txn,
  TxnCompare,
  TxnDelete,
  TxnDeleted,
  TxnGet,
  TxnGot,
  TxnHolds,
  TxnKeyCompare,
  TxnList,
  TxnListed,
  TxnOp,
  TxnOpResult,
  TxnPut,
  TxnResult,
} from "./transaction.ts";
export type * from "./watching.ts";
