/** @quorate/raft: a pure Raft core, the runtime that drives it, and the ports that it reaches the world through. */
export * from "./core/index.ts";
export { type ErrorCode, type ErrorFacts, errorCodes, type Outcome, QuorateError } from "./errors.ts";
export { maxPriority, type RaftOptions } from "./node/options.ts";
export type {
  Applied,
  ChangeOptions,
  NodeEvent,
  NodeStatus,
  PeerStatus,
  RaftNode,
  ReadPoint,
  Succession,
  TransferOptions,
  WaitOptions,
} from "./node/raftNode.ts";
export { type StartOptions, startNode } from "./node/start.ts";
export { systemClock } from "./node/systemClock.ts";
export { systemRandom } from "./node/systemRandom.ts";
export { type OptionNames, refuseUnknownOptions, type TakenOptions } from "./optionNames.ts";
export * from "./ports/index.ts";
